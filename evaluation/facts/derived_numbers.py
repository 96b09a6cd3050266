"""Derives numbers and times by one operation from values that belong together."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from decimal import ROUND_HALF_UP, Decimal
from itertools import combinations, pairwise, product
from typing import Final, TypeAlias

from evaluation.facts.records import DAY_SECONDS, LARGEST, MOMENTS, YEAR_SECONDS, Operand, Record
from evaluation.facts.units import agree_units, is_measured, is_money, scale_unit
from evaluation.texts.normal import split_words

_Pairs: TypeAlias = Iterator[tuple[Operand, Operand]]
_MOST_RECORDS: Final = 20
_MOST_VALUES: Final = 40
"""Beyond so many values, two of them make nearly every number by chance."""
_LEAST_DIGITS: Final = 2
"""Significant digits that a rounded number keeps, unless a word says that it is rounded."""
_NEAR: Final = Decimal("0.25")
"""Most that a rounded number is off, as a share: 1287 is about 1000."""
_SHORTEST_MARK: Final = 4
_MARK: Final = re.compile(r"(?<=-)\d\d-\d\d\b|\d\d:\d\d|[\w-]*[^\W\d_][\w-]*\d[\w-]*")
"""Matches the day of a date, a time, and a name with digits."""


def derive_values(
    records: Iterable[Record],
    asked: Sequence[Operand],
    stated: Sequence[Operand],
    marks: Set[Hashable],
) -> Iterator[Operand]:
    """Yields the results of one operation.

    Two values of one record may be combined; two of one field, if the answer or the task names both records,
    or one of two neighbours; and any two that the answer or the task states.

    Args:
        records: The records of the sources.
        asked: The values in the task.
        stated: The values in the answer that have a source.
        marks: The words and values of the answer and of the task, by which they name records.
    """
    records = [*records]
    lists: defaultdict[tuple[int, ...], list[Record]] = defaultdict(list)
    for record in records:
        lists[record.path[:-1]].append(record)
    leaves = {leaf for group in lists.values() for record in group for _, leaf in record.leaves}
    named_by = {leaf: own for leaf in leaves if (own := find_marks(leaf) & marks)}
    yield from _aggregate(_group_by_fields(records))
    known: list[Operand] = []
    for path, group in lists.items():
        # The results stand in no list.
        named = _choose_named(group, named_by) if path else group
        yield from _aggregate([group, named, *_group_by_text(group, named_by)])
        known += [each for record in named[:_MOST_RECORDS] for each in record.list_values()]
        for first, second in _pair_values(group, named) if len(named) <= _MOST_RECORDS else ():
            yield from _combine(first, second, is_stated=False)
    asked, stated, known = asked[:_MOST_VALUES], stated[:_MOST_VALUES], known[: _MOST_RECORDS * _MOST_VALUES]
    for first, second in [*product(asked, [*asked, *known, *stated]), *combinations(stated, 2)]:
        yield from _combine(first, second, is_stated=True)
    for first, second in product(stated, known):
        yield from _apply(first, second)


def _apply(first: Operand, second: Operand) -> Iterator[Operand]:
    """Yields what a stated value makes of one that only a result states: 40 % of it, or a week before it."""
    if len({first.unit, second.unit} & MOMENTS) == 1:
        yield from _combine(first, second, is_stated=True)
    elif "%" in (first.unit, second.unit) and first.unit != second.unit:
        yield Operand(first.value * second.value / 100, second.unit if first.unit == "%" else first.unit)
    elif is_measured(first.unit) and first.unit == second.unit:
        yield Operand(first.value - second.value, first.unit)


def _group_by_fields(records: Iterable[Record]) -> Iterable[list[Record]]:
    """Groups the records of one result with the same fields: the cabin of each sailing."""
    groups: defaultdict[Hashable, list[Record]] = defaultdict(list)
    for record in records:
        groups[record.path[0], tuple(name for name, _ in record.leaves)].append(record)
    return [group for group in groups.values() if len({record.path[:-1] for record in group}) > 1]


def _choose_named(group: Sequence[Record], named_by: Mapping[object, Set[Hashable]]) -> Sequence[Record]:
    """Returns the records with a value that the answer or the task names, and not all of them have."""
    seen = [
        frozenset(mark for _, leaf in record.leaves if leaf in named_by for mark in named_by[leaf])
        for record in group
    ]
    common = frozenset.intersection(*seen) if len(group) > 1 else frozenset()
    return [record for record, own in zip(group, seen, strict=True) if own - common] or group


def _group_by_text(group: Sequence[Record], named_by: Collection[object]) -> Iterable[list[Record]]:
    """Groups the records by the texts that the answer or the task names: all orders that are open."""
    groups: defaultdict[object, list[Record]] = defaultdict(list)
    for record in group:
        for leaf in {leaf for _, leaf in record.leaves if isinstance(leaf, str) and leaf in named_by}:
            groups[leaf].append(record)
    return groups.values()


def find_marks(value: object) -> set[Hashable]:
    """Finds the words and names of a text by which another text may name it; a number names itself."""
    if not isinstance(value, str):
        return {value}
    words = split_words(value)
    names = {f"{word} {digits}" for word, digits in pairwise(words) if digits.isdigit()}
    long = {word for word in words if len(word) >= _SHORTEST_MARK and not word.isdigit()}
    return {*names, *long, *map(str.casefold, _MARK.findall(value))}


def _aggregate(groups: Iterable[Sequence[Record]]) -> Iterator[Operand]:
    """Yields the count of each group, and the count, sum and mean of the values whose fields share a word."""
    for group in groups:
        yield Operand(Decimal(len(group)))
        columns: defaultdict[str, list[Operand]] = defaultdict(list)
        for each in (
            value for record in group for value in record.list_values() if value.unit not in MOMENTS
        ):
            for name in each.names:
                columns[name].append(each)
        for column in columns.values():
            total = sum((each.value for each in column), Decimal())
            yield Operand(Decimal(len(column)))
            yield from (Operand(value, column[0].unit) for value in (total, total / len(column)))


def _pair_values(group: Sequence[Record], named: Sequence[Record]) -> _Pairs:
    paths = {record.path for record in named}
    places = [at for at, record in enumerate(group) if record.path in paths]
    near = sorted({near for at in places for near in range(max(0, at - 1), min(len(group), at + 2))})
    values = {at: group[at].list_values()[:_MOST_VALUES] for at in near}
    for at in places:
        yield from combinations(values[at], 2)
    for at, place in combinations(near, 2):
        is_next, both = place - at == 1, {group[at].path, group[place].path} <= paths
        for first, second in product(values[at], values[place]) if is_next or both else ():
            is_time = is_next and first.unit in MOMENTS
            if (
                is_time
                or first.names & second.names
                or (is_measured(first.unit) and first.unit == second.unit)
            ):
                yield first, second


def _combine(first: Operand, second: Operand, *, is_stated: bool) -> Iterator[Operand]:
    """Yields what one operation makes of two values; their units decide which operations make sense."""
    for one, other in ((first, second), (second, first)):
        if {one.unit, other.unit} & MOMENTS:
            yield from _shift_moment(one, other)
        else:
            yield from _calculate(one, other, is_stated=is_stated)


def _calculate(first: Operand, second: Operand, *, is_stated: bool) -> Iterator[Operand]:
    a, b, unit = first.value, second.value, first.unit or second.unit
    if agree_units(first.unit, second.unit) and (
        is_stated or is_measured(first.unit) == is_measured(second.unit)
    ):
        # 81 % less 48 % are 33 points.
        yield from (Operand(value, None if unit == "%" else unit) for value in (a + b, a - b))
        yield from (Operand(value, "%") for value in (a / b * 100, a / b * 100 - 100)) if b else ()
    is_rate = is_measured(first.unit) or "per" in first.names or is_stated
    is_priced = is_money(first.unit) and not is_money(second.unit)
    if is_rate and (is_priced or not is_measured(second.unit) or (is_stated and first.unit != second.unit)):
        yield Operand(a * b / (100 if second.unit == "%" else 1), first.unit)
    if b and (is_stated or (is_measured(first.unit) and first.unit != second.unit)):
        yield Operand(a / b, first.unit if first.unit != second.unit else None)


def _shift_moment(first: Operand, second: Operand) -> Iterator[Operand]:
    """Yields the time between two points in time, or the one some time before or after another."""
    if first.unit == second.unit:
        span = second.value - first.value
        yield Operand(span % DAY_SECONDS if -DAY_SECONDS < span < 0 else span, "s")
        yield Operand(abs(span) // YEAR_SECONDS, "year")
    elif second.unit and (shift := scale_unit(second.value, second.unit, "s")):
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
