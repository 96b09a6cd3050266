"""The options of a run, which ``run``, ``resume`` and ``fork`` share: the fields of ``RunOptions``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, cast

import typer
from pydantic import BaseModel, ConfigDict

from orchestrator.cli import options
from orchestrator.errors import ConfigurationError
from orchestrator.state.records import Grounding, PlanningMode, Requirement, SupervisionMode

ROLES: Final = ("planner", "executor", "monitor", "supervisor")
APPROVE: Final = ":approve"
"""The end of the name of a tool whose calls a person approves."""
OF_A_NEW_RUN: Final = ("checks",)
"""The options that only a new run has: it derives its contract."""
OF_A_PLAN: Final = (
    *(*OF_A_NEW_RUN, "planning", "grounding", "supervise", "acting_tools"),
    *("max_retries", "retry_policy", "synthesis"),
)
"""The options that cannot change while a step is under way."""


def read_policy_file(path: str) -> str:
    """Reads the text of a file with a retry policy.

    Raises:
        typer.BadParameter: It cannot be read, or is no text.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"{path!r} cannot be read ({error}); give a YAML file") from None


class RunOptions(BaseModel):
    """How a run is executed; stored with the run. Its fields are options of the commands.

    Times are in seconds. ``retry_policy`` is the text of the file.
    The model of a role is None if it is ``model``, for the supervisor the monitor's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    model: Annotated[str, options.REPEATED, typer.Option(metavar="[ROLE=]SPEC")] = "local"
    """Model: "local", "ollama:NAME", "gguf:PATH", "openai:NAME" or "PROVIDER:NAME", with settings of Ollama
    as in "ollama:qwen3,num_ctx=16384,reasoning=false,keep_alive=30m"; for one role, "planner=SPEC",
    "executor=SPEC", "monitor=SPEC" or "supervisor=SPEC" (repeatable). Default of a new run: local."""
    planner_model: str | None = None
    executor_model: str | None = None
    monitor_model: str | None = None
    supervisor_model: str | None = None
    tools: options.Code[list[str]] = []
    """Give the executor this tool, or this list of tools (repeatable). It imports MODULE from the current
    folder or an installed package: this runs its code."""
    planning: PlanningMode = "auto"
    """Ask the planner first, never, or (auto) only if the executor has tools, or all attempts at the whole
    task failed. Default: auto."""
    grounding: Grounding = "facts"
    """Refuse an output that contradicts what the tools were called with and answered (facts), or compare
    nothing (off)."""
    supervise: SupervisionMode = "none"
    """Who reviews a step: a model, or you."""
    acting_tools: options.Name[list[str]] = []
    """A tool that changes something: an equal call in a retry is not made again. NAME:approve asks you before
    each call; all:approve before all that may change something (repeatable)."""
    max_retries: options.Number[int | None] = None
    """Maximum number of retries of a step. Default: 2."""
    retry_policy: Annotated[str | None, typer.Option(metavar="FILE", parser=read_policy_file)] = None
    """Retry as this YAML file says."""
    call_timeout: options.Time = None
    """Maximum time of an agent call: 90s, 5m, 12h."""
    step_timeout: options.Time = None
    """Maximum time of a step with all its attempts."""
    max_seconds: options.Time = None
    """Maximum time of the whole run."""
    max_tokens: options.Count[int | None] = None
    """Maximum number of tokens of the whole run."""
    max_calls: options.Count[int | None] = None
    """Maximum number of model calls of the whole run."""
    synthesis: bool = True
    """Write one answer from the results of the steps."""
    checks: bool = True
    """Derive checks, or leave all to the judge."""
    require: Requirement | None = None
    """What a success has to rest on at least."""

    @property
    def asks_person(self) -> bool:
        """Whether a person is asked, which needs a store."""
        return self.supervise == "human" or any(name.endswith(APPROVE) for name in self.acting_tools)


def read_changes(typed: Mapping[str, object]) -> dict[str, object]:
    """Returns the fields of ``RunOptions`` that the user typed, by name.

    Raises:
        ConfigurationError: ``--model`` names no role or no model.
    """
    given = options.select_typed(typed)
    models = dict(map(_split_role, cast("Sequence[str]", given.pop("model", ()))))
    return {**given, **models}


def _split_role(text: str) -> tuple[str, str]:
    """Reads ``SPEC`` or ``ROLE=SPEC``: the name of a field, and the specification."""
    role, separator, spec = text.partition("=")
    # A specification such as gguf:PATH may contain the sign, too.
    if not separator or not role.isidentifier():
        return "model", text
    if role not in ROLES or not spec.strip():
        raise ConfigurationError(
            f"--model {text!r} is not accepted; give SPEC, or ROLE=SPEC with a role of {', '.join(ROLES)}"
        )
    return f"{role}_model", spec
