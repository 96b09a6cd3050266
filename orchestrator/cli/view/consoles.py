"""What a command prints: progress on standard error, results on standard output, errors as one sentence."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, cast

import typer
from rich.console import Console
from rich.text import Text

from agents.errors import ModelSetupError, ModelSpecError
from evaluation.errors import MissingExtraError
from orchestrator.cli.process_exit import BAD_INPUT, FAILED
from orchestrator.cli.view.terminal_text import clean, one_line, to_json
from orchestrator.errors import (
    BudgetExceededError,
    ConfigurationError,
    ResumeError,
    StoreError,
    StoreLostError,
)
from orchestrator.retry.attempts import find_best_answer
from orchestrator.state.graph_state import OrchestratorState

_BAD_INPUT: Final = (
    *(ConfigurationError, MissingExtraError, ModelSetupError, ModelSpecError),
    *(ResumeError, StoreError),
)
_FIRST: Final = ("output", "status", "basis", "evidence", "failure", "question", "task", "plan")


def build_console(*, stderr: bool = False) -> Console:
    """Builds the console for results, or the one on standard error for progress and questions."""
    # Only a terminal has a width to break lines at; a file or a pipe gets whole lines.
    is_terminal = (sys.stderr if stderr else sys.stdout).isatty()
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=not is_terminal)


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
    known: tuple[type[Exception], ...] = (*failed, *_BAD_INPUT)
    try:
        yield
    except known as error:
        typer.echo(f"orchestrator: {one_line(str(error))}", err=True)
        raise typer.Exit(FAILED if isinstance(error, failed) else BAD_INPUT) from None


def print_json(document: object) -> None:
    """Prints a document on standard output, in UTF-8 in every locale."""
    typer.echo(to_json(document).encode())


def output_first(state: OrchestratorState) -> dict[str, object]:
    """Returns the whole state, its result first, and the ``best_attempt`` of a run that failed."""
    values = cast("Mapping[str, object]", state)
    best = find_best_answer(state) if state["status"] == "failed" else None
    found = {} if best is None else {"best_attempt": best["result"]}
    return {**{name: values[name] for name in _FIRST if name in values}, **found, **values}


class ConsoleHandler(logging.Handler):
    """Prints warnings and errors on a console, above the live view."""

    def __init__(self, console: Console) -> None:
        """Handles records from the level WARNING on."""
        super().__init__(logging.WARNING)
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        """Prints one record, but none of LangChain's about a used-up budget, which the run reports itself."""
        if f"callback: {BudgetExceededError.__name__}(" in record.getMessage():
            return
        style = "yellow" if record.levelno < logging.ERROR else "red"
        head = f"{record.levelname.lower()} ({record.name}): "
        self._console.print(Text.assemble((head, style), clean(self.format(record))))


@contextmanager
def print_logs_on(console: Console) -> Iterator[None]:
    """Prints the log records of all libraries on a console inside the block."""
    handler, root = ConsoleHandler(console), logging.getLogger()
    # On the root logger, because warnings of LangChain and httpx would break the live view.
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
