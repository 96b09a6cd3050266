"""A fact that contradicts its source: another value, unit, currency or sign than the tools gave."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import product
from typing import Final

from agents.parsing.tool_names import split_name
from evaluation.defects.evidence import DefectFinding, Evidence, EvidenceCall, EvidenceTurn, list_leaves
from evaluation.texts.fact_reading import Day, Fact, read_facts, read_typed
from evaluation.texts.normal import split_stated
from evaluation.texts.numbers import (
    CURRENCIES,
    agree_units,
    is_measured,
    is_money,
    read_field_unit,
    scale_unit,
)

_RULE: Final = "contradicted_fact"
_NUMBER: Final = re.compile(
    r"(\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:\s?([kmbt])(?![^\W_]))?", re.IGNORECASE
)
_SIZES: Final = {"": 0, "k": 3, "m": 6, "b": 9, "t": 12}
_MARKER: Final = re.compile(r"^\s*(?:[-*\u2022]|\(?\d{1,3}[.):])\s+")
_NATION: Final = re.compile(r"\bU\.?S\.?[ -]?(?=dollars?\b|\$)", re.IGNORECASE)
_SCALED: Final = re.compile(r"(?:k|m|mn|mio|t)(?:eur|usd|gbp|chf|jpy)|thousands?|millions?")
_SCALE_WORD: Final = re.compile(
    r"\b(?:thousand|million|billion|tsd|mio|k|m|mn|bn)\b|\d[kmb]\b", re.IGNORECASE
)
_NEGATIVE: Final = re.compile(
    r"[-\u2212]\s?[$\u20ac\u00a3]?\d"
    r"|\b(?:minus|negative|below|owe[sd]?|overdrawn|debt|loss|deficit|debit|under|less|lower|down|drop\w*|fell"
    r"|fall\w*|decrease\w*|decline\w*|refund\w*|credit\w* back|behind|short|overdraft|outstanding)\b",
    re.IGNORECASE,
)
_ABOUT: Final = re.compile(
    r"\b(?:about|around|approx\w*|roughly|nearly|almost|some|over|under|more than|less than|at least|up to"
    r"|estimate\w*|typical\w*|usual\w*|average|example|per|each|every|between|if|would|could|may|might)\b|[~\u2248]",
    re.IGNORECASE,
)
_ATTRIBUTED: Final = re.compile(
    r"\b(?:logs?|file|tool|page|document|report|record|database|search|response|output|results?|table|website|api)"
    r" (?:says?|shows?|states?|reports?|lists?|contains?|returned|gives?)\b|\baccording to the\b",
    re.IGNORECASE,
)
_SIZES_IN_OTHERS: Final = (
    "7", "12", "24", "60", "100", "1000", "365", "1.609344", "0.621371", "2.20462", "0.453592", "2.54",
    "0.3937", "0.3048", "3.28084", "3.6",
)  # fmt: skip
"""Sizes of units in others, and the base of a share."""
_CONSTANTS: Final = tuple(map(Decimal, _SIZES_IN_OTHERS))
_FAHRENHEIT: Final = Decimal("1.8")
_FEW: Final = 8
"""Most different numbers in all sources, from which what follows is listed completely."""
_SMALL: Final = 12
_MANY: Final = 120
_LONG: Final = 4
"""Digits of a number that hardly has its like by chance."""
_TOLERANCE: Final = Decimal("0.006")
_LONGEST: Final = 300_000


@dataclass(frozen=True, slots=True)
class _Field:
    name: tuple[str, ...]
    number: Decimal
    unit: str | None
    shown: str
    call: EvidenceCall


def find_contradicted_facts(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the facts of turns that a result gives otherwise."""
    for turn in evidence.said:
        calls = [
            call for call in evidence.known_at(turn) if call.result is not None and call.state != "missed"
        ]
        sources = evidence.sources_at(turn)
        if calls:
            yield from _compare_turn(turn, [*_list_fields(calls)], sources)


def _list_fields(calls: Sequence[EvidenceCall]) -> Iterator[_Field]:
    for call in calls:
        leaves = [*list_leaves(call.value)]
        stated = {CURRENCIES.get(str(leaf).lower()) for name, leaf in leaves if "currency" in name.lower()}
        currency = stated.pop() if len(stated) == 1 else None
        for name, leaf in leaves:
            number = _read_number(leaf)
            if number is not None:
                words = tuple(split_name(name))
                yield _Field(words, number, _read_unit(words, currency), f"{name}: {leaf}", call)


