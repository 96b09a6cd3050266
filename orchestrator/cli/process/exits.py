"""Ends a command at an error that the user can fix, with one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

from agents.errors import ModelSetupError, ModelSpecError
from orchestrator.cli.process.statuses import BAD_INPUT, FAILED
from orchestrator.cli.view.text import one_line
from orchestrator.errors import ConfigurationError, ResumeError, StoreError, StoreLostError

_OPTIONS: Final = {
    "thread_id": "--thread",
    "approve_tools": "--approve-tools",
    "once_tools": "--once-tools",
}
"""The options of the arguments that an error of the library can begin with."""


@contextmanager
def report_bad_input() -> Iterator[None]:
    """Turn an error that the user can fix into one sentence on standard error and an exit status.

    Raises:
        typer.Exit: With status 2, or 1 if the store failed during a run.
    """
    try:
        yield
    except (ConfigurationError, ModelSpecError, ModelSetupError, ResumeError, StoreError) as error:
        typer.echo(f"orchestrator: {one_line(_name_option(str(error)))}", err=True)
        # A store that fails during a run is not bad input: the same command may succeed later.
        raise typer.Exit(FAILED if isinstance(error, StoreLostError) else BAD_INPUT) from None


def _name_option(message: str) -> str:
    name, _, rest = message.partition(" ")
    return f"{_OPTIONS.get(name, name)} {rest}"
