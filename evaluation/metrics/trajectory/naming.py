"""Names as a sentence shows them: few, short, on one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_MOST_NAMES: Final = 5
_MOST_CHARACTERS: Final = 60
_MOST_OF_A_NAME: Final = 200


def shown(name: str) -> str:
    """Return a name of at most 60 characters in quotes, without control characters or lone surrogates."""
    return ascii(name) if len(name) <= _MOST_CHARACTERS else ascii(name[:_MOST_CHARACTERS]) + "..."


def listed(names: Sequence[str]) -> str:
    """Return up to five names, and how many more there are."""
    more = len(names) - _MOST_NAMES
    text = ", ".join(map(bounded, names[:_MOST_NAMES]))
    return f"{text} and {more} more" if more > 0 else text


def bounded(name: str) -> str:
    """Return a name as it is where it is short and printable, else as ``shown``."""
    return name if len(name) <= _MOST_CHARACTERS and name.isprintable() else shown(name)


def quotable(names: Sequence[str]) -> list[str]:
    """Return all names, each cut to 200 characters: a model may call a tool by a whole text."""
    return [name if len(name) <= _MOST_OF_A_NAME else f"{name[:_MOST_OF_A_NAME]}…" for name in names]
