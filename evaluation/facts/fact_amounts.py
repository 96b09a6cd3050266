"""Reads the amounts in an English or German text: numbers in digits or words, with currency or per cent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from evaluation.facts.measures import MEASURE_PATTERN, MEASURES
from evaluation.texts.number_words import LEAST, SECOND, spell_in_digits
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
    plain, digits = spell_in_digits(text)
    amounts, rest, done = [], [], 0
    for (start, end), numbers in read_amounts(plain):
        is_word = not any(digits[start:end])
        amounts += [_build_amount(plain, start, end, number, is_word=is_word) for number in numbers]
        rest.append(plain[done:start])
        done = end
    return amounts, " ".join([*rest, plain[done:]])


def _build_amount(text: str, start: int, end: int, number: list[Decimal], *, is_word: bool) -> Amount:
    before = _UNIT_BEFORE.search(text[max(0, start - _REACH) : start])
    # A per cent sign may be part of the number already.
    unit_match = _UNIT_AFTER.match(text, end - (text[end - 1] in "%％٪")) or before
    measure = None if unit_match else _MEASURE_AFTER.match(text, end)
    unit = UNITS[unit_match[1].lower()] if unit_match else measure and MEASURES[measure[1].lower()]
    shares = [value / 100 for value in number] if unit == "%" else []
    is_second = text[start : end + 2] == SECOND
    certain = not is_word or (max(number) >= LEAST and not is_second)
    shown = text[start : measure.end() if measure else end].strip()
    return Amount(frozenset([*number, *shares]), unit, shown, certain)
