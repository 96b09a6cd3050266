"""Compares texts in any language: exact match, edit distance, shared words, keywords."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from rapidfuzz.distance import Levenshtein

from evaluation.texts.normal import fold_case, normalize_text, states_text
from evaluation.texts.words import split_words

_OTHER: Final = re.compile(r"[\W_]+")
_DASH: Final = re.compile("[\u2010-\u2015\u2212]")
_REMOVABLE: Final = re.compile(r"(?:_|[^\w\s%-])(?!\d)|(?<!\d)(?:_|[^\w\s%-])|-(?!\d)|(?<=[^\W\d])-|(?<!\d)%")
"""Matches a sign, except between digits, a minus before a number and a per cent sign after one."""
_PREFIXES: Final = "!/-#@~"
_INFIXES: Final = "/#"
_PRIMES: Final = "'\""
_COMPOUND: Final = "!:-/&%*"
_RELATIONS: Final = ("=", "<", ">")
_SYMBOL: Final = re.compile("[#+%&@$€£¥<>=*/^~|]")
"""Matches a symbol that distinguishes a keyword from its words: C++, AT&T, 50 %."""
MAX_EDIT_COST: Final = 12_000_000
"""Limit of ``matching_cost`` up to which an edit distance is computed: about 0.1 s."""


def normalized_exact_match(output: str, reference: str) -> bool:
    """Return whether the texts are the same except for case, Unicode form, white space and punctuation.

    As in SQuAD (Rajpurkar et al. 2016), for any language: no articles are dropped, and the signs of a number
    stay (3.14 is not 314, -5 is not 5). If the reference is only punctuation, punctuation is compared.
    """
    observed, expected = fold_case(output), fold_case(reference)
    if _OTHER.sub("", observed) != _OTHER.sub("", expected):  # decides most cases in a tenth of the time
        return False
    stripped = _strip_punctuation(expected)
    return _strip_punctuation(observed) == stripped if stripped else observed.split() == expected.split()


def levenshtein_similarity(output: str, reference: str) -> float | None:
    """1 - d / max(|output|, |reference|); d is the least number of insertions, deletions, substitutions.

    Levenshtein 1966, over the characters as they are; two empty texts have similarity 1. Returns None if
    different texts are too long (``MAX_EDIT_COST``; two texts of 25,000 characters are not).
    """
    if output != reference and matching_cost(len(output), len(reference)) > MAX_EDIT_COST:
        return None
    return Levenshtein.normalized_similarity(output, reference)


def matching_cost(first: int, second: int) -> int:
    """Return the machine words that bit-parallel matching visits: 64 of the shorter at once, per item."""
    return -(-min(first, second) // 64) * max(first, second)


def find_missing_keywords(output: str, words: Sequence[str], keywords: Sequence[str]) -> list[str]:
    """List the keywords whose words do not occur in ``output`` in a row, as whole words.

    ``words`` are the words of ``output``. Symbols of a keyword (C++, 50 %) must occur too; spelling and
    inflection are exact.
    """
    text, line = normalize_text(output), f" {' '.join(words)} "
    parts = [(keyword, *_keyword_parts(keyword)) for keyword in keywords]
    return [
        keyword
        for keyword, spaced, symbolic in parts
        if spaced not in line or (symbolic and not states_text(text, symbolic))
    ]


def _keyword_parts(keyword: str) -> tuple[str, str]:
    """Return the words that must occur, and the whole keyword if it has symbols, no words or is a number."""
    words = split_words(keyword)
    symbolic = not words or _SYMBOL.search(keyword) or (len(words) == 1 and any(map(str.isdigit, keyword)))
    return f" {' '.join(words)} " if words else "", normalize_text(keyword) if symbolic else ""


def _strip_punctuation(folded: str) -> str:
    """Remove the punctuation, except the signs of numbers, and collapse white space."""
    return " ".join(_REMOVABLE.sub(_keep_symbol, _DASH.sub("-", folded)).split())


def _is_operator(sign: str, text: str, at: int) -> bool:
    """Return whether a sign belongs to its word: !x, --all, /a, a/b, C#, !=, ->, and 5' beside 5"."""
    before, after = text[max(0, at - 1) : at], text[at + 1 : at + 2]
    if sign in _PREFIXES and before.strip() in {"", sign} and after.isalnum():
        return True
    if sign in _COMPOUND and (before in _RELATIONS or after in _RELATIONS):
        return True
    if sign in _INFIXES and before.isalnum():
        return True
    return sign in _PRIMES and before.isdigit() and not after.isalnum() and text.count(sign) == 1


def _keep_symbol(match: re.Match[str]) -> str:
    # Symbols such as $ and + are not punctuation (general category P); the backtick quotes like one.
    sign = match[0]
    if _is_operator(sign, match.string, match.start()):
        return sign
    return "" if sign == "`" or unicodedata.category(sign)[0] == "P" else sign
