"""The application: its commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Final, cast

import typer
from typer.core import TyperGroup

from orchestrator.cli.commands import delete, doctor, fork, prune, resume, run, runs, show
from orchestrator.cli.exits import BAD_INPUT
from orchestrator.cli.view.text import one_line

if TYPE_CHECKING:
    from typer._click import Context


# Typer exports one of its usage errors only; what that one derives from is what all of them are.
_USAGE_ERRORS: Final = cast("tuple[type[typer.BadParameter], ...]", typer.BadParameter.__bases__)


class Commands(TyperGroup):
    """Commands whose usage errors are one sentence and exit status 2."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Read the options that stand before the command."""
        if not args:  # for which Typer shows the help
            return super().parse_args(ctx, args)
        with _one_sentence():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Context) -> object:
        """Read the command's own arguments and run it."""
        with _one_sentence():
            return cast("object", super().invoke(ctx))


@contextmanager
def _one_sentence() -> Iterator[None]:
    try:
        yield
    except _USAGE_ERRORS as error:
        command = error.ctx.command_path if error.ctx else "orchestrator"
        said = one_line(error.format_message()).rstrip(".")
        typer.echo(f"orchestrator: {said[:1].lower()}{said[1:]}; see `{command} --help`", err=True)
        raise typer.Exit(BAD_INPUT) from None


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
