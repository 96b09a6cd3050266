"""A fact that contradicts its source: another value, unit, currency or sign than the tools gave."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache, cached_property, lru_cache
from itertools import chain
from typing import Final, NamedTuple

from agents.parsing.tool_names import split_name
from evaluation.defects.arithmetic import combine, follows, is_converted, is_equal, is_sum, read_numbers
from evaluation.defects.claims import read_pattern
from evaluation.defects.evidence import DefectFinding, Evidence, EvidenceCall, EvidenceTurn, Level, list_paths
from evaluation.defects.sources import Source, index_first, is_in_any, list_sources, list_texts
from evaluation.texts.fact_reading import Fact, TypedValue, read_facts, read_typed, read_vital_numbers
from evaluation.texts.normal import split_stated
from evaluation.texts.numbers import CURRENCIES, agree_units, is_money, read_field_unit, scale_unit
from evaluation.values import as_list

_RULE: Final = "contradicted_fact"
_MARKER: Final = re.compile(r"^\s*(?:[-*\u2022]|\(?\d{1,3}[.):])\s+")
_NATION: Final = re.compile(r"\bU\.?S\.?[ -]?(?=dollars?\b|\$)", re.IGNORECASE)
_NEGATIVE: Final = read_pattern("negative")
_ABOUT: Final = read_pattern("about")
_BELOW_ZERO: Final = frozenset({"°C", "°F"})
"""Units in which what is below zero is said so."""
_FEW: Final = 8
"""Most different numbers in all sources, from which what follows is listed completely."""
_SMALL: Final = 12
_MANY: Final = 120
_LONG: Final = 4
"""Digits of a number that hardly has its like by chance."""
_MANY_NAMES: Final = 2048
"""The names of fields, which the records of an answer repeat."""
_SHORT: Final = 300
"""Most characters of a prose whose numbers are read with their units."""
_LINK: Final = re.compile(r"\bhttps?:(//[\w.-]+)/[^\s<>()\[\]\"'`|]+")
_DATE: Final = "date with a year"
_SAYS: Final = re.compile(r"\b(?:says|shows|states|reads|according to)\b", re.IGNORECASE)
"""Matches in a sentence that names its source, and so computes no date."""
_PART: Final = re.compile(r"[/?#&=]+")
_NO_DIGIT: Final = re.compile(r"\D")
_FIRST_YEAR: Final = 1500
_END_YEAR: Final = 2200
_EXAMPLE: Final = read_pattern("example")


class _Field(NamedTuple):
    name: tuple[str, ...]
    number: Decimal
    unit: str | None
    shown: str
    call: EvidenceCall
    around: frozenset[str]
    """The words of its name, and of the names of the objects that it is in."""


@dataclass(frozen=True)
class _Known:
    """The calls with an answer, and the sources of all turns, of which each turn knows the first ones."""

    calls: Sequence[EvidenceCall]
    sources: Sequence[Source]
    passed: Sequence[Source]
    """The arguments of the calls that act."""

    @cached_property
    def fields(self) -> Sequence[_Field]:
        """The numbers in the fields of the answers."""
        return [field for call in self.calls for field in _list_fields(call)]

    @cached_property
    def _by_number(self) -> Mapping[Decimal, Sequence[int]]:
        places = defaultdict[Decimal, list[int]](list)
        for place, field in enumerate(self.fields):
            places[field.number].append(place)
        return places

    def list_alike(self, fact: Fact, turn: EvidenceTurn) -> list[_Field]:
        """Return the fields that a turn knows with the number of a fact, or its opposite."""
        values = {signed for value in fact.value.numbers for signed in (value, -value)}
        places = sorted(place for value in values for place in self._by_number.get(value, ()))
        return [field for place in places if (field := self.fields[place]).call.place < turn.known]

    @cached_property
    def list_numbers(self) -> Callable[[int], frozenset[Decimal]]:
        """Returns the numbers in the texts that a turn knows; of many, as few as tell that they are many."""
        return cache(self._list_first_numbers)

    def _list_first_numbers(self, at: int) -> frozenset[Decimal]:
        numbers = set[Decimal]()
        for text in (each.text for each in (*self.sources, *self.passed) if each.since <= at):
            numbers |= read_numbers(text)
            if len(numbers) > _MANY:
                break
        return frozenset(numbers)

    @cached_property
    def _names(self) -> Mapping[TypedValue, int]:
        return index_first((each.since, _list_names(each.text)) for each in self.sources)

    def list_others(self, value: TypedValue, at: int) -> list[str]:
        """Return the values of the family of one that a turn knows; none if it knows this one."""
        names = self._names
        if names.get(value, at + 1) <= at:
            return []
        return sorted(each.value for each in names if each.family == value.family and names[each] <= at)


def find_contradicted_facts(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the facts of turns that a result gives otherwise."""
    calls = [call for call in evidence.calls if call.result is not None and call.state != "missed"]
    acted = [call for call in calls if call.acts]
    passed = list_texts(evidence, acted, [call.args_text for call in acted])
    known = _Known(calls, list_sources(evidence), passed)
    for at, turn in enumerate(evidence.said):
        if not calls or calls[0].place >= turn.known:
            continue
        for stated in split_stated(turn.text):
            sentence = _NATION.sub("", _MARKER.sub("", stated))
            for fact in read_vital_numbers(sentence):
                yield from _compare_fact(turn, at, sentence, fact, known)
            yield from _find_other_names(turn, at, sentence, known)


