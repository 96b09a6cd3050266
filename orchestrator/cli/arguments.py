"""Reads what was typed; an error says what that was, and what is accepted."""

from __future__ import annotations

import sys
from typing import Final, get_args

import typer

from orchestrator.supervision.records import SupervisionMode

_MODES: Final[tuple[SupervisionMode, ...]] = get_args(SupervisionMode)


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


def mode(typed: str) -> SupervisionMode:
    """A mode of supervision.

    Raises:
        typer.BadParameter: It is none.
    """
    for known in _MODES:
        if typed == known:
            return known
    raise typer.BadParameter(f"{typed!r:.40} is none of {', '.join(_MODES)}")
