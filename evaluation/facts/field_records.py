"""Reads the records in a text: the objects of JSON, the rows of a table, the sentences of prose."""

from __future__ import annotations

import csv
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from evaluation.facts.dates import Clock, Day, write_durations
from evaluation.facts.fact_reading import Fact, Value, read_facts
from evaluation.facts.units import read_field_unit
from evaluation.texts.json_texts import parse_json

_DELIMITERS: Final = ("\t", "|", "  ", ";", ",")
_OF_PROSE: Final = (";", ",")
"""Prose has them too, so they make a table only if all lines have as many."""
_BLANKS: Final = re.compile(r" {2,}")
_RULE: Final = re.compile(r"[\s|:+=-]*")
_FEWEST_ROWS: Final = 3
"""Two lines of prose may have a comma each."""


def read_tables(text: str) -> tuple[list[list[list[str]]], str]:
    """Reads the rows of each table of a text: three lines or more with as many cells; and the rest."""
    lines = [line for line in text.splitlines() if not _RULE.fullmatch(line)]
    for delimiter in _DELIMITERS:
        rows = [_split_line(line, delimiter) for line in lines]
        groups = [[*group] for _, group in groupby(enumerate(rows), key=lambda each: len(each[1]))]
        tables = [group for group in groups if len(group) >= _FEWEST_ROWS and len(group[0][1]) > 1]
        if tables and (delimiter not in _OF_PROSE or len(groups) == 1):
            taken = {at for group in tables for at, _ in group}
            rest = "\n".join(line for at, line in enumerate(lines) if at not in taken)
            return [[row for _, row in group] for group in tables], rest
    return [], text


def _split_line(line: str, delimiter: str) -> list[str]:
    if delimiter == "  ":
        return _BLANKS.split(line.strip())
    return [cell.strip() for cell in next(csv.reader([line.strip(" |")], delimiter=delimiter), [])]


_SENTENCE_END: Final = re.compile(r"\n+|(?<=[.!?;]) +")
_PLAIN: Final = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
_AMOUNT: Final = re.compile(r"[^\w\s]? ?\d[\d.,'T:+-]*(?: \d\d:\d\d[\d:.]*)?(?: ?[^\W\d_]{1,12}| ?[^\w\s])?")
"""Matches a text that is an amount, a date or a time, and no name."""
_FIELD_WORD: Final = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_LONGEST_PROSE: Final = 4_000
_MOST_ENDS: Final = 3
_HOURS: Final = 24
_LEAP_YEAR: Final = 2000
LARGEST: Final = 10**15
DAY_SECONDS: Final = 86_400
YEAR_SECONDS: Final = 31_556_952
_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_EPOCH_SECONDS: Final = range(10**9, 22 * 10**8)
"""The years 2001 to 2039."""
_EPOCH_MS: Final = 10**12
MOMENTS: Final = frozenset({"date", "time", "moment"})
"""The units of points in time."""


class Operand(NamedTuple):
    """A value with which one may calculate, its unit (None: any), and the words of its field's name.

    A point in time has a unit of ``MOMENTS``, and counts seconds; a date without its year is one of 2000.
    """

    value: Decimal
    unit: str | None = None
    names: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Record:
    """Values that belong together. Records of one list differ in the last part of their path alone.

    The values of a sentence belong together, too: prose is one record, with a leaf for each sentence.
    """

    path: tuple[int, ...]
    leaves: Sequence[tuple[str, object]]
    is_prose: bool = False

    @cached_property
    def values(self) -> Sequence[Operand]:
        """The values with which one may calculate; numbers within longer texts are none."""
        leaves = [(name or f"#{at}", leaf) for at, (name, leaf) in enumerate(self.leaves)]
        return tuple(each for name, leaf in leaves for each in self._read_leaf(name, leaf))

    def _read_leaf(self, name: str, leaf: object) -> list[Operand]:
        words = _split_name(name)
        if isinstance(leaf, Decimal):
            number = Operand(leaf, read_field_unit(words), frozenset(words))
            return [number, *_read_epoch(leaf)]
        is_read = isinstance(leaf, str) and (self.is_prose or _AMOUNT.fullmatch(leaf))
        values = read_values(read_facts(str(leaf)).facts, words) if is_read else []
        return [each._replace(unit=each.unit or read_field_unit(words)) for each in values]


def read_records(text: str, path: tuple[int, ...]) -> list[Record]:
    """Reads the records of a text in order; long prose has no values."""
    if values := parse_json(text)[:1]:
        return sorted(_walk(values[0], path), key=lambda record: record.path)
    tables, rest = read_tables(text)
    records = [record for at, rows in enumerate(tables) for record in _read_rows(rows, (*path, at))]
    sentences = _SENTENCE_END.split(write_durations(rest)) if len(rest) <= _LONGEST_PROSE else []
    prose = Record(
        (*path, len(tables)) if tables else path, [("", each) for each in sentences], is_prose=True
    )
    return [*records, prose] if rest or not records else records


def _read_rows(rows: Sequence[Sequence[str]], path: tuple[int, ...]) -> Iterator[Record]:
    has_head = not any(map(_AMOUNT.fullmatch, rows[0]))
    head = rows[0] if has_head else [""] * len(rows[0])
    for at, row in enumerate(rows[has_head:]):
        cells = [Decimal(cell) if _PLAIN.fullmatch(cell) else cell for cell in row]
        yield Record((*path, at), [*zip(head, cells, strict=True)])


