"""The normal form of tool names: models and recorders write one name in several ways."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

from evaluation.texts.disguises import read_disguised, spell_strokes

SEPARATORS: Final = (".", ":", "/", "__")
"""Between a server or a package and its tool, as in mcp__files__rm."""
_CACHED: Final = 1024


def is_same_tool(name: str, other: str) -> bool:
    """Return whether two names differ only by form: capitals, punctuation, look-alikes, a prefix."""
    return not _list_forms(name).isdisjoint(_list_forms(other))


@lru_cache(_CACHED)
def list_readings(name: str) -> tuple[str, ...]:
    """List the names that a person may read in a name: itself, and each with ASCII for its look-alikes."""
    spelled = (each for reading in read_disguised(name) for each in spell_strokes(reading))
    return (unicodedata.normalize("NFKC", name), *spelled)


def fold_tool_name(name: str) -> str:
    """Return the letters and digits of a name, without case."""
    return "".join(filter(str.isalnum, name)).casefold()


@lru_cache(_CACHED)
def _list_forms(name: str) -> frozenset[str]:
    return frozenset(fold_tool_name(_remove_prefix(reading)) for reading in list_readings(name))


def _remove_prefix(name: str) -> str:
    """Return a name without the name of a server or a package before it."""
    return min((name.rpartition(separator)[2] for separator in SEPARATORS), key=len)
