"""Finds the facts of an output that stand in no source, and do not follow from one by one operation."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate, islice
from typing import Final

from evaluation.facts.dates import MONTH, Clock, Day, write_durations
from evaluation.facts.derived_numbers import (
    build_searches,
    derive_values,
    is_likely,
    is_near_miss,
    is_rounded,
    read_digits,
)
from evaluation.facts.fact_reading import Fact, read_facts
from evaluation.facts.field_records import (
    DAY_SECONDS,
    LARGEST,
    MOMENTS,
    Operand,
    Record,
    list_readings,
    read_moment,
    read_records,
    read_source,
    read_values,
)
from evaluation.facts.lost_facts import read_alike
from evaluation.facts.units import COUNTED, agree_units, find_base_unit, is_money, scale_unit
from evaluation.texts.normal import normalize_text, split_words
from evaluation.texts.numbers import spell_in_digits

_ABOUT: Final = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|close to|some|over|under|more than"
    r"|less than|etwa|rund|ungefähr|circa|ca\.?|knapp|fast|über|unter|mehr als|weniger als|~|≈)"
    r"\s*[€$£]?\s*[-−]?\Z",
    re.IGNORECASE,
)
_HALF_DAY: Final = 12
_HOUR: Final = 3600
_MOST_PLACES: Final = 9
_CENTS: Final = -2
"""The exponent of an amount that is written with cents."""


def follows_from(fact: Fact, values: Collection[Operand], output: str) -> bool:
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
    # A field of 1250 may count the cents of 12.50.
    cents = [
        Operand(each.value.scaleb(2), "cent")
        for each in readings
        if is_money(each.unit) or (each.unit is None and each.value.as_tuple().exponent == _CENTS)
    ]
    # A field without a unit may count the grams of a kilogram.
    bases = [
        Operand(each.value * base[1], base[0]) for each in readings if (base := find_base_unit(each.unit))
    ]
    return [*readings, *spans, *cents, *bases]


def list_steps(fact: Fact, output: str) -> Iterator[tuple[float, str | None, float, float]]:
    """Yields each value of a fact with its unit, what its last digit counts, and its last digit but zeros."""
    moments = [each for each in list_readings(fact) if each.unit in MOMENTS]
    for value, unit, _ in [*_list_written(fact), *moments]:
        if unit in MOMENTS or fact.kind == "time":
            is_lap = unit == "s" and value < _HOUR
            step = float(DAY_SECONDS if unit == "date" else 1 if is_lap else 60)
            round_to = [step * size for size in (60, 5, 1) if unit != "date" and not value % int(step * size)]
            yield float(value), unit, step, max(round_to, default=step)
        elif abs(value) < LARGEST:
            step, grain = (_find_place(each) for each in (value, value.normalize()))
            yield abs(float(value)), unit, grain if _is_about(fact, output) else step, grain


def _find_place(value: Decimal) -> float:
    return 10.0 ** max(int(value.as_tuple().exponent), -_MOST_PLACES)


def agree_facts(fact: Fact, other: Fact) -> bool:
    """Returns whether two facts may say the same, in any of their notations."""
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
    places = find_places(fact, output)
    return any(_ABOUT.search(output[max(0, at.start() - _REACH) : at.start()]) for at in places)


def find_places(fact: Fact, output: str) -> Iterator[re.Match[str]]:
    """Yields the places where an output writes a fact."""
    return re.finditer(rf"(?<![\w.,]){re.escape(fact.shown)}", output)


MAX_SOURCES: Final = 100_000
"""Most characters of all sources whose facts are read."""
_MARKER: Final = re.compile(r"^[ \t>]*(?:(?:step )?\d{1,3}[.):]|[-*•])[ \t]+", re.MULTILINE | re.IGNORECASE)
_QUOTATION: Final = re.compile(r"[\"“„«]([^\"“”„«»\n]{8,400})[\"”“»]")
_REACH: Final = 20
_DIGITS: Final = re.compile(r"\D")
_CLOCK_DIGITS: Final = 4
_SEPARATOR: Final = re.compile(r"(?<=\d)[ ./()-]+(?=\d)")
_RUN: Final = re.compile(r"(?<!\w)\d[\d ./()-]{5,}\d(?![\d:.,]*\d)")
"""Matches what may be a telephone number."""
_NEAR_MONTH: Final = re.compile(rf"\b(?:{MONTH})\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\d{1,15}")
_ORDINAL: Final = re.compile(r"(?:st|nd|rd|th)\b|\.(?=[ ,;)]|\Z)")
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
_MOST_ROUNDS: Final = 4
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
    text = write_durations(_RUN.sub(known.leave_out_run, _MARKER.sub("", output)))
    facts = [fact for fact in read_facts(text).facts if fact.is_vital]
    text = spell_in_digits(text)[0]
    unknown = [
        fact for fact in dict.fromkeys(facts) if not (_is_small(fact, output) or known.has(fact, text))
    ]
    values = [*known.list_values(), Operand(Decimal(len(_MARKER.findall(output))))] if unknown else []
    unknown = [fact for fact in unknown if not follows_from(fact, values, text)][:_MOST_UNKNOWN]
    # What is known by now may explain the rest: the share of a sum that the answer states.
    for _ in range(_MOST_ROUNDS if unknown else 0):
        before = unknown
        stated = read_values(fact for fact in facts if fact not in unknown)
        derived = {*islice(derive_values(known.records, known.asked, stated), _MOST_DERIVED)}
        unknown = [fact for fact in unknown if not follows_from(fact, derived, text)]
        unknown = known.leave_out_likely(unknown, [fact for fact in facts if fact not in unknown], text)
        if len(unknown) in (0, len(before)):
            break
    found = [Unsourced(fact.shown, known.describe(fact)) for fact in unknown]
    return [*found, *(Unsourced(text, "") for text in _find_quotations(output, sources))]


@dataclass(frozen=True, slots=True)
class _Known:
    facts: list[tuple[Fact, str]]
    """Each fact of the sources, and the tool that stated it."""
    records: list[Record]
    asked: list[Operand]
    """The values in the task and in other short texts that no tool returned."""
    text: str
    """The sources in lower case."""
    digits: str
    """The digits of the sources, without what separates those of one telephone number."""

    def has(self, fact: Fact, output: str) -> bool:
        digits = _DIGITS.sub("", fact.shown)
        name = digits if fact.kind == "time" else fact.shown.casefold()
        is_name = fact.kind == "identifier" or (fact.kind == "time" and len(digits) == _CLOCK_DIGITS)
        if is_name and re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", self.text):
            return True
        # An account number in groups, and the last digits of one.
        plain = digits if fact.kind == "number" else _SEPARATOR.sub("", name)
        is_part = fact.kind in ("number", "identifier") and len(digits) >= _LONG and plain in self.digits
        is_stated = is_part or any(agree_facts(fact, other) for other, _ in self.facts)
        return is_stated or self._has_day(fact, output)

    def leave_out_run(self, match: re.Match[str]) -> str:
        """Leaves out a telephone number that stands in a source, perhaps with other separators."""
        return " " if _SEPARATOR.sub("", match[0]) in self.digits else match[0]

    def _has_day(self, fact: Fact, output: str) -> bool:
        """Returns whether a fact is the 23rd, or "to 15" after a date, and a stated date has that day."""
        days = {
            value.day for fact, _ in self.facts for value in fact.value.readings if isinstance(value, Day)
        }
        places = find_places(fact, output) if not days.isdisjoint(fact.value.readings) else ()
        return any(
            _ORDINAL.match(output, place.end())
            or _NEAR_MONTH.search(output[max(0, place.start() - _REACH) : place.end() + _REACH])
            for place in places
        )

    def list_values(self) -> list[Operand]:
        """Lists the numbers, those of years and of names too, and the times that may be durations."""
        values = [each for fact, _ in self.facts for each in list_readings(fact)]
        days = [each for fact, _ in self.facts for each in fact.value.readings if isinstance(each, Day)]
        names = [fact.shown for fact, _ in self.facts if fact.kind == "identifier"]
        digits = _NUMBER.findall(" ".join([*names, *(str(day.year) for day in days)]))
        return [
            *(each for each in values if each.unit not in MOMENTS),
            *(Operand(each.value, "s") for each in values if each.unit == "time"),
            *(Operand(Decimal(each)) for each in digits),
        ]

    def leave_out_likely(self, unknown: Sequence[Fact], known: Sequence[Fact], output: str) -> list[Fact]:
        """Leaves out the facts that follow from any values of the sources, and hardly by chance."""
        shown = {read_digits(fact.shown) for fact, _ in self.facts}
        missed = [fact for fact in unknown if is_near_miss(read_digits(fact.shown), shown)]
        left = [fact for fact in unknown if fact not in missed]
        results = read_values(fact for fact, tool in self.facts if tool)
        searches = build_searches(self.records, [*read_values(known), *self.asked], results)
        for tried in accumulate([search] for search in searches) if left else ():
            left = [
                fact
                for fact in left
                if not any(is_likely(tried, *written) for written in list_steps(fact, output))
            ]
            if not left:
                break
        return [*missed, *left]

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
    values = read_values(read_facts("\n".join(asked)).facts)
    return _Known(facts, records, values, text.casefold(), _SEPARATOR.sub("", text.casefold()))


def _is_small(fact: Fact, output: str) -> bool:
    """Returns whether a fact is a small number in words of hours or of days, which a reader counts."""
    numbers = [value for value in fact.value.readings if isinstance(value, Decimal) and value <= _SMALL]
    is_counted = fact.value.unit in COUNTED or (fact.value.unit is None and fact.around[:1] in _AT)
    return is_counted and bool(numbers) and not re.search(rf"\b{numbers[0]}\b", output)


def _find_quotations(output: str, sources: Sequence[Source]) -> Iterator[str]:
    stated = [" ".join(split_words(normalize_text(source.text))) for source in sources]
    for match in _QUOTATION.finditer(output):
        words = split_words(match[1])
        if len(words) >= _LEAST_WORDS and not any(" ".join(words) in text for text in stated):
            yield match[0]
