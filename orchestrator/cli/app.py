"""The ``orchestrator`` application: registers the commands."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from orchestrator.cli.arguments.usage import SentenceGroup
from orchestrator.cli.commands.checks import checks
from orchestrator.cli.commands.doctor import doctor
from orchestrator.cli.commands.history import delete, prune, runs, show
from orchestrator.cli.commands.run import fork, resume, run
from orchestrator.cli.commands.tune import tune
from orchestrator.cli.process.statuses import BAD_INPUT

PROJECT: Final = "plan-execute-monitor"

app: Final = typer.Typer(
    name="orchestrator",
    cls=SentenceGroup,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # they print local variables, which can hold keys
    rich_markup_mode=None,  # Rich would break the sentence of an error at the width of the terminal
)
for command in (run, resume, fork, checks, runs, show, delete, prune, doctor, tune):
    app.command()(command)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        from importlib.metadata import version  # noqa: PLC0415 - slow to import

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
