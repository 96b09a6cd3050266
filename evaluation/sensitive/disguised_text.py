"""Reads a text without the disguises of single characters."""

from __future__ import annotations

import re
import unicodedata
from typing import Final
from urllib.parse import unquote

from evaluation.texts.normal import INVISIBLE

_SIGNS: Final = INVISIBLE[1:-1] + "\u0300-\u036f\u24b6-\u24ea\uff01-\uff5e\U0001d400-\U0001d7ff"
"""What no reader sees, loose marks, and wide, circled and mathematical letters."""
_DISGUISED: Final = re.compile(rf"[{_SIGNS}]|%[2-7][0-9A-Fa-f]")
_ANY: Final = re.compile(rf"[%{_SIGNS}]")


def is_disguised(text: str) -> bool:
    """Return whether a text may have a disguised character. False is certain."""
    return _ANY.search(text) is not None


def read_plainly(text: str) -> tuple[str, list[int]]:
    """Return a text without disguises, and where each of its characters, and its end, is in ``text``."""
    parts, places, done = [], [], 0
    for match in _DISGUISED.finditer(text):
        plain = unquote(unicodedata.normalize("NFKC", match[0]))
        shown = plain if plain.isascii() and plain.isprintable() else ""
        parts += [text[done : match.start()], shown]
        places += [*range(done, match.start()), *[match.start()] * len(shown)]
        done = match.end()
    return "".join([*parts, text[done:]]), [*places, *range(done, len(text) + 1)]
