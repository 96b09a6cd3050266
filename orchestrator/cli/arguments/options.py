"""The options of a run, which ``run``, ``resume`` and ``fork`` share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Final, TypeAlias, get_type_hints

import typer

from orchestrator.cli.arguments.models import ROLES, parse_model
from orchestrator.cli.arguments.values import (
    count_parser,
    name_parser,
    parse_seconds,
    read_policy,
    word_parser,
)
from orchestrator.state.records import Requirement
from orchestrator.state.supervision_records import SupervisionMode


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a run is executed: the options of ``run``, which ``resume`` and ``fork`` can change.

    Times are in seconds, and ``retry_policy`` is the text of the file.
    The model of a role is None if it is ``model``, for the supervisor the monitor's.
    """

    model: str = "local"
    planner_model: str | None = None
    executor_model: str | None = None
    monitor_model: str | None = None
    supervisor_model: str | None = None
    context_size: Annotated[
        int | None,
        typer.Option(
            help="Size of the context of a local or Ollama model in tokens. Default: 8192.",
            metavar="N",
            parser=count_parser(1),
        ),
    ] = None
    tools: tuple[str, ...] = ()
    supervise: Annotated[
        SupervisionMode,
        typer.Option(
            help="Who reviews a step besides the evaluation: nobody, a model if there is a problem, or you.",
            metavar="none|llm|human",
            parser=word_parser("none", "llm", "human"),
        ),
    ] = "none"
    approve_tools: Annotated[
        str | None,
        typer.Option(
            help='Ask you before each call of these tools: names with commas between them, or "all".',
            metavar="NAMES|all",
            parser=name_parser(or_all=True),
        ),
    ] = None
    once_tools: Annotated[
        str | None,
        typer.Option(
            help="Do not run these tools again in a step with the same arguments: names with commas between "
            "them. For tools that change something.",
            metavar="NAMES",
            parser=name_parser(),
        ),
    ] = None
    max_retries: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of retries of a step. Default: 2, or the number in --retry-policy.",
            metavar="N",
            parser=count_parser(0),
        ),
    ] = None
    retry_policy: Annotated[
        str | None,
        typer.Option(
            help="Retry as this YAML file says, such as the policy.yaml that `tune` writes.",
            metavar="FILE",
            parser=read_policy,
        ),
    ] = None
    call_timeout: Annotated[
        float | None,
        typer.Option(
            help="Maximum time of one agent call: 90s, 5m, 12h. A number alone is seconds.",
            metavar="TIME",
            parser=parse_seconds,
        ),
    ] = None
    step_timeout: Annotated[
        float | None,
        typer.Option(
            help="Maximum time of a step with all its attempts.", metavar="TIME", parser=parse_seconds
        ),
    ] = None
    max_seconds: Annotated[
        float | None,
        typer.Option(help="Maximum time of the whole run.", metavar="TIME", parser=parse_seconds),
    ] = None
    max_tokens: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of tokens of the whole run, input plus output.",
            metavar="N",
            parser=count_parser(1),
        ),
    ] = None
    max_calls: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of model calls of the whole run.", metavar="N", parser=count_parser(1)
        ),
    ] = None
    synthesis: Annotated[
        bool,
        typer.Option(help="Write one answer from the results of several steps, or print the last result."),
    ] = True
    checks: Annotated[
        bool, typer.Option(help="Derive checks from the task and the steps, or leave all to the judge.")
    ] = True
    checks_model: Annotated[
        str | None, typer.Option(help="Have this model derive the checks, instead of rules.", metavar="SPEC")
    ] = None
    require: Annotated[
        Requirement | None,
        typer.Option(
            help="Fail a run whose output rests on less than checks, or than a trusted judge.",
            metavar="checked|judged",
            parser=word_parser("checked", "judged"),
        ),
    ] = None
    baseline: Annotated[
        str | None,
        typer.Option(
            help='Compare each step with "stored" runs of the same task, or with a report in a JSON file.',
            metavar="stored|FILE",
        ),
    ] = None


Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        help='Model: "local", "ollama:NAME", "gguf:PATH", "openai:NAME" or "PROVIDER:NAME"; for one role, '
        '"planner=SPEC", "executor=SPEC", "monitor=SPEC" or "supervisor=SPEC" (repeatable). '
        "Default of a new run: local.",
        metavar="[ROLE=]SPEC",
        parser=parse_model,
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
_REPEATABLE: Final = {"model": Models, "tools": Tools}
"""The annotations of the options that may be given several times."""
_ROLE_MODELS: Final = {f"{role}_model" for role in ROLES}
"""The fields that ``--model ROLE=SPEC`` sets; they have no options of their own."""

TypedOptions: TypeAlias = Mapping[str, object]
"""Values of fields of ``RunOptions``, without those that were not typed."""


def accept_run_options(
    *, only_changes: bool = False, without: Collection[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command one option for each field of ``RunOptions``, passed to it as ``options``.

    Args:
        only_changes: The options have no defaults, because a stored run has its own values.
        without: Names of fields that the command does not offer.
    """
    added = _build_parameters(only_changes=only_changes, without=without)

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def collect(**values: object) -> None:
            typed = {option.name: values.pop(option.name) for option in added}
            command(**values, options=_select_typed(typed))

        own = inspect.signature(command, eval_str=True).parameters.values()
        parameters = [*(parameter for parameter in own if parameter.name != "options"), *added]
        # Typer reads the parameters of a command from these two attributes.
        vars(collect)["__signature__"] = inspect.Signature(parameters)
        collect.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return collect

    return decorate


def _select_typed(values: Mapping[str, object]) -> TypedOptions:
    typed = {name: value for name, value in values.items() if value not in (None, (), [])}
    models = typed.pop("model", ())
    # The last value of an option counts, as for every other option.
    return {**typed, **dict(models)}  # type: ignore[call-overload]


def _build_parameters(*, only_changes: bool, without: Collection[str]) -> list[inspect.Parameter]:
    types = {**get_type_hints(RunOptions, include_extras=True), **_REPEATABLE}
    defaults = {name: field.default for name, field in inspect.signature(RunOptions).parameters.items()}
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            # Typer takes an option without a default for a required one, so None means "not typed".
            default=None if only_changes or name in _REPEATABLE else defaults[name],
            annotation=types[name],
        )
        for name in defaults
        if name not in without and name not in _ROLE_MODELS
    ]
