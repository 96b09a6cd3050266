"""The normal form of tool names: models and recorders write one name in several ways."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from evaluation.texts.disguises import read_disguised, spell_strokes

_PREFIX: Final = re.compile(r".*(?:[.:/]|__)|mcp[_-]+[^_-]+[_-]", re.DOTALL | re.IGNORECASE)
"""The name of a server or a package before its tool, as in mcp__files__rm and files.rm."""
_CACHED: Final = 1024


def is_same_tool(name: str, other: str) -> bool:
    """Return whether two names differ only by form: capitals, punctuation, look-alikes, a prefix of one."""
    (full, bare), (other_full, other_bare) = _list_forms(name), _list_forms(other)
    return not full.isdisjoint(other_full | other_bare) or not bare.isdisjoint(other_full)


def fold_tool_name(name: str) -> str:
    """Return the letters and digits of a name, without case."""
    return "".join(filter(str.isalnum, name)).casefold()


@lru_cache(_CACHED)
def _list_forms(name: str) -> tuple[frozenset[str], frozenset[str]]:
    """List the folded readings of a name, and those without the name of a server or a package before it."""
    spelled = (each for reading in read_disguised(name) for each in spell_strokes(reading))
    readings = [unicodedata.normalize("NFKC", name), *spelled]
    bare = [_PREFIX.sub("", each, count=1) for each in readings]
    return frozenset(map(fold_tool_name, readings)), frozenset(map(fold_tool_name, bare))
