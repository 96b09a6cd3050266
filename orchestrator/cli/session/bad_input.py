"""Ends a command at an error that the user can fix, with one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

from agents.errors import ModelSetupError, ModelSpecError
from evaluation.errors import MissingExtraError
from orchestrator.cli.statuses import BAD_INPUT, FAILED
from orchestrator.cli.view.terminal_text import one_line
from orchestrator.errors import ConfigurationError, ResumeError, StoreError, StoreLostError

_BAD_INPUT: Final = (
    ConfigurationError,
    MissingExtraError,
    ModelSetupError,
    ModelSpecError,
    ResumeError,
    StoreError,
)
_OPTIONS: Final = ("thread_id", "approve_tools", "once_tools")
"""The arguments that an error of the library can begin with, and that are options here."""


@contextmanager
def report_bad_input(*failures: type[Exception]) -> Iterator[None]:
    """Turns an error that the user can fix into one sentence on standard error and an exit status.

    Args:
        failures: Errors that are no bad input; they get status 1.

    Raises:
        typer.Exit: With status 2, or 1 if the store failed during a run.
    """
    # A store that fails during a run is not bad input: the same command may succeed later.
    failed: tuple[type[Exception], ...] = (StoreLostError, *failures)
    try:
        yield
    except failed as error:
        _print_error(error)
        raise typer.Exit(FAILED) from None
    except _BAD_INPUT as error:
        _print_error(error)
        raise typer.Exit(BAD_INPUT) from None


def _print_error(error: Exception) -> None:
    typer.echo(f"orchestrator: {one_line(_name_option(str(error)))}", err=True)


def _name_option(message: str) -> str:
    name, _, rest = message.partition(" ")
    option = f"--{name.removesuffix('_id').replace('_', '-')}"
    return f"{option if name in _OPTIONS else name} {rest}"
