"""The ``orchestrator`` application: the commands, and the errors of their usage."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, Final, NoReturn

import typer
from typer.core import TyperGroup

from orchestrator.cli.options import build_signature, read_help
from orchestrator.cli.process_exit import BAD_INPUT, FAILED, INTERRUPTED

PROJECT: Final = "plan-execute-monitor"
COMMANDS: Final = {
    "run": ("run_commands", "Plan a task, execute it step by step and judge every step."),
    "resume": ("run_commands", "Resume a run after a crash, answer its question, or judge it again."),
    "fork": ("run_commands", "Copy a run up to a step, and continue the copy."),
    "checks": ("evaluation_commands", "Print how a success of a task is checked."),
    "runs": ("store_commands", "List the stored runs, newest first."),
    "show": ("store_commands", "Show the plan, the executions and the result of a run."),
    "delete": ("store_commands", "Delete a run."),
    "prune": ("store_commands", "Delete runs that have ended."),
    "submit": ("server_commands", "Queue a run for workers on any machine."),
    "worker": ("server_commands", "Execute the runs of a queue."),
    "queue": ("server_commands", "Show a queue and its workers, or cancel one of its runs."),
    "serve": ("server_commands", "Show the runs in a browser, and answer their questions there."),
    "mcp": ("server_commands", "Offer runs and evaluations to a client of the Model Context Protocol."),
    "evaluate": ("evaluation_commands", "Evaluate recorded runs of any framework, or cases in files."),
    "compare": ("study_commands", "Compare models on the same cases, or stored evaluations."),
    "doctor": ("doctor_command", "Check which models can run, or how far a judge can be trusted."),
    "tune": ("study_commands", "Search for the retry policy that pays on your tasks."),
}
"""The module of each command, and its help; its function has its name."""


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
        command = getattr(import_module(f"orchestrator.cli.commands.{module}"), cmd_name)
        vars(command)["__signature__"] = build_signature(command)  # Typer reads it
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(cmd_name, help=read_help(command))(command)
        return typer.main.get_command(single)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - Typer's
        """Writes the help of the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def main(self, args: Sequence[str] | None = None, **options: Any) -> NoReturn:  # type: ignore[override]  # noqa: ANN401
        """Runs a command and exits; explains wrong usage in one sentence."""
        try:
            status = super().main(args, **{**options, "standalone_mode": False})
            sys.stdout.flush()  # a result that cannot be written is a failure
        except typer.Abort:
            _exit("interrupted", INTERRUPTED)
        except typer.TyperException as error:
            command = getattr(getattr(error, "ctx", None), "command_path", "orchestrator")
            problem = error.format_message().rstrip(".")
            _exit(f"{problem}; see `{command} --help`", BAD_INPUT)
        except OSError as error:
            _exit(f"reading or writing failed ({error})", FAILED)
        sys.exit(status or 0)


def _exit(sentence: str, status: int) -> NoReturn:
    typer.echo(f"orchestrator: {''.join(filter(str.isprintable, sentence))}", err=True)
    sys.exit(status)


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
