"""Reads the amounts in an English or German text: numbers in digits or words, with currency or per cent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import zip_longest
from typing import Final

from text_to_num import alpha2digit

from evaluation.metrics.response.facts.measures import MEASURE_PATTERN, MEASURES
from evaluation.texts.numbers import read_amounts

UNITS: Final = {
    name: unit
    for unit, names in {
        "%": "% percent prozent",
        "USD": "$ usd dollar dollars",
        "EUR": "€ eur euro euros",
        "GBP": "£ gbp pound pounds",
        "JPY": "¥ jpy yen",
        "CHF": "chf franken",
        "INR": "₹ inr rupees",
    }.items()
    for name in names.split()
}
_UNIT: Final = "|".join(re.escape(name) for name in sorted(UNITS, key=len, reverse=True))
_UNIT_AFTER: Final = re.compile(rf"[ -]?({_UNIT})(?![^\W\d_])", re.IGNORECASE)
_MEASURE_AFTER: Final = re.compile(rf"[ -]?({MEASURE_PATTERN})(?![^\W\d_])", re.IGNORECASE)
_UNIT_BEFORE: Final = re.compile(rf"(?<![^\W\d_])({_UNIT}) ?[-\u2212]?\Z", re.IGNORECASE)
_REACH: Final = 8  # characters of the longest unit before a number, with its blank and sign
_POWERS: Final = {
    "thousand": 3,
    "tausend": 3,
    "k": 3,
    "mio": 6,
    "bn": 9,
    "mrd": 9,
    "milliard": 9,
    "million": 6,
    "billion": 9,
}
_MAGNITUDE: Final = re.compile(
    r"(?<=\d)(?:[ -](thousand|tausend|mio|bn|mrd|milliard|million|billion)(?:en|e|s)?|(k|bn))\b\.?",
    re.IGNORECASE,
)
_WITH_DIGIT: Final = re.compile(r"(?<!\S)[^\s\d]*\d\S*")
_GERMAN: Final = frozenset(
    {
        "der",
        "die",
        "das",
        "und",
        "ist",
        "sind",
        "nicht",
        "ein",
        "eine",
        "einen",
        "mit",
        "für",
        "von",
        "zu",
        "im",
    }
    | {"am", "wird", "auf", "sie", "ich", "wir", "ihr", "ihre", "hat", "es", "den", "dem", "haben", "kostet"}
)
_ENGLISH: Final = frozenset(
    {"the", "and", "is", "are", "not", "a", "an", "with", "for", "of", "to", "in", "on", "at", "will", "your"}
    | {"you", "it", "i", "we", "has", "have", "be", "was", "costs"}
)
_CUT: Final = "\x1f"
_LEAST: Final = 2
"""Smallest number in words that has to recur: "one" and "ein" are pronouns and articles too."""
_SECOND: Final = "2nd"
"""A second is a time as well as an ordinal."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as a text writes it."""

    values: frozenset[Decimal]
    """Its readings: 1.786 is 1786 or 1.786."""
    unit: str | None
    """A currency (ISO 4217), "%", a measure such as "kg", or None."""
    shown: str
    certain: bool
    """False for words that may be no number, such as one and second."""


def find_amounts(text: str) -> tuple[list[Amount], str]:
    """List the amounts in a text, in order; and return the rest of the text."""
    plain, digits = _spell_in_digits(_MAGNITUDE.sub(_write_power, text))
    amounts, rest, done = [], [], 0
    for (start, end), numbers in read_amounts(plain):
        is_word = not any(digits[start:end])
        amounts += [_build_amount(plain, start, end, number, is_word=is_word) for number in numbers]
        rest.append(plain[done:start])
        done = end
    return amounts, " ".join([*rest, plain[done:]])


def read_worded_numbers(text: str) -> Iterator[Decimal]:
    """Yield the numbers that a text writes in words or with a scale word: five, 5 million, 2,5 Mio.

    Not zero, one and second, which are pronouns, articles and times, too.
    """
    plain, digits = _spell_in_digits(_MAGNITUDE.sub(_write_power, text))
    for (start, end), numbers in read_amounts(plain):
        is_word = not any(digits[start:end])
        if (is_word and plain[start : end + 2] != _SECOND) or "e" in plain[start:end]:
            yield from (value for number in numbers for value in number if not is_word or value >= _LEAST)


def _write_power(match: re.Match[str]) -> str:
    return f"e{_POWERS[(match[1] or match[2]).lower()]}"


def _spell_in_digits(text: str) -> tuple[str, bytearray]:
    """Write the numbers in words as digits; returns the text, and by character whether it was one before."""
    # Word by word between the digits, because text2num would join both.
    pieces = _convert_words(_WITH_DIGIT.sub(_CUT, text)).split(_CUT)
    tokens = _WITH_DIGIT.findall(text)
    plain, was_digit = "", bytearray()
    for piece, token in zip_longest(pieces, tokens, fillvalue=""):
        gap = ";" if plain[-1:].isdigit() and piece[:1].isdigit() else ""
        plain += f"{gap}{piece};{token}" if piece.rstrip()[-1:].isdigit() else f"{gap}{piece}{token}"
        was_digit += bytes(len(plain) - len(was_digit) - len(token)) + b"\1" * len(token)
    return plain, was_digit


def _convert_words(text: str) -> str:
    words = set(text.lower().split())
    german, english = len(words & _GERMAN), len(words & _ENGLISH)
    converted: str = alpha2digit(text, "de" if german > english else "en", threshold=0)
    if converted == text and german == english:
        converted = alpha2digit(text, "de", threshold=0)
    return converted


def _build_amount(text: str, start: int, end: int, number: list[Decimal], *, is_word: bool) -> Amount:
    before = _UNIT_BEFORE.search(text[max(0, start - _REACH) : start])
    # A per cent sign may be part of the number already.
    unit_match = _UNIT_AFTER.match(text, end - (text[end - 1] in "%％٪")) or before
    measure = None if unit_match else _MEASURE_AFTER.match(text, end)
    unit = UNITS[unit_match[1].lower()] if unit_match else measure and MEASURES[measure[1].lower()]
    shares = [value / 100 for value in number] if unit == "%" else []
    is_second = text[start : end + 2] == _SECOND
    certain = not is_word or (max(number) >= _LEAST and not is_second)
    shown = text[start : measure.end() if measure else end].strip()
    return Amount(frozenset([*number, *shares]), unit, shown, certain)
