"""Reads durations, ages and times as users type them: ``90s``, ``1h30m``, ``30d``."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

import typer

_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_PART: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)([smhdw])")
_ACCEPTED: Final = "a duration with its unit, such as 90s, 5m, 12h or 30d"


def parse_age(text: str) -> timedelta:
    """Reads a duration with its unit, such as ``12h`` or ``1h30m``.

    Raises:
        typer.BadParameter: It is none.
    """
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise _refuse(text, _ACCEPTED)
    try:
        return sum((timedelta(**{_UNITS[unit]: float(number)}) for number, unit in parts), timedelta())
    except OverflowError:
        raise _refuse(text, _ACCEPTED) from None


def parse_seconds(text: str) -> float:
    """Reads a duration above 0 as seconds. A number alone is seconds.

    Raises:
        typer.BadParameter: It is none.
    """
    seconds = parse_age(f"{text}s" if text[-1:].isdigit() else text).total_seconds()
    if not seconds:
        raise _refuse(text, "a time above 0, such as 90s, 5m or 12h")
    return seconds


def parse_time(text: str) -> datetime:
    """Reads a date, a date with a time, or an age such as ``12h``.

    Raises:
        typer.BadParameter: It is none of these.
    """
    try:
        return (
            datetime.now(UTC) - parse_age(text)
            if _PART.match(text)
            else datetime.fromisoformat(text).astimezone()
        )
    except (ValueError, OverflowError):
        accepted = "a date such as 2026-01-31, a time such as 2026-01-31T12:00, or an age such as 90m or 30d"
        raise _refuse(text, accepted) from None


def _refuse(text: str, accepted: str) -> typer.BadParameter:
    return typer.BadParameter(f"{text!r} is not accepted; give {accepted}")
