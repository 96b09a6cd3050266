"""Reads what a text states to its reader: not its comments, struck-out text, addresses and list marks."""

from __future__ import annotations

from itertools import accumulate
from typing import Final

import regex

_UNSTATED: Final = regex.compile(
    r"(?P<code>```.*?(?:```|\Z)|`[^`\n]+`)|<!--.*?(?:-->|\Z)|(?<!~)~~(?!~)[^~\n]+~~", regex.DOTALL
)
"""Matches comments and struck-out text, and code, where both are shown."""
_RAISED: Final = regex.compile(r"(?<=\d)(?=\p{No})")
"""Matches between a digit and a digit or fraction of one character, as in 10² and 6½."""
_ADDRESS: Final = regex.compile(
    r"\b(?:[a-z][a-z+.-]{0,20}://|www\.)[^\s<>\"')\]]+|(?<=\])\([^()\s]*\)", regex.IGNORECASE
)
_LIST_MARK: Final = regex.compile(r"^[ \t]{0,3}(\d{1,3})[.)](?=[ \t]+\S)", regex.MULTILINE)


def read_stated(text: str, wanted: str = "") -> str:
    """Return a text without comments and struck-out text, which stay in code, or if they are ``wanted``."""
    is_wanted = any(not match["code"] for match in _UNSTATED.finditer(wanted))
    return text if is_wanted else _UNSTATED.sub(lambda match: match["code"] or " ", text)


def part_numbers(text: str) -> str:
    """Write a sign into 10² and 6½, which Unicode's normal form writes as 102 and 61⁄2."""
    return text if text.isascii() else _RAISED.sub("^", text)


def remove_labels(text: str) -> str:
    """Remove addresses and the marks of lists that count from 1: their numbers state nothing."""
    text = _ADDRESS.sub(" ", text)
    numbers = [int(number) for number in _LIST_MARK.findall(text)]
    counted = accumulate(numbers, lambda last, number: number if number in {1, last + 1} else 0, initial=0)
    places = iter([*counted][1:])
    return _LIST_MARK.sub(lambda match: "" if next(places) else match[0], text)
