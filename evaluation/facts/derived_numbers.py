"""Derives numbers and times by one operation or two, and tells what follows from what matches by chance.

A number of four digits that is the difference of two others is hardly so by chance; one below ten nearly
always is. So a number is looked up among the results of operations on any values of the sources, and a match
counts only if few of the neighbours of the number match, too.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from itertools import chain, combinations, pairwise, product
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


Search: TypeAlias = Callable[[float, str | None, float], bool]
"""Whether a value with a unit is there, when both are rounded to a step."""
_MOST_CHANCE: Final = 0.2
"""Largest share of the neighbours that may match: of wrong facts, at most as many pass by chance."""
_NEIGHBOURS: Final = 20
_REACH: Final = 0.25
"""Distance of the farthest neighbour, as a share of the number."""
_FEWEST: Final = 5
_MOST_SEARCHED: Final = 200
_MOST_PAIRED: Final = 60
_MOST_IN_TWO_STEPS: Final = 25
_MOST_TERMS: Final = 12
"""Values whose partial sums are all looked at."""
_MOST_FACTORS: Final = 6
_HALF: Final = 0.5000001
_FEWEST_DIGITS: Final = 3
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
    pairs = combinations(listed, 2) if len(listed) <= _MOST_PAIRED else ()
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
    for record in records[:_MOST_SEARCHED]:
        own = _list_distinct(record.values)[:_MOST_PAIRED]
        around = by_path.get(record.path[:-1]) or by_path.get(record.path[:-2])
        outer = _list_distinct(around.values)[:_MOST_PAIRED] if around else []
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
    same = [other for other in stated if _FEWEST_DIGITS <= len(other) == len(digits)]
    changes = [[pair for pair in zip(digits, other, strict=True) if pair[0] != pair[1]] for other in same]
    return any(len(pairs) == 1 or pairs[:1] == [pair[::-1] for pair in pairs[1:]] for pairs in changes)
