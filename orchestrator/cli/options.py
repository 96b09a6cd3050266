"""Arguments and options that several commands share."""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, TypeAlias, get_type_hints

import typer

from orchestrator.state.records import Requirement, SupervisionMode

Thread = Annotated[str, typer.Argument(help="Name of the run.", metavar="THREAD", show_default=False)]
NewThread = Annotated[
    str,
    typer.Option(
        "--thread",
        help="Name of the new run. Default: a generated one.",
        metavar="ID",
        default_factory=lambda: str(uuid.uuid4()),
        show_default=False,
    ),
]
Database = Annotated[
    str | None,
    typer.Option(
        help="SQLite file or PostgreSQL URL that stores the runs. Default: a file in your data folder.",
        metavar="PATH|URL",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a run is executed: the options of ``run``, which ``resume`` and ``fork`` can change."""

    model: Annotated[
        str,
        typer.Option(
            help='Model: "local", "ollama:NAME", "gguf:PATH", "openai:NAME" or "PROVIDER:NAME".',
            metavar="SPEC",
        ),
    ] = "local"
    supervise: Annotated[
        SupervisionMode,
        typer.Option(
            help="Who reviews a step besides the evaluation: nobody, a model if there is a problem, or you."
        ),
    ] = "none"
    max_retries: Annotated[
        int, typer.Option(help="Maximum number of retries of a step.", metavar="N", min=0)
    ] = 2
    call_timeout: Annotated[
        float | None, typer.Option(help="Maximum seconds of one agent call.", metavar="S")
    ] = None
    step_timeout: Annotated[
        float | None, typer.Option(help="Maximum seconds of a step with all its attempts.", metavar="S")
    ] = None
    max_seconds: Annotated[
        float | None, typer.Option(help="Maximum seconds of the whole run.", metavar="S")
    ] = None
    max_tokens: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of tokens of the whole run, input plus output.", metavar="N", min=1
        ),
    ] = None
    max_calls: Annotated[
        int | None, typer.Option(help="Maximum number of model calls of the whole run.", metavar="N", min=1)
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
        typer.Option(help="Fail a run whose output rests on less than checks, or than a trusted judge."),
    ] = None
    baseline: Annotated[
        str | None,
        typer.Option(
            help='Compare each step with "stored" runs of the same task, or with a report in a JSON file.',
            metavar="stored|FILE",
        ),
    ] = None


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
            command(**values, options={name: value for name, value in typed.items() if value is not None})

        own = inspect.signature(command, eval_str=True).parameters.values()
        parameters = [*(parameter for parameter in own if parameter.name != "options"), *added]
        # Typer reads the parameters of a command from these two attributes.
        vars(collect)["__signature__"] = inspect.Signature(parameters)
        collect.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return collect

    return decorate


def _build_parameters(*, only_changes: bool, without: Collection[str]) -> list[inspect.Parameter]:
    types = get_type_hints(RunOptions, include_extras=True)
    defaults = {name: field.default for name, field in inspect.signature(RunOptions).parameters.items()}
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            # Typer takes an option without a default for a required one, so None means "not typed".
            default=None if only_changes else defaults[name],
            annotation=types[name],
        )
        for name in defaults
        if name not in without
    ]
