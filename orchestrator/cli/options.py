"""The types of options, with their names and their readers."""

from __future__ import annotations

import re
import sys
import uuid
from functools import partial
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer

_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
"""The seconds of each unit."""
_DURATION: Final = re.compile(r"(?:[0-9]{1,6}(?:\.[0-9]{1,6})?[smhdw])+")


def parse_seconds(text: str) -> float:
    """Reads a duration above 0, such as ``12h`` or ``1h30m``, as seconds. A number alone is seconds.

    Raises:
        typer.BadParameter: It is none.
    """
    stated = f"{text}s" if text[-1:].isdigit() else text
    parts = re.findall(r"([0-9.]+)([a-z])", stated) if _DURATION.fullmatch(stated) else []
    seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if not seconds:
        raise typer.BadParameter(f"{text!r} is not accepted; give a time above 0, such as 90s, 5m or 12h")
    return seconds


def read_task(text: str) -> str:
    """Reads a task, from standard input if it is ``-``.

    Raises:
        ConfigurationError: It is blank, or no text.
        typer.BadParameter: Standard input is no text in UTF-8.
    """
    from orchestrator.settings import check_task  # LangGraph is slow to import

    try:
        return check_task(sys.stdin.buffer.read().decode("utf-8-sig").strip() if text == "-" else text)
    except UnicodeDecodeError:
        raise typer.BadParameter("standard input is no text in UTF-8; give a text in UTF-8") from None


def read_text_file(path: str) -> str:
    """Reads a file in UTF-8; raises OSError if it cannot be read, and ValueError if it is no text."""
    return Path(path).read_text(encoding="utf-8-sig")


T = TypeVar("T")
Argument: Final = partial(typer.Argument, show_default=False)
Name = Annotated[T, typer.Option(metavar="NAME")]
Spec = Annotated[T, typer.Option(metavar="SPEC")]
Reason = Annotated[T, typer.Option(metavar="REASON")]
File = Annotated[T, typer.Option(metavar="FILE")]
OutputFile = Annotated[Path | None, typer.Option(metavar="FILE")]
Files = Annotated[list[Path] | None, Argument(metavar="FILE...")]
Code = Annotated[T, typer.Option(metavar="MODULE:NAME")]
Count = Annotated[T, typer.Option(metavar="N", min=1)]
Number = Annotated[T, typer.Option(metavar="N", min=0)]
Url = Annotated[str | None, typer.Option(metavar="URL")]
Time = Annotated[float | None, typer.Option(metavar="TIME", parser=parse_seconds)]

Task = Annotated[
    str,
    typer.Argument(help='What to do; "-" reads it from standard input.', metavar="TASK", parser=read_task),
]
Thread = Annotated[str, Argument(help="Name of the run.", metavar="THREAD")]
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
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
