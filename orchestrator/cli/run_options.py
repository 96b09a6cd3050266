"""The options of a run, which ``run``, ``resume`` and ``fork`` share: the fields of ``RunOptions``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, cast

import typer
from pydantic import BaseModel, ConfigDict
from typer.models import OptionInfo

from orchestrator.cli.shared_options import parse_seconds
from orchestrator.errors import ConfigurationError
from orchestrator.state.records import Grounding, PlanningMode, Requirement, VerifierName
from orchestrator.state.supervision_records import SupervisionMode

ROLES: Final = ("planner", "executor", "monitor", "supervisor")
APPROVE: Final = ":approve"
"""The end of the name of a tool whose calls a person approves."""
OF_A_NEW_RUN: Final = ("checks", "without_checks")
"""The options that only a new run has: they derive its contract."""
OF_A_PLAN: Final = (
    *(*OF_A_NEW_RUN, "planning", "grounding", "verifier", "supervise", "acting_tools"),
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


_Count: Final = partial(typer.Option, metavar="N", min=1)
_Time: Final = partial(typer.Option, metavar="TIME", parser=parse_seconds)
_Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        help='Model: "local", "ollama:NAME", "gguf:PATH", "openai:NAME" or "PROVIDER:NAME", with settings of '
        'Ollama as in "ollama:qwen3,num_ctx=16384,reasoning=false,keep_alive=30m"; for one role, '
        '"planner=SPEC", "executor=SPEC", "monitor=SPEC" or "supervisor=SPEC" (repeatable). '
        "Default of a new run: local.",
        metavar="[ROLE=]SPEC",
    ),
]


class RunOptions(BaseModel):
    """How a run is executed; stored with the run. A field with a Typer option is an option of the commands.

    Times are in seconds. ``retry_policy`` is the text of the file.
    The model of a role is None if it is ``model``, for the supervisor the monitor's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = "local"
    planner_model: str | None = None
    executor_model: str | None = None
    monitor_model: str | None = None
    supervisor_model: str | None = None
    tools: Annotated[
        list[str],
        typer.Option(
            help="Give the executor this tool, or this list of tools (repeatable). It imports MODULE from "
            "the current folder or an installed package: this runs its code.",
            metavar="MODULE:NAME",
        ),
    ] = []
    planning: Annotated[
        PlanningMode,
        typer.Option(
            help="Ask the planner first, never, or (auto) only if the executor has tools, or all attempts at "
            "the whole task failed. Default: auto."
        ),
    ] = "auto"
    grounding: Annotated[
        Grounding,
        typer.Option(
            help="After a tool has answered: send an output whose facts have no source back once (facts), "
            "always (strict), or never (off)."
        ),
    ] = "facts"
    verifier: Annotated[
        VerifierName | None,
        typer.Option(
            help="Verify the answer by further answers of the model (agreement), or by the monitor (judge), "
            "as `orchestrator doctor --verifier` has measured it."
        ),
    ] = None
    supervise: Annotated[SupervisionMode, typer.Option(help="Who reviews a step: a model, or you.")] = "none"
    acting_tools: Annotated[
        list[str],
        typer.Option(
            help="A tool that changes something: an equal call in a retry is not made again. NAME:approve "
            "asks you before each call; all:approve before all that may change something (repeatable).",
            metavar="NAME",
        ),
    ] = []
    max_retries: Annotated[
        int | None, _Count(help="Maximum number of retries of a step. Default: 2.", min=0)
    ] = None
    retry_policy: Annotated[
        str | None,
        typer.Option(help="Retry as this YAML file says.", metavar="FILE", parser=read_policy_file),
    ] = None
    call_timeout: Annotated[float | None, _Time(help="Maximum time of an agent call: 90s, 5m, 12h.")] = None
    step_timeout: Annotated[float | None, _Time(help="Maximum time of a step with all its attempts.")] = None
    max_seconds: Annotated[float | None, _Time(help="Maximum time of the whole run.")] = None
    max_tokens: Annotated[int | None, _Count(help="Maximum number of tokens of the whole run.")] = None
    max_calls: Annotated[int | None, _Count(help="Maximum number of model calls of the whole run.")] = None
    synthesis: Annotated[bool, typer.Option(help="Write one answer from the results of the steps.")] = True
    checks: Annotated[bool, typer.Option(help="Derive checks, or leave all to the judge.")] = True
    without_checks: Annotated[
        list[str],
        typer.Option("--without-check", help="Do not derive this check (repeatable).", metavar="NAME"),
    ] = []
    require: Annotated[Requirement | None, typer.Option(help="What a success has to rest on at least.")] = (
        None
    )

    @property
    def asks_person(self) -> bool:
        """Whether a person is asked, which needs a store."""
        return self.supervise == "human" or any(name.endswith(APPROVE) for name in self.acting_tools)


def add_run_options(*, without: Collection[str] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Returns a decorator that adds the options of a run to a command, which takes them as ``**typed``.

    Args:
        without: Names of fields that the command does not have.
    """
    named = {"model": _Models} | {
        name: Annotated[cast("type", field.annotation) | None, option]
        for name, field in RunOptions.model_fields.items()
        for option in field.metadata
        if isinstance(option, OptionInfo) and name not in without
    }

    def add(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in named.items()
        ]
        # Typer reads the signature of a command.
        vars(command)["__signature__"] = signature.replace(parameters=[*own, *added])
        return command

    return add


def select_typed(typed: Mapping[str, Any]) -> dict[str, object]:
    """Returns the fields of ``RunOptions`` that the user typed, by name.

    Raises:
        ConfigurationError: ``--model`` names no role or no model.
    """
    models = dict(map(_split_role, typed["model"] or ()))
    others = {name: value for name, value in typed.items() if name != "model" and value not in (None, [])}
    return {**others, **models}


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
