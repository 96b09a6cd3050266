"""Arguments, options and durations that several commands share."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

Task = Annotated[
    str | None,
    typer.Argument(help='What to do; "-" reads it from standard input.', metavar="TASK", show_default=False),
]
Thread = Annotated[
    str | None,
    typer.Argument(help="Name of the run.", metavar="THREAD", show_default=False),
]
Last = Annotated[
    bool,
    typer.Option(
        "--last",
        help="Instead of THREAD: the run that was stored last; for `resume`, of those that can be resumed.",
    ),
]
NewThread = Annotated[
    str,
    typer.Option(
        "--thread",
        help="Name of the new run. Default: a generated one.",
        metavar="ID",
        default_factory=lambda: str(uuid.uuid4()),
        show_default=False,
    ),
]
Database = Annotated[
    str | None,
    typer.Option(
        help="SQLite file or PostgreSQL URL that stores the runs. Default: a file in your data folder.",
        metavar="PATH|URL",
    ),
]
QueueDatabase = Annotated[
    str | None,
    typer.Option(
        help="PostgreSQL URL of the queue, which stores the runs. Default: the variable PEM_QUEUE_DB.",
        metavar="URL",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Show each output, its checks, and what the libraries log."),
]


def refuse_dash(path: Path | None) -> Path | None:
    """Refuses ``-``, which would be the name of a file.

    Raises:
        typer.BadParameter: It is ``-``.
    """
    if path == Path("-"):
        raise typer.BadParameter("'-' is not accepted, because this option has a file; give its name")
    return path


OutputFile: Final = partial(typer.Option, metavar="FILE", callback=refuse_dash)
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DURATION: Final = re.compile(r"(?:[0-9]{1,6}(?:\.[0-9]{1,6})?[smhdw])+")


def parse_age(text: str) -> timedelta:
    """Reads a duration with its unit, such as ``12h`` or ``1h30m``.

    Raises:
        typer.BadParameter: It is none.
    """
    if not _DURATION.fullmatch(text):
        raise typer.BadParameter(
            f"{text!r} is not accepted; give a duration with its unit, such as 90s, 5m, 12h or 30d"
        )
    parts = re.findall(r"([0-9.]+)([a-z])", text)
    return sum((timedelta(**{_UNITS[unit]: float(number)}) for number, unit in parts), timedelta())


def parse_seconds(text: str) -> float:
    """Reads a duration above 0 as seconds. A number alone is seconds.

    Raises:
        typer.BadParameter: It is none.
    """
    seconds = parse_age(f"{text}s" if text[-1:].isdigit() else text).total_seconds()
    if not seconds:
        raise typer.BadParameter(f"{text!r} is not accepted; give a time above 0, such as 90s, 5m or 12h")
    return seconds