def _list_fields(call: EvidenceCall) -> list[_Field]:
    is_prose = call.value is None and len(call.answer) <= _SHORT
    facts = read_facts(call.answer).facts if is_prose else ()
    read = ((fact, value) for fact in facts for value in fact.value.numbers)
    stated = (_Field((), value, fact.value.unit, fact.shown, call, frozenset()) for fact, value in read)
    return [*stated, *_list_numbers(call)]


def _list_numbers(call: EvidenceCall) -> Iterator[_Field]:
    # A tool that answers with a number alone says by its name what it is.
    leaves = [(path or (call.name,), leaf) for path, leaf in list_paths(call.value)]
    stated = {CURRENCIES.get(str(leaf).lower()) for path, leaf in leaves if "currency" in path[-1].lower()}
    currency = stated.pop() if len(stated) == 1 else None
    for path, leaf in leaves:
        if (number := _read_number(leaf)) is not None:
            words, around = _read_path(path)
            shown = str(leaf) if path == (call.name,) else f"{path[-1]}: {leaf}"
            yield _Field(words, number, _read_unit(words, currency), shown, call, around)


@lru_cache(_MANY_NAMES)
def _read_path(path: tuple[str, ...]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the words of the last name, and those of all names."""
    return tuple(split_name(path[-1])), frozenset(word for name in path for word in split_name(name))


@lru_cache(_MANY_NAMES)
def _read_unit(words: Sequence[str], currency: str | None) -> str | None:
    """Return the currency that a name states, else its unit; "price" has the currency beside it."""
    named = next((unit for word in words if is_money(unit := CURRENCIES.get(word))), None)
    unit = named or read_field_unit(words)
    return currency if currency and unit and is_money(unit) and not named else unit


def _read_number(leaf: object) -> Decimal | None:
    if isinstance(leaf, bool) or not isinstance(leaf, int | float | str):
        return None
    text = str(leaf).strip()[:_LONGEST_NUMBER]
    # An exception takes far longer than this test.
    if not _NUMERIC.fullmatch(text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


_LONGEST_NUMBER: Final = 40
_NUMERIC: Final = re.compile(r"[-+]?[\d._]+(?:[eE][-+]?[\d_]+)?")


def _compare_fact(
    turn: EvidenceTurn, at: int, sentence: str, fact: Fact, known: _Known
) -> Iterator[DefectFinding]:
    alike, numbers = known.list_alike(fact, turn), known.list_numbers(at)
    texts = (each.text for each in (*known.sources, *known.passed) if each.since <= at)
    other_unit = _find_other_unit(fact, alike, sentence, texts)
    if field := other_unit or _find_other_sign(fact, alike, sentence):
        seen = f"{field.call.name} gave {field.shown}"
        yield DefectFinding(_RULE, "defect", sentence, seen, turn.place, field.call.place)
    elif other := _find_near_miss(fact, numbers, read_numbers(sentence)):
        seen = f"the sources have {other:f}, and no {fact.shown}"
        yield DefectFinding(_RULE, "defect", sentence, seen, turn.place)
    # A number of a source follows from it.
    elif len(numbers) <= _FEW and numbers.isdisjoint(fact.value.numbers):
        fields = [field for field in known.fields if field.call.place < turn.known]
        if field := _find_other_field(fact, fields, numbers, turn, sentence):
            seen = f"{field.call.name} gave {field.shown}, from which {fact.shown} does not follow"
            yield DefectFinding(_RULE, "defect", sentence, seen, turn.place, field.call.place)


def _find_other_unit(
    fact: Fact, same: Sequence[_Field], sentence: str, texts: Iterable[str]
) -> _Field | None:
    """Find the field of the same number in another currency, size or scale; None if any field agrees."""
    unit = fact.value.unit
    alike = [] if unit in (None, "%") else same
    if any(agree_units(field.unit, unit) for field in alike):
        return None
    text = "\n".join(texts) if alike and is_money(unit) else ""
    return next((field for field in alike if _contradicts(field, fact, sentence, text)), None)


def _contradicts(field: _Field, fact: Fact, sentence: str, text: str) -> bool:
    unit = fact.value.unit
    if is_money(unit):
        return is_money(field.unit) and not _mentions_currency(text, unit)
    if is_money(field.unit) or field.unit in (None, "%"):
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


def _find_other_sign(fact: Fact, alike: Sequence[_Field], sentence: str) -> _Field | None:
    is_named = fact.value.unit in _BELOW_ZERO or any(_names_field(field, sentence) for field in alike)
    is_lost = bool(alike) and is_named and all(field.number < 0 for field in alike)
    return alike[0] if is_lost and min(fact.value.numbers) > 0 and not _NEGATIVE.search(sentence) else None


def _find_near_miss(fact: Fact, known: frozenset[Decimal], beside: frozenset[Decimal]) -> Decimal | None:
    """Find the number of a source that a long number is, but for one digit or for two that are swapped."""
    values = fact.value.numbers
    value, is_year = abs(values[0]), fact.value.unit is None and _is_year(values[0])
    if is_year or len({*map(abs, values)}) > 1 or len(known) > _MANY or not known.isdisjoint(values):
        return None
    shown, places = _show(value), int(value.normalize().as_tuple().exponent)
    near = next((each for each in known if _is_near_miss(shown, _show(each))), None)
    if near is None or abs(value - near) < Decimal(1).scaleb(places) or is_sum(value, known):
        return None
    computed = chain(combine({*known, *beside} - {value}, known), (sum(known, Decimal()),))
    return None if any(is_equal(value, each) for each in computed) else near


def _is_year(number: Decimal) -> bool:
    return _FIRST_YEAR <= number < _END_YEAR and number == int(number)


@lru_cache(_MANY_NAMES)
def _show(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _is_near_miss(shown: str, other: str) -> bool:
    if len(shown) != len(other):
        return False
    digits, same = shown.replace(".", ""), other.replace(".", "")
    if len(digits) < _LONG or shown.find(".") != other.find("."):
        return False
    changed = [(a, b) for a, b in zip(digits, same, strict=True) if a != b]
    return len(changed) == 1 or changed[:1] == [pair[::-1] for pair in changed[1:]]


def _list_names(text: str) -> Iterator[TypedValue]:
    """Yield the typed values of a text and its links, whose family is their host."""
    links = _LINK.finditer(text) if "://" in text else ()
    yield from (TypedValue(match[1], match[0].rstrip(".,;:!?*")) for match in links)
    yield from read_typed(text)


def _find_other_names(turn: EvidenceTurn, at: int, sentence: str, known: _Known) -> Iterator[DefectFinding]:
    """Yield the addresses, identifiers and links without a source, if sources have others of their family."""
    kinds = ("address", "identifier", "//", *([_DATE] if _SAYS.search(sentence) else []))
    named = [each for each in _list_names(sentence) if each.family.startswith(kinds)]
    if not named or _EXAMPLE.search(sentence):
        return
    for value in named:
        # A link may be made of parts that are known.
        parts = filter(None, _PART.split(value.value.lower()))
        if all(is_in_any(part, known.sources, at) for part in parts):
            continue
        if others := known.list_others(value, at):
            is_date, is_link = value.family == _DATE, value.family.startswith("//")
            near = [each for each in others if is_date or (not is_link and _is_near_miss(value.value, each))]
            seen = f"the sources have {(near or others)[0]}, and no {value.value}"
            level: Level = "defect" if near else "suspicion"
            yield DefectFinding(_RULE if near else "unsourced_name", level, sentence, seen, turn.place)


def _find_other_field(
    fact: Fact, fields: Sequence[_Field], known: Collection[Decimal], turn: EvidenceTurn, sentence: str
) -> _Field | None:
    """Find the field of the same kind if the turn states none of its values and computes nothing."""
    values = fact.value.numbers
    alike = [field for field in fields if _is_of_kind(field, fact, sentence)]
    if not alike or _ABOUT.search(sentence) or min(map(abs, values)) <= 1:
        return None
    stated, digits = read_numbers(turn.text), _NO_DIGIT.sub("", turn.text)
    is_told = any(
        is_converted(abs(field.number), stated) or _NO_DIGIT.sub("", field.shown) in digits for field in alike
    )
    is_counted = any(value == len(as_list(field.call.value)) for field in alike for value in values)
    return None if is_told or is_counted or any(follows(value, known) for value in values) else alike[0]


def _is_of_kind(field: _Field, fact: Fact, sentence: str) -> bool:
    """Return whether a field has the unit of a fact, or the thing that it counts."""
    unit = fact.value.unit
    if unit == "%":
        return False
    if any(word.startswith("degree") for word in fact.around):
        return any(word.startswith("temp") for word in field.name)
    if unit and field.unit:
        return agree_units(field.unit, unit) or scale_unit(Decimal(1), field.unit, unit) is not None
    lower = sentence.lower()
    is_count = (not unit and field.number == int(field.number)) or is_money(unit)
    return is_count and not field.unit and any(len(word) >= _LONG and word in lower for word in field.around)
