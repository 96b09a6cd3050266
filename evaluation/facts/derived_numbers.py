"""Derives numbers from the numbers of sources by one operation, and compares numbers that may be rounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from itertools import permutations
from typing import Final

from evaluation.facts.dates import Clock, Day
from evaluation.facts.tables import list_columns, read_table
from evaluation.texts.json_texts import parse_json

_MOST_OPERANDS: Final = 40
"""Beyond so many numbers, two of them make nearly every number by chance."""
_LEAST_DIGITS: Final = 2
"""Significant digits that a rounded number keeps, unless a word says that it is rounded."""
_NEAR: Final = Decimal("0.1")
_DAY: Final = 24 * 60
_LARGEST: Final = Decimal(10) ** 15


def derive_numbers(numbers: Iterable[Decimal], groups: Iterable[Sequence[Decimal]]) -> Iterator[Decimal]:
    """Yields the results of one operation.

    Args:
        numbers: Any two of them make a sum, difference, product, quotient or share.
        groups: The numbers of a list in one result, which have a sum and a mean; none is empty.
    """
    for group in groups:
        total = sum(group, Decimal())
        yield from (total, total / len(group))
    operands = [number for number in dict.fromkeys(numbers) if abs(number) < _LARGEST]
    if len(operands) > _MOST_OPERANDS:
        return
    for first, second in permutations(operands, 2):
        yield from (first + second, first - second, first * second)
        if second:
            yield first / second
            yield first / second * 100


def list_spans(values: Iterable[object]) -> Iterator[Decimal]:
    """Yields the minutes and hours between two times, and the days between two whole dates."""
    known = list(dict.fromkeys(values))
    times = [value for value in known if isinstance(value, Clock)][:_MOST_OPERANDS]
    days = [
        date(value.year, value.month, value.day)
        for value in known
        if isinstance(value, Day) and value.year and value.day
    ]
    for first, second in permutations(times, 2):
        minutes = (60 * (second.hour - first.hour) + second.minute - first.minute) % _DAY
        yield from (Decimal(minutes), Decimal(minutes) / 60, Decimal(minutes // 60), Decimal(minutes % 60))
    for start, end in permutations(days[:_MOST_OPERANDS], 2):
        yield Decimal((end - start).days)


def list_groups(text: str) -> list[list[Decimal]]:
    """Lists the numbers of each list in a JSON text, of each field of a list of objects, of each column."""
    lists = [each for value in parse_json(text)[:1] for each in _walk(value) if isinstance(each, list)]
    fields = [numbers for each in lists for numbers in _list_fields(each) if numbers]
    return [*fields, *list_columns(read_table(text))]


def list_lengths(text: str) -> list[Decimal]:
    """Lists the lengths of the lists in a JSON text; of any other text, the number of its lines."""
    values = parse_json(text)[:1]
    lists = [each for value in values for each in _walk(value) if isinstance(each, list)]
    if values:
        return [Decimal(len(each)) for each in lists]
    # The first row may be the head of a table.
    return [
        Decimal(len(text.splitlines())),
        *([Decimal(len(rows) - 1)] if (rows := read_table(text)) else []),
    ]


def _list_fields(items: list[object]) -> Iterator[list[Decimal]]:
    objects = [item for item in items if isinstance(item, dict)]
    yield _take_numbers(items)
    for name in dict.fromkeys(key for item in objects for key in item):
        yield _take_numbers([item.get(name) for item in objects])


def _walk(value: object) -> Iterator[object]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += [*each.values()] if isinstance(each, dict) else each if isinstance(each, list) else []


def _take_numbers(values: Iterable[object]) -> list[Decimal]:
    return [
        Decimal(str(value))
        for value in values
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]


def is_rounded(written: Decimal, value: Decimal, *, is_about: bool) -> bool:
    """Returns whether a written number is the value, or the value rounded to two or more digits.

    Args:
        written: The number as a text writes it.
        value: The number that it may stand for.
        is_about: Whether a word such as "about" says that it is rounded; one digit is enough then.
    """
    if written == value:
        return True
    if abs(written - value) > _NEAR * abs(value) or not written.is_finite():
        return False
    first, last = written.adjusted(), int(written.as_tuple().exponent)
    # 1300 may have two significant digits or four.
    least = 1 if is_about else _LEAST_DIGITS
    return any(_round(value, place) == written for place in range(last, first - least + 2))


def _round(value: Decimal, place: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(place), ROUND_HALF_UP)
