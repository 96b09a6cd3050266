"""Classes of characters that ``re`` has no name for, made from the Unicode data when first needed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, groupby
from typing import Final

_SCANNED: Final = (range(0x3400), range(0xA000, 0xAC00), range(0xD7B0, 0x20000), range(0xE0100, 0xE01F0))
"""Every plane that holds letters, digits, marks or punctuation, but for Han and Hangul."""

_UNSPACED: Final = re.compile(
    "[\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46"  # Thai
    "\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf"  # Lao
    "\u1000-\u102a\u103f\u1050-\u1055\uaa60-\uaa76"  # Burmese
    "\u1780-\u17b3"  # Khmer
    "\u3005-\u3007\u3031-\u3035\u303b\u303c\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003347f]"  # kana, Han
)
"""A letter of a script that puts no space between words."""


@cache
def word_pattern() -> re.Pattern[str]:
    """Match a word: a run of letters, digits and marks, or a letter of an unspaced script with its marks."""
    marks, letters = _class(_is_mark), f"{_class(_is_spaced)}\uac00-\ud7a3"
    return re.compile(f"{_UNSPACED.pattern}[{marks}]*|[{letters}][{letters}{marks}]*")


@cache
def punctuation() -> str:
    """List what counts as punctuation (general category P, and the backtick), less hyphen and per cent.

    The list is the inside of a character class.
    """
    return _class(lambda char: char not in "-%" and (char == "`" or unicodedata.category(char)[0] == "P"))


@cache
def reordered_pattern() -> re.Pattern[str]:
    """Match 30 characters in a row whose normal form starts with a mark that normalisation reorders.

    Sorting such a run takes the square of its length; 30 is the bound of Unicode's stream-safe text (UAX 15).
    """
    return re.compile(f"[{_class(_is_reordered)}]{{30}}")


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M"


def _is_spaced(char: str) -> bool:
    return unicodedata.category(char)[0] in "LN" and not _UNSPACED.match(char)


def _is_reordered(char: str) -> bool:
    return unicodedata.combining(unicodedata.normalize("NFKD", char)[0]) != 0


def _class(belongs: Callable[[str], bool]) -> str:
    return "".join(_ranges(belongs))


def _ranges(belongs: Callable[[str], bool]) -> Iterator[str]:
    members = (code for code in chain(*_SCANNED) if belongs(chr(code)))
    for _, run in groupby(enumerate(members), lambda pair: pair[1] - pair[0]):
        codes = [code for _, code in run]
        yield f"{re.escape(chr(codes[0]))}-{re.escape(chr(codes[-1]))}"
