"""Builds the two consoles of a command: progress on standard error, results on standard output."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from orchestrator.cli.view.terminal_text import clean
from orchestrator.errors import BudgetExceededError


def build_console(*, stderr: bool = False) -> Console:
    """Builds the console for results, or the one on standard error for progress and questions."""
    # Only a terminal has a width to break lines at; a file or a pipe gets whole lines.
    is_terminal = (sys.stderr if stderr else sys.stdout).isatty()
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=not is_terminal)


class ConsoleHandler(logging.Handler):
    """Prints warnings and errors on a console, above the live view."""

    def __init__(self, console: Console) -> None:
        """Handles records from the level WARNING on."""
        super().__init__(logging.WARNING)
        self._console = console

    def filter(self, record: logging.LogRecord) -> bool:
        """Leaves out LangChain's warning about a used-up budget, which the run reports itself."""
        is_budget = f"callback: {BudgetExceededError.__name__}(" in record.getMessage()
        return bool(super().filter(record)) and not is_budget

    def emit(self, record: logging.LogRecord) -> None:
        """Prints one record."""
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
