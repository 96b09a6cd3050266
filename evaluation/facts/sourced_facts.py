"""Finds the facts of an output that stand in no source, and do not follow from one by one operation."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from evaluation.facts.dates import Day
from evaluation.facts.derived_numbers import derive_numbers, is_rounded, list_groups, list_lengths, list_spans
from evaluation.facts.fact_reading import Fact, read_facts
from evaluation.facts.lost_facts import read_alike
from evaluation.facts.tables import separate_cells
from evaluation.facts.units import agree_units
from evaluation.texts.normal import normalize_text, split_words

MAX_SOURCES: Final = 100_000
"""Most characters of all sources whose facts are read."""
_MARKER: Final = re.compile(r"^[ \t>]*(?:\d{1,3}[.)]|[-*•])[ \t]+", re.MULTILINE)
_QUOTATION: Final = re.compile(r"[\"“„«]([^\"“”„«»\n]{8,400})[\"”“»]")
_ABOUT: Final = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|close to|some|over|under|more than"
    r"|less than|etwa|rund|ungefähr|circa|ca\.?|knapp|fast|über|unter|mehr als|weniger als|~|≈)"
    r"\s*[€$£]?\s*\Z",
    re.IGNORECASE,
)
_REACH: Final = 20
_DIGITS: Final = re.compile(r"\D")
_SEPARATOR: Final = re.compile(r"(?<=\d)[ ./()-]+(?=\d)")
_NUMBER: Final = re.compile(r"\d{1,15}")
_LONG: Final = 5
"""Digits of a number that may be a part of a telephone number or of an account."""
_LEAST_WORDS: Final = 3
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
    facts = [fact for fact in read_facts(_MARKER.sub("", output)).facts if fact.is_vital]
    first = [fact for fact in dict.fromkeys(facts) if not known.has(fact, output)]
    # "18 450 of 30 375, or 61 %": the answer states the sum that its share is of.
    stated = [number for fact in facts if fact not in first for number in _list_numbers(fact)]
    further = replace(known, derived=[*known.derived, *derive_numbers(dict.fromkeys(stated), [])])
    unknown = [fact for fact in first if not further.has(fact, output)]
    found = [Unsourced(fact.shown, known.describe(fact)) for fact in unknown]
    return [*found, *(Unsourced(text, "") for text in _find_quotations(output, sources))]


@dataclass(frozen=True, slots=True)
class _Known:
    facts: list[tuple[Fact, str]]
    """Each fact of the sources, and the tool that stated it."""
    numbers: list[Decimal]
    derived: list[Decimal]
    digits: str
    """The digits of the sources, without what separates those of one telephone number."""

    def has(self, fact: Fact, output: str) -> bool:
        if any(_agree(fact, other) for other, _ in self.facts):
            return True
        written = _list_numbers(fact)
        if not written:
            return False
        is_about = _is_about(fact, output)
        if _DIGITS.sub("", fact.shown) in self.digits and len(_DIGITS.sub("", fact.shown)) >= _LONG:
            return True
        counted = Decimal(len(_MARKER.findall(output)))
        values = [counted, *self.numbers, *self.derived]
        # "4 degrees below zero" is -4.
        return any(
            is_rounded(abs(number), abs(value), is_about=is_about) for number in written for value in values
        )

    def describe(self, fact: Fact) -> str:
        same = [(other.shown, tool) for other, tool in self.facts if other.kind == fact.kind and tool]
        if not same:
            return ""
        tool = same[-1][1]
        shown = list(dict.fromkeys(text for text, name in same if name == tool))
        return f"{tool} says {', '.join(shown[:_SHOWN])}{', ...' if len(shown) > _SHOWN else ''}"


def _read_sources(sources: Sequence[Source]) -> _Known:
    read = [(read_facts(separate_cells(source.text)), source.tool) for source in sources]
    facts = [(fact, tool) for found, tool in read for fact in found.facts]
    numbers = [number for fact, _ in facts for number in _list_numbers(fact)]
    readings = [value for fact, _ in facts for value in fact.value.readings]
    years = [Decimal(day.year) for day in readings if isinstance(day, Day) and day.year is not None]
    names = [fact.shown for fact, _ in facts if fact.kind == "identifier"]
    parts = [Decimal(digits) for name in names for digits in _NUMBER.findall(name)]
    groups = [group for source in sources for group in list_groups(source.text)]
    lengths = [length for source in sources if source.tool for length in list_lengths(source.text)]
    derived = [*derive_numbers([*numbers, *lengths], groups), *list_spans(readings)]
    joined = " ".join(_SEPARATOR.sub("", source.text) for source in sources)
    return _Known(facts, [*numbers, *years, *parts, *lengths], derived, joined)


def _list_numbers(fact: Fact) -> list[Decimal]:
    return [value for value in fact.value.readings if isinstance(value, Decimal)]


def _agree(fact: Fact, other: Fact) -> bool:
    return agree_units(fact.value.unit, other.value.unit) and any(
        read_alike(first, second) for first in fact.value.readings for second in other.value.readings
    )


def _is_about(fact: Fact, output: str) -> bool:
    at = output.find(fact.shown)
    return at >= 0 and _ABOUT.search(output[max(0, at - _REACH) : at]) is not None


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
