"""The ``orchestrator`` application: the commands with their options, and the errors that end them."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from importlib import import_module
from typing import Annotated, Any, Final, NoReturn, get_args, get_origin

import typer
from typer.core import TyperGroup
from typer.models import ArgumentInfo, OptionInfo

from agents.errors import AgentError, ModelRefusedError, ModelUnavailableError
from evaluation.errors import EvaluationError
from orchestrator import errors
from orchestrator.cli.process_exit import BAD_INPUT, FAILED, INTERRUPTED

PROJECT: Final = "plan-execute-monitor"
COMMANDS: Final = {
    "run": ("run_commands", "Plan a task, execute it step by step and judge every step."),
    "resume": ("run_commands", "Resume a run after a crash, answer its question, or judge it again."),
    "fork": ("run_commands", "Copy a run up to a step, and continue the copy."),
    "checks": ("checks_command", "Print how a success of a task is checked."),
    "runs": ("store_commands", "List the stored runs, newest first."),
    "show": ("store_commands", "Show the plan, the executions and the result of a run."),
    "delete": ("store_commands", "Delete a run."),
    "submit": ("server_commands", "Queue a run for workers on any machine."),
    "worker": ("server_commands", "Execute the runs of a queue."),
    "serve": ("server_commands", "Show the runs in a browser, and answer their questions there."),
    "evaluate": ("evaluation_commands", "Evaluate recorded runs of any framework, or cases in files."),
    "compare": ("study_commands", "Compare models on the same cases, or stored evaluations."),
    "doctor": ("doctor_command", "Check which models can run, or how far a judge can be trusted."),
    "worth": ("study_commands", "Say from recorded attempts how many attempts pay."),
    "tune": ("study_commands", "Search for the retry policy that pays on your tasks."),
}
"""The module of each command, and its help; its function has its name."""
_ARGUMENT: Final = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)
_FAILED: Final = (errors.StoreLostError, errors.RunFailedError, ModelUnavailableError, ModelRefusedError)
"""Errors that are no bad input: the same command may succeed later."""


class CommandGroup(TyperGroup):
    """The commands. A module is imported when its command is called, because LangGraph is slow to import."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - Typer's
        """Returns the names of the commands."""
        return [*COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - Typer's
        """Imports a command; returns None if there is none with this name."""
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        function = getattr(import_module(f"orchestrator.cli.commands.{module}"), cmd_name)
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(cmd_name)(build_command(function))
        return typer.main.get_command(single)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - Typer's
        """Writes the help of the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def main(self, args: Sequence[str] | None = None, **options: Any) -> NoReturn:  # type: ignore[override]  # noqa: ANN401
        """Runs a command and exits; explains an error in one sentence."""
        try:
            status = super().main(args, **{**options, "standalone_mode": False})
            sys.stdout.flush()  # a result that cannot be written is a failure
        except typer.Abort:
            _exit("interrupted", INTERRUPTED)
        except typer.TyperException as error:
            command = getattr(getattr(error, "ctx", None), "command_path", "orchestrator")
            # The prefix is pydantic's, by which Typer reads values.
            problem = error.format_message().rstrip(".").replace("Value error, ", "", 1)
            _exit(f"{problem}; see `{command} --help`", BAD_INPUT)
        except (errors.OrchestratorError, AgentError, EvaluationError, OSError) as error:
            _exit_on_error(error)
        sys.exit(status or 0)


def _exit_on_error(error: Exception) -> NoReturn:
    from orchestrator.cli.consoles import one_line
    from orchestrator.state.plain_values import format_text

    if isinstance(error, OSError):
        if error.filename is None:  # a closed pipe or a full disk is no wrong path
            _exit(f"reading or writing failed ({error})", FAILED)
        name = one_line(str(error.filename))
        _exit(f"{name!r} cannot be used ({error.strerror}); give another file", BAD_INPUT)
    _exit(one_line(format_text(error)), FAILED if isinstance(error, _FAILED) else BAD_INPUT)


def _exit(sentence: str, status: int) -> NoReturn:
    typer.echo(f"orchestrator: {''.join(filter(str.isprintable, sentence))}", err=True)
    sys.exit(status)


def build_command(function: Callable[..., None]) -> Callable[..., None]:
    """Returns the function of a command with the parameters from which Typer makes its options.

    A parameter whose type is a pydantic model stands for the options of the fields of the model, which it
    gets; the help of each is the docstring of the field. The help of another parameter is its sentence in the
    section "Args" of the docstring.
    """
    text, _, arguments = (inspect.getdoc(function) or "").partition("\n\nArgs:\n")
    sentences = {name: " ".join(sentence.split()) for name, sentence in _ARGUMENT.findall(arguments)}
    models: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for each in inspect.signature(function, eval_str=True).parameters.values():
        is_annotated = get_origin(each.annotation) is Annotated
        kind, *metadata = get_args(each.annotation) if is_annotated else [each.annotation]
        if hasattr(kind, "model_fields"):
            models[each.name] = kind
            parameters += _list_fields(kind, metadata)
        else:
            sentence = sentences.get(each.name)
            parameters.append(_build_parameter(each.name, kind, each.default, metadata, sentence))

    def call(**typed: Any) -> None:  # noqa: ANN401 - Typer's
        fields = {
            name: typed.pop(name) for model in models.values() for name in model.model_fields if name in typed
        }
        given = {name: value for name, value in fields.items() if value not in (None, [])}
        function(**typed, **{name: model.model_validate(given) for name, model in models.items()})

    call.__doc__ = text
    vars(call)["__signature__"] = inspect.Signature(parameters)  # Typer reads it
    return call


def _list_fields(model: Any, without: Sequence[object]) -> Iterator[inspect.Parameter]:  # noqa: ANN401
    """Yields an option for each field of a model: None if it is not typed."""
    sentences = getattr(model, "SENTENCES", {})
    for name, field in model.model_fields.items():
        if name not in without:
            kind, metadata = field.annotation | None, field.metadata
            sentence = field.description or sentences[name].replace("``", "")
            yield _build_parameter(name, kind, field.default, metadata, sentence).replace(default=None)


def _build_parameter(
    name: str, kind: object, default: object, metadata: Sequence[object], sentence: str | None
) -> inspect.Parameter:
    # A flag has no negative form, unless it is on by default.
    flags = [f"--{name.replace('_', '-')}"] if default is False else []
    found = (each for each in metadata if isinstance(each, OptionInfo | ArgumentInfo))
    info: Any = copy(next(found, None) or typer.Option(*flags))
    info.help = info.help or sentence
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
    )


app: Final = typer.Typer(
    name="orchestrator",
    cls=CommandGroup,
    invoke_without_command=True,
    pretty_exceptions_enable=False,  # they print local variables, which can hold keys
    rich_markup_mode=None,  # Rich would break the sentence of an error at the width of the terminal
)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        from importlib.metadata import version

        typer.echo(f"{PROJECT} {version(PROJECT)}")
        raise typer.Exit


@app.callback()
def _read_global_options(
    context: typer.Context,
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Finish multi-step tasks with language-model agents, and judge every step."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(BAD_INPUT)
