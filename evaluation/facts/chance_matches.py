"""Tells what follows from the values of the sources from what matches them by chance.

A number of four digits that is the difference of two others is hardly so by chance; one below ten nearly
always is. So a number is looked up among the results of one or two operations on any values of the sources,
and a match counts only if few of the neighbours of the number match, too.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import chain, combinations, pairwise, product
from typing import Final, TypeAlias

from evaluation.facts.derived_numbers import combine_values
from evaluation.facts.field_records import LARGEST, MOMENTS, Operand, Record
from evaluation.facts.units import agree_units, scale_unit

Search: TypeAlias = Callable[[float, str | None, float], bool]
"""Whether a value with a unit is there, when both are rounded to a step."""
_MOST_CHANCE: Final = 0.2
"""Largest share of the neighbours that may match: of wrong facts, at most as many pass by chance."""
_NEIGHBOURS: Final = 20
_REACH: Final = 0.25
"""Distance of the farthest neighbour, as a share of the number."""
_FEWEST: Final = 5
_MOST_RECORDS: Final = 200
_MOST_VALUES: Final = 60
_MOST_IN_TWO_STEPS: Final = 25
_MOST_TERMS: Final = 12
"""Values whose partial sums are all looked at."""
_MOST_FACTORS: Final = 6
_HALF: Final = 0.5000001
_LEAST_DIGITS: Final = 3
_DIGITS: Final = re.compile(r"\d[\d.,' ]*")
_CENTS: Final = re.compile(r"(?<=\d)[.,]\d{1,2}\Z")


@dataclass(frozen=True, slots=True)
class _Pool:
    """The amounts of values in order, by their units."""

    groups: dict[str | None, list[float]]

    def has(self, value: float, unit: str | None, step: float) -> bool:
        return any(
            _is_within(group, abs(value) * size, step * size)
            for other, group in self.groups.items()
            if (size := _find_size(unit, other))
        )


def _build_pool(values: Iterable[Operand]) -> _Pool:
    groups: defaultdict[str | None, set[float]] = defaultdict(set)
    for value, unit, _ in values:
        groups[unit].add(abs(float(value)))
    return _Pool({unit: sorted(group) for unit, group in groups.items()})


def _is_within(group: Sequence[float], value: float, step: float) -> bool:
    at = bisect_left(group, value - step * _HALF)
    return at < len(group) and group[at] <= value + step * _HALF


@lru_cache(1024)
def _find_size(unit: str | None, other: str | None) -> float:
    """Returns how many of another unit one unit is; 0 if they measure different things."""
    if unit != other and ("%" in (unit, other) or {unit, other} & MOMENTS):
        return 0
    size = Decimal(1) if agree_units(unit, other) else scale_unit(Decimal(1), unit, other)
    return float(size or 0)


def build_searches(
    records: Sequence[Record], stated: Sequence[Operand], others: Sequence[Operand]
) -> Iterator[Search]:
    """Yields searches among the results of operations, from likely operations to unlikely ones.

    Args:
        records: The records of the sources.
        stated: The values that the answer and the task state, in their order.
        others: Further values of the sources, which may stand within texts.
    """
    yield _build_pool(_relate(records)).has
    listed = _list_distinct([*(each for record in records for each in record.values), *stated, *others])
    pairs = combinations(listed, 2) if len(listed) <= _MOST_VALUES else ()
    pool = _build_pool(_combine_all(pairs))
    yield pool.has
    yield _build_pool(_sum_terms(records, stated)).has
    if len(listed) <= _MOST_IN_TWO_STEPS:
        operands = [float(each.value) for each in listed if each.value and each.unit not in {*MOMENTS, "%"}]
        yield lambda value, unit, step: _is_in_two_steps(pool, operands, value, unit, step)


def _is_in_two_steps(
    pool: _Pool, operands: Iterable[float], value: float, unit: str | None, step: float
) -> bool:
    return unit not in MOMENTS and any(
        pool.has(value - each, unit, step)
        or pool.has(value + each, unit, step)
        or pool.has(value / each, None, step / abs(each))
        or pool.has(value * each, None, step * abs(each))
        for each in operands
    )


def _combine_all(pairs: Iterable[tuple[Operand, Operand]]) -> Iterator[Operand]:
    return chain.from_iterable(combine_values(*pair, is_stated=True) for pair in pairs)


def _list_distinct(values: Iterable[Operand]) -> list[Operand]:
    """Lists each value once; a time of day may also be a duration: 46:30 are minutes and seconds."""
    found = {each[:2]: each for each in values if abs(each.value) < LARGEST}
    times = [each for each in found.values() if each.unit == "time"]
    return [*found.values(), *(Operand(each.value / size, "s") for each in times for size in (1, 60))]


def _relate(records: Sequence[Record]) -> Iterator[Operand]:
    """Yields what one operation makes of two values of a record, or of one and the record around it."""
    by_path = {record.path: record for record in records}
    for record in records[:_MOST_RECORDS]:
        own = _list_distinct(record.values)[:_MOST_VALUES]
        around = by_path.get(record.path[:-1]) or by_path.get(record.path[:-2])
        outer = _list_distinct(around.values)[:_MOST_VALUES] if around else []
        yield from _combine_all(chain(combinations(own, 2), product(own, outer)))


def _sum_terms(records: Sequence[Record], stated: Sequence[Operand]) -> Iterator[Operand]:
    """Yields sums and means of the values of a field, of products of two fields, and of stated values."""
    columns: defaultdict[object, list[Operand]] = defaultdict(list)
    for record in records:
        own = [each for each in _list_distinct(record.values) if each.unit not in MOMENTS]
        for each in own:
            columns[record.path[:-1], each.names, each.unit].append(each)
        for first, second in combinations(own[:_MOST_FACTORS], 2):
            key = (record.path[:-1], first.names, second.names)
            columns[*key, "*"].append(Operand(first.value * second.value))
            columns[*key, "-"].append(Operand(first.value - second.value))
    plain = [each for each in stated if each.unit not in MOMENTS and abs(each.value) < LARGEST]
    terms = [Operand(first.value * second.value) for first, second in pairwise(plain)]
    for column in [*columns.values(), terms, _list_distinct(plain)]:
        yield from _sum_column(column)


def _sum_column(column: Sequence[Operand]) -> Iterator[Operand]:
    if len(column) > 1:
        total = sum((each.value for each in column), Decimal())
        sums = {Decimal()}
        for each in column if len(column) <= _MOST_TERMS else ():
            sums |= {value + each.value for value in sums}
        yield from (Operand(value, column[0].unit) for value in (*sums, total, total / len(column)))


def is_likely(
    searches: Collection[Search], value: float, unit: str | None, step: float, grain: float
) -> bool:
    """Returns whether a search finds a value, and few of its neighbours.

    Args:
        searches: Where the value may be.
        value: The value.
        unit: Its unit.
        step: What it is rounded to.
        grain: The distance of its neighbours: round numbers match each other more often.
    """
    if not any(search(value, unit, step) for search in searches):
        return False
    most = grain * _NEIGHBOURS if unit in MOMENTS else max(value * _REACH, grain * _FEWEST)
    gap = grain * max(1, most // (grain * _NEIGHBOURS))
    shifts = [gap * (at + 1) for at in range(min(_NEIGHBOURS, int(most / gap)))]
    near = [each for shift in shifts for each in (value + shift, value - shift) if each > 0]
    matches = sum(any(search(each, unit, step) for search in searches) for each in near)
    return matches <= _MOST_CHANCE * len(near)


def read_digits(shown: str) -> str:
    """Returns the digits of a number, without the zeros at the end of its fraction."""
    found = _DIGITS.search(shown)
    plain = _CENTS.sub(lambda match: match[0].rstrip("0"), found[0].strip(" .,")) if found else ""
    return "".join(filter(str.isdigit, plain))


def is_near_miss(digits: str, stated: Iterable[str]) -> bool:
    """Returns whether digits are those of a stated number, but for one digit or for two that are swapped."""
    same = [other for other in stated if _LEAST_DIGITS <= len(other) == len(digits)]
    changes = [[pair for pair in zip(digits, other, strict=True) if pair[0] != pair[1]] for other in same]
    return any(len(pairs) == 1 or pairs[:1] == [pair[::-1] for pair in pairs[1:]] for pairs in changes)
