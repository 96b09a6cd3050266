"""The two streams of a command: what it says on the way, and what it is asked for."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.text import Text

from orchestrator.cli.view.text import clean
from orchestrator.errors import BudgetExceededError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def accept_any_text() -> None:
    """Write what the streams' encoding has no form for as a question mark, rather than fail.

    A stream that was closed before the start swallows what is written, and so does standard error once
    nobody reads it any more: progress that is not seen is not worth the run.
    """
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = _while_read(sys.stderr) if sys.stderr else _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def write_nowhere(descriptor: int) -> None:
    """Lead what is written to an open file from now on to nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


class _WhileRead(FileIO):
    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:  # the other end of a pipe, or the terminal, is gone; or the disk is full
            write_nowhere(self.fileno())
            return memoryview(data).nbytes


def _while_read(stream: TextIO) -> TextIO:
    if sys.platform == "win32":  # whose console is no file
        return stream
    try:
        file = _WhileRead(stream.fileno(), "wb", closefd=False)
    except (OSError, ValueError):  # a stream in memory
        return stream
    return TextIOWrapper(BufferedWriter(file), stream.encoding, line_buffering=True)


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def progress_console() -> Console:
    """For standard error: progress and warnings."""
    return _console(stderr=True, terminal=sys.stderr.isatty())


def result_console() -> Console:
    """For standard output: what the command was asked for."""
    return _console(stderr=False, terminal=sys.stdout.isatty())


def _console(*, stderr: bool, terminal: bool) -> Console:
    # Lines are broken for the width of a terminal only; a file or a pipe has none.
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=not terminal)


def can_draw(console: Console) -> bool:
    """Whether a view can be drawn over: a real terminal that understands it."""
    return console.file.isatty() and console.is_interactive


class ConsoleHandler(logging.Handler):
    """Puts log records on a console, above whatever is drawn there."""

    def __init__(self, console: Console) -> None:
        """Take warnings and worse."""
        super().__init__(logging.WARNING)
        self._console = console

    def filter(self, record: logging.LogRecord) -> bool:
        """Leave out that a budget was used up, which LangChain takes for a defect and the run says itself."""
        return (
            bool(super().filter(record))
            and f"callback: {BudgetExceededError.__name__}(" not in record.getMessage()
        )

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record."""
        style = "yellow" if record.levelno < logging.ERROR else "red"
        head = f"{record.levelname.lower()} ({record.name}): "
        self._console.print(Text.assemble((head, style), clean(self.format(record))))


@contextmanager
def logs_on(console: Console) -> Iterator[None]:
    """Send the libraries' log records to a console."""
    handler, root = ConsoleHandler(console), logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
