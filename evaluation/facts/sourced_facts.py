"""Finds the facts of an output that stand in no source, and do not follow from one by one operation."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Final

from evaluation.facts.dates import Clock, Day
from evaluation.facts.derived_numbers import derive_values, find_marks, is_rounded
from evaluation.facts.durations import write_durations
from evaluation.facts.fact_reading import Fact, read_facts
from evaluation.facts.lost_facts import read_alike
from evaluation.facts.records import (
    MOMENTS,
    Operand,
    Record,
    list_readings,
    read_moment,
    read_records,
    read_source,
    read_values,
)
from evaluation.facts.units import COUNTED, agree_units, scale_unit
from evaluation.texts.normal import normalize_text, split_words

MAX_SOURCES: Final = 100_000
"""Most characters of all sources whose facts are read."""
_MARKER: Final = re.compile(r"^[ \t>]*(?:(?:step )?\d{1,3}[.):]|[-*•])[ \t]+", re.MULTILINE | re.IGNORECASE)
_QUOTATION: Final = re.compile(r"[\"“„«]([^\"“”„«»\n]{8,400})[\"”“»]")
_ABOUT: Final = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|close to|some|over|under|more than"
    r"|less than|etwa|rund|ungefähr|circa|ca\.?|knapp|fast|über|unter|mehr als|weniger als|~|≈)"
    r"\s*[€$£]?\s*[-−]?\Z",
    re.IGNORECASE,
)
_REACH: Final = 20
_DIGITS: Final = re.compile(r"\D")
_CLOCK_DIGITS: Final = 4
_SEPARATOR: Final = re.compile(r"(?<=\d)[ ./()-]+(?=\d)")
_NUMBER: Final = re.compile(r"\d{1,15}")
_ORDINAL: Final = re.compile(r"(?:st|nd|rd|th)\b|\.(?=[ ,;)]|\Z)")
_HALF_DAY: Final = 12
_SMALL: Final = 12
_AT: Final = [
    (word,) for word in ("at", "by", "from", "until", "to", "past", "um", "bis", "ab", "von", "nach", "vor")
]
"""The words before an hour in words."""
_LONG: Final = 5
"""Digits of a number that may be a part of a telephone number or of an account."""
_LONGEST_TASK: Final = 1_000
_LEAST_WORDS: Final = 3
_MOST_DERIVED: Final = 50_000
_MOST_UNKNOWN: Final = 50
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Source:
    """A text that an output may take its facts from; ``tool`` is the name of the tool that returned it."""

    text: str
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Unsourced:
    """A fact without a source; ``stated`` says which facts of its kind the results state."""

    shown: str
    stated: str


def find_unsourced(output: str, sources: Sequence[Source]) -> list[Unsourced]:
    """Finds the numbers, dates, times, identifiers, addresses and quotations that have no source.

    Numbers of list items, counts of the listed items, weekdays, abbreviations, names and prose are no facts.

    Raises:
        ValueError: The sources have more than ``MAX_SOURCES`` characters.
    """
    if sum(len(source.text) for source in sources) > MAX_SOURCES:
        raise ValueError(f"the sources have more than {MAX_SOURCES} characters")
    known = _read_sources(sources)
    text = write_durations(_MARKER.sub("", output))
    facts = [fact for fact in read_facts(text).facts if fact.is_vital]
    unknown = [
        fact for fact in dict.fromkeys(facts) if not (_is_small(fact, output) or known.has(fact, text))
    ]
    values = [*known.list_values(), Operand(Decimal(len(_MARKER.findall(output))))] if unknown else []
    unknown = [fact for fact in unknown if not _follows(fact, values, text)][:_MOST_UNKNOWN]
    # "18 450 of 30 375, or 61 %": the second time, the answer states the sum that its share is of.
    for _ in range(2 if unknown else 0):
        stated = read_values(fact for fact in facts if fact not in unknown)
        derived = {*islice(known.derive(stated, text), _MOST_DERIVED)}
        unknown, before = [fact for fact in unknown if not _follows(fact, derived, text)], len(unknown)
        if len(unknown) == before:
            break
    found = [Unsourced(fact.shown, known.describe(fact)) for fact in unknown]
    return [*found, *(Unsourced(text, "") for text in _find_quotations(output, sources))]


@dataclass(frozen=True, slots=True)
class _Known:
    facts: list[tuple[Fact, str]]
    """Each fact of the sources, and the tool that stated it."""
    records: list[Record]
    asked: str
    """The task and other short texts that no tool returned."""
    text: str
    """The sources in lower case."""
    digits: str
    """The digits of the sources, without what separates those of one telephone number."""

    def has(self, fact: Fact, output: str) -> bool:
        digits = _DIGITS.sub("", fact.shown)
        if fact.kind == "identifier" or (fact.kind == "time" and len(digits) == _CLOCK_DIGITS):
            name = digits if fact.kind == "time" else fact.shown.casefold()
            if re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", self.text):
                return True
        is_part = fact.kind == "number" and len(digits) >= _LONG and digits in self.digits
        return is_part or any(_agree(fact, other) for other, _ in self.facts) or self._has_day(fact, output)

    def _has_day(self, fact: Fact, output: str) -> bool:
        """Returns whether a fact is the 23rd, and a stated date is one of a 23rd."""
        days = {
            value.day for fact, _ in self.facts for value in fact.value.readings if isinstance(value, Day)
        }
        places = _find_places(fact, output) if not days.isdisjoint(fact.value.readings) else ()
        return any(_ORDINAL.match(output, place.end()) for place in places)

    def list_values(self) -> list[Operand]:
        """Lists the numbers, those of years and of names too."""
        values = [each for fact, _ in self.facts for each in list_readings(fact) if each.unit not in MOMENTS]
        readings = [value for fact, _ in self.facts for value in fact.value.readings]
        years = [str(day.year) for day in readings if isinstance(day, Day)]
        names = [fact.shown for fact, _ in self.facts if fact.kind == "identifier"]
        return [
            *values,
            *(Operand(Decimal(digits)) for digits in _NUMBER.findall(" ".join([*names, *years]))),
        ]

    def derive(self, stated: Sequence[Operand], output: str) -> Iterator[Operand]:
        """Derives values from those that belong together, or that the answer and the task state."""
        asked = read_facts(self.asked).facts
        readings = [value for fact in [*asked, *read_facts(output).facts] for value in fact.value.readings]
        # As a record writes them: 2026-03-05 and 15:00.
        days = [f"{day.month:02}-{day.day:02}" for day in readings if isinstance(day, Day) and day.day]
        times = [f"{time.hour:02}:{time.minute:02}" for time in readings if isinstance(time, Clock)]
        marks = {*find_marks(f"{output}\n{self.asked}"), *readings, *days, *times}
        return derive_values(self.records, read_values(asked), stated, marks)

    def describe(self, fact: Fact) -> str:
        same = [(other.shown, tool) for other, tool in self.facts if other.kind == fact.kind and tool]
        if not same:
            return ""
        tool = same[-1][1]
        shown = list(dict.fromkeys(text for text, name in same if name == tool))
        return f"{tool} says {', '.join(shown[:_SHOWN])}{', ...' if len(shown) > _SHOWN else ''}"


def _read_sources(sources: Sequence[Source]) -> _Known:
    facts: list[tuple[Fact, str]] = []
    records: list[Record] = []
    asked: list[str] = []
    for at, source in enumerate(sources):
        read = read_records(source.text, (at,))
        facts += [(fact, source.tool) for fact in read_source(source.text, read)]
        if source.tool or len(source.text) > _LONGEST_TASK or not (read and read[0].is_prose):
            records += read
        else:
            asked.append(_MARKER.sub("", source.text))
    text = "\n".join(source.text for source in sources)
    return _Known(facts, records, "\n".join(asked), text.casefold(), _SEPARATOR.sub("", text))


def _is_small(fact: Fact, output: str) -> bool:
    """Returns whether a fact is a small number in words of hours or of days, which a reader counts."""
    numbers = [value for value in fact.value.readings if isinstance(value, Decimal) and value <= _SMALL]
    is_counted = fact.value.unit in COUNTED or (fact.value.unit is None and fact.around[:1] in _AT)
    return is_counted and bool(numbers) and not re.search(rf"\b{numbers[0]}\b", output)


def _follows(fact: Fact, values: Collection[Operand], output: str) -> bool:
    """Returns whether a fact is one of the values, perhaps rounded, or in another unit."""
    is_about = _is_about(fact, output)
    return any(
        read_alike(written, reading)
        for value in values
        if value.unit in MOMENTS
        for written in fact.value.readings
        for reading in read_moment(value)
    ) or any(
        # "4 degrees below zero" is -4, and nobody rounds an hour and a half to two hours without a word.
        is_rounded(abs(written), abs(number), is_about=is_about)
        and (value.unit != "s" or is_about or written % 1 or written == number)
        for written, unit, _ in _list_written(fact)
        for value in values
        if value.unit not in MOMENTS and (value.unit != "%" or unit == "%")
        for number in [scale_unit(value.value, value.unit, unit)]
        if number is not None
    )


def _list_written(fact: Fact) -> list[Operand]:
    readings = [each for each in list_readings(fact) if each.unit not in MOMENTS]
    # 2:25 may be hours and minutes, or minutes and seconds.
    spans = [
        Operand(each.value / size, "s")
        for each in list_readings(fact)
        if each.unit == "time"
        for size in (1, 60)
    ]
    return [*readings, *spans]


def _agree(fact: Fact, other: Fact) -> bool:
    return agree_units(fact.value.unit, other.value.unit) and any(
        read_alike(first, second)
        for reading in fact.value.readings
        for first in _list_hours(fact, reading)
        for second in other.value.readings
    )


def _list_hours(fact: Fact, reading: Hashable) -> Iterator[Hashable]:
    """Yields what a reading may stand for: "half past two" may be 14:30, and "14 Uhr" the 14 of a column."""
    yield reading
    if isinstance(reading, Clock):
        is_open = reading.hour <= _HALF_DAY and not fact.shown.lower().endswith(("m", "m."))
        yield from [reading._replace(hour=(reading.hour + _HALF_DAY) % 24)] if is_open else []
        yield from [Decimal(reading.hour)] if reading.minute == 0 else []


def _is_about(fact: Fact, output: str) -> bool:
    places = _find_places(fact, output)
    return any(_ABOUT.search(output[max(0, at.start() - _REACH) : at.start()]) for at in places)


def _find_places(fact: Fact, output: str) -> Iterator[re.Match[str]]:
    return re.finditer(rf"(?<![\w.,]){re.escape(fact.shown)}", output)


def _find_quotations(output: str, sources: Sequence[Source]) -> Iterator[str]:
    stated = [" ".join(split_words(normalize_text(source.text))) for source in sources]
    for match in _QUOTATION.finditer(output):
        words = split_words(match[1])
        if len(words) >= _LEAST_WORDS and not any(" ".join(words) in text for text in stated):
            yield match[0]


_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_VOWELS: Final = "aeiou"
_DOER: Final = r"\b(?:i|we)(?:['’]ve| have)?"
_DONE: Final = r"\b(?:has|have|was|were)(?: been)?"
_BETWEEN: Final = r"(?: (?:now|just|also|already|successfully))?"
_LEAST_LETTERS: Final = 3


def find_claimed_actions(output: str, tools: Collection[str], answered: Collection[str]) -> list[str]:
    """Finds the tools whose action an output claims, although no call of them was answered.

    A claim is the past form of the verb that a tool's name begins with, in the first person or the passive
    perfect: "I refunded", "the order has been refunded" for the tool ``refund_order``. A tool that was
    answered and has the same verb stands for the claim.

    Args:
        output: The output.
        tools: The names of the tools that the executor has.
        answered: The names of those that were called and answered without an error.
    """
    done = {_read_verb(name) for name in answered}
    idle = {name: verb for name in tools if (verb := _read_verb(name)) and verb not in done}
    return [name for name, verb in idle.items() if _claims(output, verb)]


def _read_verb(name: str) -> str:
    words = _WORD.findall(name)
    return words[0].lower() if words and len(words[0]) >= _LEAST_LETTERS else ""


def _claims(output: str, verb: str) -> bool:
    forms = "|".join(map(re.escape, _list_past_forms(verb)))
    return re.search(rf"(?:{_DOER}|{_DONE}){_BETWEEN} (?:{forms})\b", output, re.IGNORECASE) is not None


def _list_past_forms(verb: str) -> Iterator[str]:
    """Yields the forms that the past of a verb may have, by the rules of spelling."""
    stem, end = verb[:-1], verb[-1]
    yield f"{stem}ed" if end == "e" else f"{verb}ed"
    if end == "y":
        yield from (f"{stem}ied", f"{stem}id")
    if end == "d":
        yield f"{stem}t"
    if end not in _VOWELS:
        yield f"{verb}{end}ed"
