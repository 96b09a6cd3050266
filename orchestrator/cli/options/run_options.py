"""The options of a run, which ``run``, ``resume`` and ``fork`` share."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer
from pydantic import BaseModel, ConfigDict

from orchestrator.cli.options.durations import parse_seconds
from orchestrator.errors import ConfigurationError
from orchestrator.state.records import PlanningMode, Requirement
from orchestrator.state.supervision_records import SupervisionMode

ROLES: Final = ("planner", "executor", "monitor", "supervisor")


class RunOptions(BaseModel):
    """How a run is executed; stored with the run.

    Times are in seconds. ``retry_policy`` is the text of the file.
    The model of a role is None if it is ``model``, for the supervisor the monitor's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = "local"
    planner_model: str | None = None
    executor_model: str | None = None
    monitor_model: str | None = None
    supervisor_model: str | None = None
    context_size: int | None = None
    tools: tuple[str, ...] = ()
    planning: PlanningMode = "auto"
    supervise: SupervisionMode = "none"
    approve_tools: str | None = None
    once_tools: str | None = None
    max_retries: int | None = None
    retry_policy: str | None = None
    call_timeout: float | None = None
    step_timeout: float | None = None
    max_seconds: float | None = None
    max_tokens: int | None = None
    max_calls: int | None = None
    synthesis: bool = True
    checks: bool = True
    checks_model: str | None = None
    without_checks: tuple[str, ...] = ()
    require: Requirement | None = None
    baseline: str | None = None


def select_typed(context: typer.Context) -> dict[str, object]:
    """Returns the values of the fields of ``RunOptions`` that the user typed, by name.

    Raises:
        ConfigurationError: ``--model`` names no role or no model.
    """
    typed = {name: context.params.get(name) for name in RunOptions.model_fields if name != "model"}
    models = dict(map(_split_role, context.params["model"] or ()))
    return {**{name: value for name, value in typed.items() if value not in (None, [], ())}, **models}


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


def read_policy(path: str) -> str:
    """Reads the text of a file with a retry policy.

    Raises:
        typer.BadParameter: It cannot be read, or is no text.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or "it is no text"
        raise typer.BadParameter(
            f"{path!r} cannot be read ({reason}); give a YAML file with a retry policy"
        ) from None


def parse_names(text: str) -> str:
    """Checks names of tools with commas between them.

    Raises:
        typer.BadParameter: There is no name.
    """
    if not text.replace(",", "").strip():
        raise typer.BadParameter(f"{text!r} is not accepted; give names of tools with commas between them")
    return text


_Count: Final = partial(typer.Option, metavar="N", min=1)
_Time: Final = partial(typer.Option, metavar="TIME", parser=parse_seconds)
_Names: Final = partial(typer.Option, metavar="NAMES", parser=parse_names)
_Spec: Final = partial(typer.Option, metavar="SPEC")

Model = Annotated[
    list[str] | None,
    typer.Option(
        help='Model: "local", "ollama:NAME", "gguf:PATH", "openai:NAME" or "PROVIDER:NAME"; for one role, '
        '"planner=SPEC", "executor=SPEC", "monitor=SPEC" or "supervisor=SPEC" (repeatable). '
        "Default of a new run: local.",
        metavar="[ROLE=]SPEC",
    ),
]
Tools = Annotated[
    list[str] | None,
    typer.Option(
        help="Give the executor this tool, or this list of tools (repeatable). It imports MODULE from the "
        "current folder or an installed package, or the file FILE.py: this runs its code.",
        metavar="MODULE:NAME",
    ),
]
RetryPolicyFile = Annotated[
    str | None,
    typer.Option(help="Retry as this YAML file says.", metavar="FILE", parser=read_policy),
]
Baseline = Annotated[
    str | None,
    typer.Option(help='Compare each step with "stored" runs, or with a JSON file.', metavar="stored|FILE"),
]
WithoutCheck = Annotated[
    list[str] | None,
    typer.Option("--without-check", help="Do not derive this check (repeatable).", metavar="NAME"),
]
ContextSize = Annotated[int | None, _Count(help="Context of a local or Ollama model in tokens.")]
Planning = Annotated[
    PlanningMode | None,
    typer.Option(
        help="Ask the planner first, never, or (auto) only if the executor has tools, or all attempts at the "
        "whole task failed. Default: auto."
    ),
]
Supervise = Annotated[SupervisionMode | None, typer.Option(help="Who reviews a step: a model, or you.")]
ApproveTools = Annotated[str | None, _Names(help='Ask you before each call of these tools, or of "all".')]
OnceTools = Annotated[str | None, _Names(help="Tools whose same call is not made again in a step.")]
MaxRetries = Annotated[int | None, _Count(help="Maximum number of retries of a step. Default: 2.", min=0)]
CallTimeout = Annotated[float | None, _Time(help="Maximum time of an agent call: 90s, 5m, 12h.")]
StepTimeout = Annotated[float | None, _Time(help="Maximum time of a step with all its attempts.")]
MaxSeconds = Annotated[float | None, _Time(help="Maximum time of the whole run.")]
MaxTokens = Annotated[int | None, _Count(help="Maximum number of tokens of the whole run.")]
MaxCalls = Annotated[int | None, _Count(help="Maximum number of model calls of the whole run.")]
Synthesis = Annotated[bool | None, typer.Option(help="Write one answer from the results of the steps.")]
Checks = Annotated[bool | None, typer.Option(help="Derive checks, or leave all to the judge.")]
ChecksModel = Annotated[str | None, _Spec(help="Have this model derive the checks, instead of rules.")]
Require = Annotated[Requirement | None, typer.Option(help="What a success has to rest on at least.")]
