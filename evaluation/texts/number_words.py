"""Reads the numbers that an English or German text writes in words: five, 5 million, 2,5 Mio."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import zip_longest
from pathlib import Path
from typing import Final

from text_to_num import alpha2digit

from evaluation.texts.normal import has_digit
from evaluation.texts.numbers import read_amounts, write_minus, write_powers

_WITH_DIGIT: Final = re.compile(r"(?<!\S)[^\s\d]*\d\S*")
_FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(words)
    for language, words in json.loads(
        Path(__file__).with_name("function_words.json").read_text(encoding="utf-8")
    ).items()
}
_GAPS: Final = "".join(char if char.isalpha() else " " for char in map(chr, range(128)))
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_CUT: Final = "\x1f"
_LONGEST_PART: Final = 2_000
_PART: Final = re.compile(r".{1,1999}(?:[.!?;\n]\s|\Z)|.{1,1999}(?:\s|\Z)|.{1,2000}", re.DOTALL)
"""At most 2,000 characters, to the end of a sentence if there is one."""
LEAST: Final = 2
"""Smallest number in words that has to recur: "one" and "ein" are pronouns and articles too."""
SECOND: Final = "2nd"
"""A second is a time as well as an ordinal."""


def spell_in_digits(text: str) -> tuple[str, bytearray]:
    """Write the numbers in words as digits; returns the text, and by character whether it was a digit before.

    A scale word after digits becomes an exponent: "5 million" is "5e6".
    """
    return _spell_words(write_powers(text))


def read_worded_numbers(text: str) -> Iterator[Decimal]:
    """Yield the numbers that a text writes in words or with a scale word: five, 5 million, 2,5 Mio.

    Not zero, one and second, which are pronouns, articles and times, too.
    """
    plain, digits = spell_in_digits(text)
    for (start, end), numbers in read_amounts(plain):
        is_word = not any(digits[start:end])
        if (is_word and plain[start : end + 2] != SECOND) or "e" in plain[start:end]:
            yield from (value for number in numbers for value in number if not is_word or abs(value) >= LEAST)


def _spell_words(text: str) -> tuple[str, bytearray]:
    """Write the numbers in words as digits; returns the text, and by character whether it was one before."""
    # Most texts have no digit, and this test is far cheaper than the search.
    tokens = _WITH_DIGIT.findall(text) if has_digit(text) else []
    # Word by word between the digits, because text2num would join both.
    pieces = _convert_words(_WITH_DIGIT.sub(_CUT, text) if tokens else text).split(_CUT)
    plain, was_digit = "", bytearray()
    for piece, token in zip_longest(pieces, tokens, fillvalue=""):
        gap = ";" if plain[-1:].isdigit() and piece[:1].isdigit() else ""
        plain += f"{gap}{piece};{token}" if piece.rstrip()[-1:].isdigit() else f"{gap}{piece}{token}"
        was_digit += bytes(len(plain) - len(was_digit) - len(token)) + b"\1" * len(token)
    return plain, was_digit


def _convert_words(text: str) -> str:
    german, english = count_function_words(text)
    converted = _convert_in_parts(text, "de" if german > english else "en")
    if converted == text and german == english:
        converted = _convert_in_parts(text, "de")
    return write_minus(converted)


def count_function_words(text: str) -> tuple[int, int]:
    """Count the different German and English function words of a text, which tell its language."""
    lower = text.lower()
    words = {*(lower.translate(_GAPS).split() if lower.isascii() else _LETTERS.findall(lower))}
    return len(words & _FUNCTION_WORDS["german"]), len(words & _FUNCTION_WORDS["english"])


def _convert_in_parts(text: str, language: str) -> str:
    # text2num takes the square of the length for a row of number words.
    parts = _PART.findall(text) if len(text) >= _LONGEST_PART else [text] if text else []
    return "".join(alpha2digit(part, language, threshold=0) for part in parts)