def _read_unit(words: Sequence[str], currency: str | None) -> str | None:
    """Return the currency that a name states, else its unit; "price" has the currency beside it."""
    named = next((unit for word in words if is_money(unit := CURRENCIES.get(word))), None)
    unit = named or read_field_unit(words)
    return currency if currency and unit and is_money(unit) and not named else unit


def _read_number(leaf: object) -> Decimal | None:
    if isinstance(leaf, bool) or not isinstance(leaf, int | float | str):
        return None
    try:
        number = Decimal(str(leaf).strip()[:_LONGEST_NUMBER])
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


_LONGEST_NUMBER: Final = 40


def _compare_turn(
    turn: EvidenceTurn, fields: Sequence[_Field], sources: Sequence[str]
) -> Iterator[DefectFinding]:
    text = "\n".join(sources)
    known = _read_numbers(text) if len(text) <= _LONGEST else frozenset[Decimal]()
    for sentence in map(_drop_marker, split_stated(turn.text)):
        facts = read_facts(sentence).facts
        numbers = [fact for fact in facts if fact.kind == "number" and fact.is_vital]
        for fact in numbers:
            field = _find_other_unit(fact, fields, sentence, text) or _find_other_sign(fact, fields, sentence)
            if field:
                seen = f"{field.call.name} gave {field.shown}"
                yield DefectFinding(_RULE, "defect", sentence, seen, turn.place, field.call.place)
            elif other := _find_near_miss(fact, known):
                seen = f"the sources have {other:f}, and no {fact.shown}"
                yield DefectFinding(_RULE, "defect", sentence, seen, turn.place)
            elif 0 < len(known) <= _FEW and _is_impossible(fact, known, sentence):
                seen = f"the sources have no {fact.shown}, and it does not follow from {_join(known)}"
                yield DefectFinding(_RULE, "defect", sentence, seen, turn.place)
        yield from _find_other_names(turn, sentence, sources)
        if _ATTRIBUTED.search(sentence):
            yield from _find_unknown_dates(turn, sentence, facts, sources)


def _drop_marker(sentence: str) -> str:
    return _NATION.sub("", _MARKER.sub("", sentence))


def _read_numbers(text: str) -> frozenset[Decimal]:
    return frozenset(
        Decimal(match[1].replace(",", "")).scaleb(_SIZES[(match[2] or "").lower()])
        for match in _NUMBER.finditer(text)
    )


def _join(numbers: Collection[Decimal]) -> str:
    return ", ".join(f"{each:f}" for each in sorted(numbers))


def _values(fact: Fact) -> list[Decimal]:
    return [value for value in fact.value.readings if isinstance(value, Decimal)]


def _find_other_unit(fact: Fact, fields: Sequence[_Field], sentence: str, text: str) -> _Field | None:
    """Find the field of the same number in another currency, size or scale; None if any field agrees."""
    unit = fact.value.unit
    alike = [field for field in fields if abs(field.number) in map(abs, _values(fact))]
    if unit in (None, "%") or not alike:
        return None
    scaled = [field for field in alike if any(map(_SCALED.fullmatch, field.name))]
    if scaled and len(scaled) == len(alike) and is_money(unit) and not _SCALE_WORD.search(sentence):
        return scaled[0]
    if any(agree_units(field.unit, unit) for field in alike):
        return None
    return next((field for field in alike if _contradicts(field, fact, sentence, text)), None)


def _contradicts(field: _Field, fact: Fact, sentence: str, text: str) -> bool:
    unit = fact.value.unit
    if is_money(unit):
        return is_money(field.unit) and not _mentions_currency(text, unit)
    if is_money(field.unit) or not is_measured(field.unit):
        return False
    is_same_kind = scale_unit(Decimal(1), field.unit, unit) is not None
    return is_same_kind and (abs(field.number) > _SMALL or _names_field(field, sentence))


def _mentions_currency(text: str, unit: str | None) -> bool:
    names = [name for name, each in CURRENCIES.items() if each == unit]
    return any(
        re.search(rf"(?<![^\W\d_]){re.escape(name)}(?![^\W\d_])", text, re.IGNORECASE) for name in names
    )


def _names_field(field: _Field, sentence: str) -> bool:
    lower = sentence.lower()
    return any(len(word) >= _LONG and word[:5] in lower for word in field.name)


def _find_other_sign(fact: Fact, fields: Sequence[_Field], sentence: str) -> _Field | None:
    alike = [field for field in fields if abs(field.number) in map(abs, _values(fact))]
    is_lost = bool(alike) and all(field.number < 0 and _names_field(field, sentence) for field in alike)
    return alike[0] if is_lost and min(_values(fact)) > 0 and not _NEGATIVE.search(sentence) else None


