"""Derives numbers and times by one operation from values that belong together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from decimal import ROUND_HALF_UP, Decimal
from itertools import combinations, pairwise, product
from typing import Final, TypeAlias

from evaluation.facts.field_records import DAY_SECONDS, LARGEST, MOMENTS, YEAR_SECONDS, Operand, Record
from evaluation.facts.units import agree_units, is_measured, is_money, scale_unit

_Pairs: TypeAlias = Iterator[tuple[Operand, Operand]]
_MOST_RECORDS: Final = 20
_MOST_VALUES: Final = 40
"""Beyond so many values, two of them make nearly every number by chance."""
_LEAST_DIGITS: Final = 2
"""Significant digits that a rounded number keeps, unless a word says that it is rounded."""
_NEAR: Final = Decimal("0.25")
"""Most that a rounded number is off, as a share: 1287 is about 1000."""
_FEW_RECORDS: Final = 4
_MOST_ROWS: Final = 200


def derive_values(
    records: Iterable[Record], asked: Sequence[Operand], stated: Sequence[Operand]
) -> Iterator[Operand]:
    """Yields the results of one operation.

    Two values of one record may be combined; two of one field, if there are few records or the answer states
    one of both; and any two that the answer or the task states.

    Args:
        records: The records of the sources.
        asked: The values in the task.
        stated: The values in the answer that have a source.
    """
    lists: defaultdict[tuple[int, ...], list[Record]] = defaultdict(list)
    for record in records:
        lists[record.path[:-1]].append(record)
    said = {each.value for each in stated}
    for path, group in lists.items():
        for rows in (group, *_group_rows(group)):
            yield from _aggregate(rows)
            yield Operand(Decimal(len(group) - len(rows)))
        for first, second in _pair_around(group[:_MOST_RECORDS], lists.get(path[:-1], [])):
            yield from combine_values(first, second, is_stated=False)
        for first, second in _pair_values(group[:_MOST_RECORDS], said):
            yield from combine_values(first, second, is_stated=False)
    asked, stated = asked[:_MOST_VALUES], stated[:_MOST_VALUES]
    known = [each for group in lists.values() for record in group for each in record.values]
    others = [*asked, *known[: _MOST_RECORDS * _MOST_VALUES], *stated]
    for first, second in [*product(asked, others), *combinations(stated, 2)]:
        yield from combine_values(first, second, is_stated=True)
    for first, second in product(stated, known[: _MOST_RECORDS * _MOST_VALUES]):
        yield from combine_values(first, second, is_stated=False)


def _group_rows(rows: Sequence[Record]) -> Iterator[Sequence[Record]]:
    """Yields the records that have the same value in a field: the calls of one day, what is open."""
    alike: defaultdict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in rows if len(rows) <= _MOST_ROWS else ():
        for name, leaf in record.leaves:
            alike[name, str(leaf)].append(record)
    yield from (group for group in alike.values() if 1 < len(group) < len(rows))


def _pair_around(rows: Iterable[Record], others: Iterable[Record]) -> _Pairs:
    """Yields the values of a record with those of the record around it."""
    for record in rows:
        for outer in others:
            if record.path[: len(outer.path)] == outer.path:
                yield from product(record.values[:_MOST_VALUES], outer.values[:_MOST_VALUES])


def _aggregate(group: Sequence[Record]) -> Iterator[Operand]:
    """Yields the count of records, and the count, sum and mean of the values whose fields share a word."""
    yield Operand(Decimal(len(group)))
    columns: defaultdict[str | frozenset[str], list[Operand]] = defaultdict(list)
    for each in (value for record in group for value in record.values if value.unit not in MOMENTS):
        for name in each.names:
            columns[name].append(each)
        if len(each.names) > 1:
            columns[each.names].append(each)
    for column in columns.values():
        total = sum((each.value for each in column), Decimal())
        yield Operand(Decimal(len(column)))
        yield from (Operand(value, column[0].unit) for value in (total, total / len(column)))


def _pair_values(group: Sequence[Record], said: Set[Decimal]) -> _Pairs:
    values = [record.values[:_MOST_VALUES] for record in group]
    for own in values:
        yield from combinations(own, 2)
    for one, other in pairwise(values):
        # The gap between two trips.
        yield from product(*([each for each in own if each.unit in MOMENTS] for own in (one, other)))
    for first, second in (pair for lists in combinations(values, 2) for pair in product(*lists)):
        is_meant = len(group) <= _FEW_RECORDS or not said.isdisjoint((first.value, second.value))
        is_same = is_measured(first.unit) and first.unit == second.unit
        if is_meant and (is_same or first.names & second.names):
            yield first, second


def combine_values(first: Operand, second: Operand, *, is_stated: bool) -> list[Operand]:
    """Lists what one operation makes of two values; their units decide which operations make sense."""
    if first.unit in MOMENTS or second.unit in MOMENTS:
        return [*_shift_moment(first, second), *_shift_moment(second, first)]
    return [
        *_calculate(first, second, is_stated=is_stated),
        *_calculate(second, first, is_stated=is_stated),
    ]


def _calculate(first: Operand, second: Operand, *, is_stated: bool) -> Iterator[Operand]:
    (a, one, _), (b, other, _) = first, second
    is_size, is_other_size = is_measured(one), is_measured(other)
    quotient = a / b if b else None
    if agree_units(one, other) and (is_stated or is_size == is_other_size):
        # 81 % less 48 % are 33 points.
        unit = None if "%" in (one, other) else one or other
        yield Operand(a + b, unit)
        yield Operand(a - b, unit)
        if quotient is not None:
            share = quotient * 100
            yield Operand(share, "%")
            yield Operand(share - 100, "%")
    if (is_size or is_stated or "per" in first.names) and (
        not is_other_size or (is_stated and one != other) or (is_money(one) and not is_money(other))
    ):
        yield Operand(a * b / (100 if other == "%" else 1), one)
    if quotient is not None and (is_stated or (is_size and one != other)):
        yield Operand(quotient, one if one != other else None)


def _shift_moment(first: Operand, second: Operand) -> Iterator[Operand]:
    """Yields the time between two points in time, or the one some time before or after another."""
    if first.unit == second.unit:
        span = second.value - first.value
        yield Operand(span + DAY_SECONDS if -DAY_SECONDS < span < 0 else span, "s")
        yield Operand(abs(span) // YEAR_SECONDS, "year")
        yield Operand(abs(span) * 12 // YEAR_SECONDS, "month")
        # Four nights.
        yield from [Operand(abs(span) // DAY_SECONDS)] if first.unit != "time" and span else []
    elif (
        second.unit
        and (shift := scale_unit(second.value, second.unit, "s"))
        and not (first.unit == "date" and shift % DAY_SECONDS)
    ):
        yield from (Operand(value, first.unit) for value in (first.value + shift, first.value - shift))


def is_rounded(written: Decimal, value: Decimal, *, is_about: bool) -> bool:
    """Returns whether a written number is the value, or the value rounded to two or more digits.

    Args:
        written: The number as a text writes it.
        value: The number that it may stand for.
        is_about: Whether a word such as "about" says that it is rounded; one digit is enough then.
    """
    if written == value:
        return True
    if abs(written - value) > _NEAR * abs(value) or not written.is_finite() or abs(value) > LARGEST:
        return False
    first, last = written.adjusted(), int(written.as_tuple().exponent)
    # 1300 may have two significant digits or four.
    least = 1 if is_about else _LEAST_DIGITS
    return any(_round(value, place) == written for place in range(last, first - least + 2))


def _round(value: Decimal, place: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(place), ROUND_HALF_UP)