def read_source(text: str, records: Sequence[Record]) -> list[Fact]:
    """Reads the facts of a text with these records; the names of fields say the units of their numbers."""
    if all(record.is_prose for record in records):
        return [*read_facts(text).facts, *read_facts(write_durations(text)).facts]
    leaves = [leaf for record in records for leaf in record.leaves]
    numbers = dict.fromkeys(
        (leaf, read_field_unit(_split_name(name))) for name, leaf in leaves if isinstance(leaf, Decimal)
    )
    texts = dict.fromkeys(each for leaf in leaves for each in leaf if isinstance(each, str))
    facts = [Fact("number", str(value), Value(frozenset([value]), unit)) for value, unit in numbers]
    facts += [
        Fact("date", str(value), Value(frozenset(read_moment(moment))))
        for value, _ in numbers
        for moment in _read_epoch(value)
    ]
    return [*facts, *read_facts(" ;\n".join(texts)).facts]


def _walk(root: object, path: tuple[int, ...]) -> Iterator[Record]:
    waiting = [(path, "", root if isinstance(root, dict | list) else [root])]
    while waiting:
        here, name, value = waiting.pop()
        items = [*_list_fields(value)] if isinstance(value, dict) else [(name, each) for each in value]
        tables = _read_lines(value)
        yield from (each for at, rows in enumerate(tables) for each in _read_rows(rows, (*here, at)))
        leaves = [(key, _read_scalar(each)) for key, each in items if not isinstance(each, dict | list)]
        yield from [Record(here, leaves)] if leaves and not tables else []
        inner = [(key, each) for key, each in items if isinstance(each, dict | list)]
        waiting += [((*here, at), key, each) for at, (key, each) in enumerate(inner)]


def _list_fields(value: dict[str, object]) -> Iterator[tuple[str, object]]:
    """Yields the fields of an object; both ends of a range are two of them."""
    for key, each in value.items():
        ends = each if isinstance(each, list) and len(each) <= _MOST_ENDS else []
        is_range = ends and all(isinstance(end, int | float) for end in ends)
        yield from ((key, end) for end in ends) if is_range else [(key, each)]


def _read_lines(value: Iterable[object]) -> list[list[list[str]]]:
    """Reads the tables in a list of texts."""
    lines = [each for each in value if isinstance(each, str)]
    return read_tables("\n".join(lines))[0] if isinstance(value, list) and len(lines) == len(value) else []


def _read_scalar(value: object) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST
    return Decimal(str(value)) if is_number else value


def _read_epoch(value: Decimal) -> Iterator[Operand]:
    """Reads a number as the seconds or milliseconds since 1970 by which programs write points in time."""
    seconds = int(value / 1000 if value >= _EPOCH_MS else value)
    if value % 1 == 0 and seconds in _EPOCH_SECONDS:
        yield Operand(Decimal(seconds + _EPOCH_DAY * DAY_SECONDS), "moment")


@lru_cache(1024)
def _split_name(name: str) -> tuple[str, ...]:
    return tuple(map(str.lower, _FIELD_WORD.findall(name.partition("/")[0])))


def read_values(facts: Iterable[Fact], names: Iterable[str] = ()) -> list[Operand]:
    """Reads the numbers and points in time; each date with a time if there are as many of both."""
    values = [each._replace(names=each.names.union(names)) for fact in facts for each in list_readings(fact)]
    days, times = ([each for each in values if each.unit == unit] for unit in ("date", "time"))
    if len(days) != len(times):
        return values
    moments = [
        Operand(day.value + time.value, "moment", day.names) for day, time in zip(days, times, strict=True)
    ]
    return [*(each for each in values if each.unit not in MOMENTS), *moments]


def list_readings(fact: Fact) -> Iterator[Operand]:
    """Yields the readings of a fact with which one may calculate."""
    for reading in fact.value.readings:
        # 81 % are no 0.81 here.
        if isinstance(reading, Decimal) and not (
            fact.value.unit == "%" and reading * 100 in fact.value.readings
        ):
            yield Operand(reading, fact.value.unit, frozenset(fact.around))
        if isinstance(reading, Day) and reading.day:
            day = date(reading.year or _LEAP_YEAR, reading.month, reading.day)
            yield Operand(Decimal(day.toordinal() * DAY_SECONDS), "date")
        if isinstance(reading, Clock):
            yield Operand(Decimal(reading.hour * 3600 + reading.minute * 60 + (reading.second or 0)), "time")
            # 47:19 is a score.
            yield from [Operand(Decimal(number)) for number in reading[:2] if reading.hour >= _HOURS]


def read_moment(value: Operand) -> Iterator[Hashable]:
    """Yields the date and the time of a point in time; a date of 2000 may lack its year."""
    days, seconds = divmod(int(value.value), DAY_SECONDS)
    if value.unit != "time" and 0 < days <= date.max.toordinal():
        day = date.fromordinal(days)
        yield Day(None if day.year == _LEAP_YEAR else day.year, day.month, day.day)
    if value.unit != "date":
        yield Clock(seconds // 3600, seconds % 3600 // 60, seconds % 60)
