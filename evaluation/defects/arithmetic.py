"""Numbers that follow from other numbers: sums, products, shares, and the same size in another unit."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from decimal import Decimal
from itertools import combinations, product
from typing import Final

from evaluation.defects.claims import read_pattern, read_words
from evaluation.texts.normal import cache_by_text

_COMMA: Final = re.compile(r"(?<![\d.,])(\d+),(\d{1,2})(?![\d,])")
_SIZES: Final = {
    "": 0, "k": 3, "m": 6, "b": 9, "t": 12, "thousand": 3, "million": 6, "billion": 9, "trillion": 12
}  # fmt: skip
_CONSTANTS: Final = tuple(map(Decimal, read_words("sizes_in_others")))
"""Sizes of units in others, and the base of a share."""
_FAHRENHEIT: Final = Decimal("1.8")
_TOLERANCE: Final = Decimal("0.006")


@cache_by_text
def read_numbers(text: str) -> frozenset[Decimal]:
    """Return the numbers of a text, also with a decimal comma."""
    # A text of records has few different numbers, and to make a number of a text is slow.
    points = {
        Decimal(digits.replace(",", "")).scaleb(_SIZES[size.lower()])
        for digits, size in {*read_pattern("number").findall(text)}
    }
    commas = {*_COMMA.findall(text)} if "," in text else ()
    return frozenset(points) | {Decimal(f"{whole}.{part}") for whole, part in commas}


def is_converted(value: Decimal, known: Collection[Decimal]) -> bool:
    """Return whether a number is one of those that are known, or the same size in another unit."""
    size = abs(value)
    return value in known or any(abs(size - abs(each)) <= _TOLERANCE * size for each in _convert(known))


def combine(first: Collection[Decimal], second: Collection[Decimal]) -> Iterator[Decimal]:
    """Yield the results of one operation on two numbers, also with one of them as per cent."""
    for a, b in product(first, second):
        yield from (a + b, a * b)
        # A number and itself make 0 and 1, from which any other would follow.
        if a != b:
            yield from (abs(a - b), a * b / 100)
            yield from (a / b, b / a) if a and b else ()


def is_computed(value: Decimal, known: Collection[Decimal], beside: Collection[Decimal] = ()) -> bool:
    """Return whether a number is the result of one operation, or a sum of up to four numbers or two products.

    ``beside`` are numbers of the same sentence, of which one may be an operand.
    """
    pairs: set[Decimal] = {*known}
    for first, second in combinations(known, 2):
        pairs |= {first + second, first * second}
    results = (*combine({*known, *beside} - {value}, known), sum(known, Decimal()))
    return any(value - each in pairs for each in pairs) or any(is_equal(value, each) for each in results)


def is_equal(value: Decimal, other: Decimal) -> bool:
    """Return whether two numbers are equal to the places of the first."""
    places = Decimal(1).scaleb(int(value.as_tuple().exponent))
    return abs(value - abs(other)) <= places / 2


def _convert(numbers: Collection[Decimal]) -> Iterator[Decimal]:
    """Yield numbers in other units."""
    for number, size in product(numbers, _CONSTANTS):
        yield from (number * size, number / size)
    for number in numbers:
        yield from (number * _FAHRENHEIT + 32, (number - 32) / _FAHRENHEIT)
