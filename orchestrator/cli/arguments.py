"""Reads what was typed; an error says what that was, and what is accepted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar, get_args

import typer

from orchestrator.runs.summary import STATUSES, StoredStatus
from orchestrator.state.records import SupervisionMode

Word = TypeVar("Word", bound=str)
_MODES: Final[tuple[SupervisionMode, ...]] = get_args(SupervisionMode)
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days"}


def text(typed: str) -> str:
    """Text that every encoding of Unicode can carry.

    Raises:
        typer.BadParameter: It holds bytes that were no text.
    """
    try:
        typed.encode()
    except UnicodeEncodeError:
        encoding = sys.getfilesystemencoding()
        raise typer.BadParameter(f"{typed!r:.80} holds bytes that are no text in {encoding}") from None
    return typed


def thread_name(typed: str) -> str:
    """The name of a new run.

    Raises:
        typer.BadParameter: It is no text, or could not be typed after a command.
    """
    if typed.startswith("-"):
        raise typer.BadParameter(f"{typed!r:.80} begins as an option does; give another name")
    return text(typed)


def whole_number(typed: str) -> int:
    """A whole number.

    Raises:
        typer.BadParameter: It is none.
    """
    try:
        return int(typed)
    except ValueError:
        raise typer.BadParameter(f"{typed!r:.40} is no whole number") from None


def number(typed: str) -> float:
    """A number.

    Raises:
        typer.BadParameter: It is none.
    """
    try:
        return float(typed)
    except ValueError:
        raise typer.BadParameter(f"{typed!r:.40} is no number") from None


def moment(typed: str) -> datetime:
    """A date, with a time or without (the machine's own unless it names a zone), or how long ago it was.

    Raises:
        typer.BadParameter: It is none.
    """
    try:
        if typed[-1:] in _UNITS:
            return datetime.now(UTC) - timedelta(**{_UNITS[typed[-1]]: float(typed[:-1])})
        return datetime.fromisoformat(typed).astimezone()
    except (ValueError, OverflowError):
        accepted = "give a date such as 2026-01-31, with a time or without, or 90m, 12h or 7d"
        raise typer.BadParameter(f"{typed!r:.40} is no time; {accepted}") from None


def mode(typed: str) -> SupervisionMode:
    """A mode of supervision.

    Raises:
        typer.BadParameter: It is none.
    """
    return _one_of(_MODES, typed)


def status(typed: str) -> StoredStatus:
    """What a stored run can be.

    Raises:
        typer.BadParameter: It is none.
    """
    return _one_of(STATUSES, typed)


def _one_of(known: Sequence[Word], typed: str) -> Word:
    for word in known:
        if typed == word:
            return word
    raise typer.BadParameter(f"{typed!r:.40} is none of {', '.join(known)}")
