"""The normal form of tool names: models and recorders write one name in several ways."""

from __future__ import annotations

import unicodedata
from typing import Final

SEPARATORS: Final = (".", ":", "/", "__")
"""Between a server or a package and its tool, as in mcp__files__rm."""


def normalize_tool_name(name: str) -> str:
    """Return a name without letter case, punctuation, and the name of a server or package before it."""
    bare = min((name.rpartition(separator)[2] for separator in SEPARATORS), key=len)
    return fold_tool_name(unicodedata.normalize("NFKC", bare))


def fold_tool_name(name: str) -> str:
    """Return the letters and digits of a name, without case."""
    return "".join(filter(str.isalnum, name)).casefold()
