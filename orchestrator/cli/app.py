"""The application: its commands."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated, Final

import typer

from orchestrator.cli.commands import delete, doctor, fork, prune, resume, run, runs, show
from orchestrator.cli.usage_errors import Commands

PROJECT: Final = "plan-execute-monitor"

app: Final = typer.Typer(
    name="orchestrator",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    suggest_commands=False,  # a second sentence
)
app.command()(run)
app.command()(resume)
for command in (fork, runs, show, delete, prune, doctor):
    app.command()(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"{PROJECT} {version(PROJECT)}")
        raise typer.Exit


@app.callback()
def _options(
    show_version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Finish multi-step tasks with language-model agents, and have every step judged."""
