"""Splits a text in any language into words.

A word is a run of letters, digits and marks. In scripts without spaces between words (Han, kana, Thai, Lao,
Khmer, Burmese) each letter is a word, together with its marks. Case, Unicode form and invisible characters
make no difference to words.
"""

from __future__ import annotations

import re
from typing import Final

import regex

from evaluation.texts.normal import fold_case

_UNSPACED: Final = (
    r"[\p{L}&&[\p{Han}\p{Hiragana}\p{Katakana}\u30fc\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]"  # u30fc is kana
)
"""The letters of scripts that put no space between words."""
_WORD: Final = regex.compile(
    rf"{_UNSPACED}\p{{M}}*+|[[\p{{L}}\p{{N}}]--{_UNSPACED}][[\p{{L}}\p{{M}}\p{{N}}]--{_UNSPACED}]*+", regex.V1
)
_ALPHABETIC_WORD: Final = re.compile(r"[^\W_]+")
_BEYOND_ALPHABETS: Final = re.compile("[^\x00-\u02ff\u0370-\u0482\u048a-\u058f\u2000-\u206f\u20a0-\u20bf]")
"""Matches a character outside Latin, Greek, Cyrillic, Armenian, common punctuation and currency signs. Their
words may have combining marks, which take a slower search."""


def split_words(text: str) -> list[str]:
    """Split a text into its words, in order, case-folded and in normal form (NFKC)."""
    folded = fold_case(text)
    if not _BEYOND_ALPHABETS.search(folded):
        return _ALPHABETIC_WORD.findall(folded)
    words: list[str] = _WORD.findall(folded)
    return words
