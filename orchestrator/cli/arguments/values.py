"""Reads the values of options: whole numbers, words, durations and times.

Each error quotes the value and says what is accepted; the name of the option is put before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import typer

_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)([smhdw])", re.ASCII)
_DURATION: Final = re.compile(f"(?:{_PART.pattern})+")
_NUMBER: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_TIMES: Final = (
    "a date such as 2026-01-31, a time such as 2026-01-31T12:00, or an age such as 90m, 12h or 30d"
)


def count_parser(minimum: int) -> Callable[[str | int], int]:
    """Return a function that reads a whole number of at least ``minimum``."""

    def parse_count(value: str | int) -> int:
        text = str(value)
        # Python's own limit on digits raises another sentence.
        if not re.fullmatch("[0-9]{1,18}", text) or int(text) < minimum:
            raise _refuse(text, f"a whole number of at least {minimum}")
        return int(text)

    return parse_count


def word_parser(*words: str) -> Callable[[str], str]:
    """Return a function that accepts some words only."""
    accepted = f"{', '.join(words[:-1])} or {words[-1]}"

    def parse_word(text: str) -> str:
        if text not in words:
            raise _refuse(text, accepted)
        return text

    return parse_word


def read_policy(path: str) -> str:
    """Read the text of a file with a retry policy.

    Raises:
        typer.BadParameter: It cannot be read, or is no text.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "it is no text"
        raise typer.BadParameter(
            f"{path!r} cannot be read ({reason}); give a file such as the policy.yaml that `tune` writes"
        ) from None


def name_parser(*, or_all: bool = False) -> Callable[[str], str]:
    """Return a function that checks names of tools with commas between them; with ``or_all``, also "all"."""
    accepted = "names of tools with commas between them" + (', or "all"' if or_all else "")

    def parse_names(text: str) -> str:
        if not text.replace(",", "").strip():
            raise _refuse(text, accepted)
        return text

    return parse_names


def parse_seconds(text: str) -> float:
    """Read a duration above 0, such as ``90s`` or ``1h30m``, as seconds. A number alone is seconds.

    Raises:
        typer.BadParameter: It is none.
    """
    seconds = float(text) if _NUMBER.fullmatch(text) else _read_duration(text).total_seconds()
    if not 0 < seconds < timedelta.max.total_seconds():
        raise _refuse(text, "a time above 0, such as 90s, 5m or 12h")
    return seconds


def parse_age(text: str) -> timedelta:
    """Read a duration with its unit, such as ``12h`` or ``30d``.

    Raises:
        typer.BadParameter: It is none.
    """
    return _read_duration(text)


def parse_time(text: str) -> datetime:
    """Read a date, a date with a time, or an age such as ``12h``.

    Raises:
        typer.BadParameter: It is none of these.
    """
    try:
        if _DURATION.fullmatch(text):
            return datetime.now(UTC) - _read_duration(text)
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        raise _refuse(text, _TIMES) from None


def _read_duration(text: str) -> timedelta:
    accepted = "a duration with its unit, such as 90s, 5m, 12h or 30d"
    if not _DURATION.fullmatch(text):
        raise _refuse(text, accepted)
    try:
        parts = (timedelta(**{_UNITS[unit]: float(number)}) for number, unit in _PART.findall(text))
        return sum(parts, timedelta())
    except OverflowError:
        raise _refuse(text, accepted) from None


def _refuse(text: str, accepted: str) -> typer.BadParameter:
    return typer.BadParameter(f"{text!r} is not accepted; give {accepted}")