def _find_near_miss(fact: Fact, known: Collection[Decimal]) -> Decimal | None:
    """Find the number of a source that a long number is, but for one digit or for two that are swapped."""
    values = _values(fact)
    if (
        min(map(abs, values)) != max(map(abs, values))
        or len(known) > _MANY
        or any(map(known.__contains__, values))
    ):
        return None
    value = abs(values[0])
    near = next(
        (each for each in known if _is_near_miss(f"{value.normalize():f}", f"{each.normalize():f}")), None
    )
    if near is None or any(_is_equal(value, each) for each in _combine(known, known)):
        return None
    return None if _is_equal(value, sum(known, Decimal())) or _is_subset_sum(value, known) else near


def _is_equal(value: Decimal, other: Decimal) -> bool:
    places = Decimal(1).scaleb(int(value.as_tuple().exponent))
    return abs(value - abs(other)) <= places / 2


def _is_subset_sum(value: Decimal, known: Collection[Decimal]) -> bool:
    """Return whether a value is a sum of three or four numbers, or of two products."""
    pairs: set[Decimal] = {*known}
    for first, second in product(known, known):
        pairs |= {first + second, first * second}
    return any(value - each in pairs for each in pairs)


def _is_near_miss(shown: str, other: str) -> bool:
    digits, same = shown.replace(".", ""), other.replace(".", "")
    if len(shown) != len(other) or len(digits) < _LONG or shown.find(".") != other.find("."):
        return False
    changed = [(a, b) for a, b in zip(digits, same, strict=True) if a != b]
    return len(changed) == 1 or changed[:1] == [pair[::-1] for pair in changed[1:]]


def _find_other_names(turn: EvidenceTurn, sentence: str, sources: Sequence[str]) -> Iterator[DefectFinding]:
    """Yield the addresses and identifiers without a source, if sources have others of their family."""
    named = [each for each in read_typed(sentence) if each.family.startswith(("address", "identifier"))]
    known = {value for source in sources for value in read_typed(source)} if named else set()
    text = "\n".join(sources).lower() if named else ""
    for value in named:
        others = sorted(other.value for other in known if other.family == value.family)
        if others and value.value.lower() not in text:
            near = [other for other in others if _is_near_miss(value.value, other)]
            seen = f"the sources have {(near or others)[0]}, and no {value.value}"
            yield (
                DefectFinding(_RULE, "defect", sentence, seen, turn.place)
                if near
                else DefectFinding("unsourced_name", "suspicion", sentence, seen, turn.place)
            )


def _is_impossible(fact: Fact, known: Collection[Decimal], sentence: str) -> bool:
    """Return whether a number of a size has no source, and no two operations make it of those there are."""
    values = _values(fact)
    is_size = fact.value.unit is not None or any(word.startswith("degree") for word in fact.around)
    if not is_size or fact.value.unit == "%" or _ABOUT.search(sentence) or min(map(abs, values)) <= 1:
        return False
    once = {*known, *_combine(known, known)}
    exact = {*once, *_combine(once, known)}
    return not any(
        any(_is_equal(value, each) for each in exact)
        or any(_is_near(value, each) for each in _convert(known))
        for value in values
    )


def _convert(numbers: Collection[Decimal]) -> Iterator[Decimal]:
    """Yield numbers in other units."""
    for number, size in product(numbers, _CONSTANTS):
        yield from (number * size, number / size)
    for number in numbers:
        yield from (number * _FAHRENHEIT + 32, (number - 32) / _FAHRENHEIT)


def _combine(first: Collection[Decimal], second: Collection[Decimal]) -> Iterator[Decimal]:
    for a, b in product(first, second):
        yield from (a + b, abs(a - b), a * b)
        if b:
            yield a / b
        if a:
            yield b / a


def _is_near(value: Decimal, other: Decimal) -> bool:
    return abs(abs(value) - abs(other)) <= _TOLERANCE * abs(value)


def _find_unknown_dates(
    turn: EvidenceTurn, sentence: str, facts: Sequence[Fact], sources: Sequence[str]
) -> Iterator[DefectFinding]:
    """Yield the dates that a sentence attributes to a source, and that no source has."""
    dates = [fact for fact in facts if fact.kind == "date"]
    known = (
        {value.value for source in sources for value in read_typed(source) if value.family == "date"}
        if dates
        else set()
    )
    for fact in dates:
        days = [day for day in fact.value.readings if isinstance(day, Day) and day.day and day.year]
        if days and known.isdisjoint(f"{day.month:02}-{day.day:02}" for day in days):
            yield DefectFinding(_RULE, "defect", sentence, f"no source has the date {fact.shown}", turn.place)
