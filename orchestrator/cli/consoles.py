"""Prints for a command: safe texts, progress on standard error, results on standard output or in files."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO, TypeVar

import typer
from pydantic_core import to_json
from rich.console import Console
from rich.progress import track
from rich.text import Text

from agents.credentials.masking import mask_keys
from evaluation.sensitive.scanner import shorten
from evaluation.values import group_by
from orchestrator.errors import BudgetExceededError, ConfigurationError

if TYPE_CHECKING:
    from orchestrator.state.records import Usage


@contextmanager
def take_stdout() -> Iterator[TextIO]:
    """Yields standard output for results. What the code of the user prints in the block is no result."""
    stream = sys.stdout
    with redirect_stdout(sys.stderr):
        yield stream


def build_console(*, stderr: bool = False, file: TextIO | None = None) -> Console:
    """Builds the console for results, on ``file`` if it is given; or the one for progress and questions."""
    # Only a terminal has a width to break lines at; a file or a pipe gets whole lines.
    is_terminal = (file or (sys.stderr if stderr else sys.stdout)).isatty()
    return Console(
        file=file, stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=not is_terminal
    )


def print_json(document: object) -> None:
    """Prints a document on standard output."""
    # NaN and infinity are not JSON; every locale has ASCII, and nothing is hidden in it.
    typer.echo(to_json(document, indent=2, ensure_ascii=True, inf_nan_mode="strings"))


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
        self._console.print(Text.assemble((head, style), clean(mask_keys(self.format(record)))))


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


_REMOVED: Final = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
"""Characters that a terminal obeys or hides. Joiners are none, because emoji and many scripts need them."""
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Removes control and invisible characters except newline and tab.

    Invisible characters can reverse the order of a line, our own words included.
    """
    return _LONE_SURROGATE.sub("\ufffd", _REMOVED.sub("", text))


def one_line(text: str, limit: int = 500) -> str:
    """Cleans a text and shortens it to one line of at most ``limit`` characters."""
    return shorten(" ".join(clean(text).split()), limit)


def format_usage(usage: Usage) -> str:
    """Formats tokens and seconds. Unreported tokens are called missing, never 0."""
    total = usage["total_tokens"]
    tokens = "tokens unknown" if total is None else f"{total} tokens"
    return f"{tokens if usage['model_calls'] else 'no model call'}, {usage['latency_ms'] / 1000:.1f} s"


T = TypeVar("T")


def show_progress(console: Console, results: Iterator[T], before: int, total: int) -> Iterator[T]:
    """Yields the results, and draws a bar with the rate and the time left on a terminal.

    Args:
        console: Gets the bar.
        results: The results as they come.
        before: The number of the results that an earlier command stored.
        total: The number of all results; 0 if it is unknown.
    """
    left = (total - before) or None
    yield from track(results, "runs", left, console=console, transient=True, disable=not console.is_terminal)


def check_outputs(written: Sequence[Path | None], inputs: Sequence[Path | None]) -> None:
    """Checks the files of results, before a long evaluation whose results they could not hold.

    Args:
        written: The files to write; None for one that is not asked for.
        inputs: The files to read, which would be replaced; None for one that is not given.

    Raises:
        ConfigurationError: A file is "-", in no folder, or one to read, or two results have the same file.
    """
    taken = [os.path.realpath(each) for each in filter(None, inputs)]
    for path in filter(None, written):
        if str(path) == "-" or not path.parent.is_dir() or path.is_dir():
            raise ConfigurationError(f"{str(path)!r} is no file in a folder; give one for the results")
        if os.path.realpath(path) in taken:
            raise ConfigurationError(
                f"{str(path)!r} is read by the command, or has other results, too; give another file"
            )
        taken.append(os.path.realpath(path))


_MOST_PROBLEMS: Final = 10
_MOST_PLACES: Final = 3


def list_places(label: str, sentences: Sequence[str]) -> Iterator[str]:
    """Yields the problems with their places; of sentences that differ in their place alone, the first."""
    places = group_by([text.partition(": ") for text in sentences], lambda parts: parts[2])
    for problem, each in [*places.items()][:_MOST_PROBLEMS]:
        more = f", {len(each) - _MOST_PLACES} more" if len(each) > _MOST_PLACES else ""
        yield one_line(f"{label}: {', '.join(place for place, *_ in each[:_MOST_PLACES])}{more}: {problem}")
    if (left := len(places) - _MOST_PROBLEMS) > 0:
        yield f"{label}: {left} more kinds of things"
