"""A fact that contradicts its source: another value, unit, currency or sign than the tools gave."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache, lru_cache, partial
from itertools import chain
from typing import Final, NamedTuple

from agents.parsing.tool_names import split_name
from evaluation.defects.arithmetic import combine, follows, is_converted, is_equal, is_sum, read_numbers
from evaluation.defects.claims import read_pattern
from evaluation.defects.evidence import DefectFinding, Evidence, EvidenceCall, EvidenceTurn, Level, list_paths
from evaluation.defects.sources import SourceIndex, index_sources, list_links
from evaluation.texts.fact_reading import Fact, read_facts, read_typed, read_vital_numbers
from evaluation.texts.normal import has_digit, split_stated
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


def find_contradicted_facts(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the facts of turns that a result gives otherwise."""
    index = index_sources(evidence)
    answers = [call for call in evidence.calls if call.answer and call.state != "missed"]
    fields = defaultdict[Decimal, list[_Field]](list)
    for field in chain.from_iterable(map(_list_fields, answers)):
        fields[abs(field.number)].append(field)
    for turn in evidence.said:
        if not answers or answers[0].place >= turn.known:
            continue
        read_known = cache(partial(_list_numbers_before, turn, index))
        for stated in split_stated(turn.text):
            sentence = _NATION.sub("", _MARKER.sub("", stated))
            for fact in read_vital_numbers(sentence):
                yield from _compare_fact(turn, sentence, fact, index, fields, numbers=read_known())
            yield from _find_other_names(turn, sentence, index)


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
            words, around = split_name(path[-1]), frozenset(chain.from_iterable(map(split_name, path)))
            shown = str(leaf) if path == (call.name,) else f"{path[-1]}: {leaf}"
            yield _Field(words, number, _read_unit(words, currency), shown, call, around)


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
    turn: EvidenceTurn,
    sentence: str,
    fact: Fact,
    index: SourceIndex,
    by_size: Mapping[Decimal, Sequence[_Field]],
    *,
    numbers: frozenset[Decimal],
) -> Iterator[DefectFinding]:
    sizes = {*map(abs, fact.value.numbers)}
    alike = [field for size in sizes for field in by_size.get(size, ()) if field.call.place < turn.known]
    texts = (each.text for each in index.texts if each.since <= turn.moment)
    other_unit = _find_other_unit(fact, alike, sentence, texts)
    if field := other_unit or _find_other_sign(fact, alike, sentence):
        seen = f"{field.call.name} gave {field.shown}"
        yield DefectFinding(_RULE, "defect", sentence, seen, turn.place, field.call.place)
    elif other := _find_near_miss(fact, numbers, read_numbers(sentence)):
        seen = f"the sources have {other:f}, and no {fact.shown}"
        yield DefectFinding(_RULE, "defect", sentence, seen, turn.place)
    # A number of a source follows from it.
    elif len(numbers) <= _FEW and numbers.isdisjoint(fact.value.numbers):
        every = chain.from_iterable(by_size.values())
        fields = sorted(
            (each for each in every if each.call.place < turn.known), key=lambda each: each.call.place
        )
        if field := _find_other_field(fact, fields, numbers, turn, sentence):
            seen = f"{field.call.name} gave {field.shown}, from which {fact.shown} does not follow"
            yield DefectFinding(_RULE, "defect", sentence, seen, turn.place, field.call.place)


def _list_numbers_before(turn: EvidenceTurn, index: SourceIndex) -> frozenset[Decimal]:
    """Return the numbers that a turn knows; of many, as few as tell that they are many."""
    numbers = set[Decimal]()
    for text in (each.text for each in index.texts if each.since <= turn.moment):
        numbers |= read_numbers(text)
        if len(numbers) > _MANY:
            break
    return frozenset(numbers)


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
    value = abs(values[0])
    is_year = fact.value.unit is None and _FIRST_YEAR <= value < _END_YEAR and value == int(value)
    if is_year or len({*map(abs, values)}) > 1 or len(known) > _MANY or not known.isdisjoint(values):
        return None
    shown, places = _show(value), int(value.normalize().as_tuple().exponent)
    near = next((each for each in known if _is_near_miss(shown, _show(each))), None)
    if near is None or abs(value - near) < Decimal(1).scaleb(places) or is_sum(value, known):
        return None
    computed = chain(combine({*known, *beside} - {value}, known), (sum(known, Decimal()),))
    return None if any(is_equal(value, each) for each in computed) else near


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


def _find_other_names(turn: EvidenceTurn, sentence: str, index: SourceIndex) -> Iterator[DefectFinding]:
    """Yield the addresses, identifiers and links without a source, if sources have others of their family."""
    # Each of these kinds has a digit or one of these signs, and most sentences have none.
    if not (has_digit(sentence) or "@" in sentence or "://" in sentence):
        return
    kinds = ("address", "identifier", "//", *([_DATE] if _SAYS.search(sentence) else []))
    values = (*read_typed(sentence), *list_links(sentence))
    named = [each for each in values if each.family.startswith(kinds)]
    if not named or _EXAMPLE.search(sentence):
        return
    for value in named:
        # A link may be made of parts that are known.
        parts = filter(None, _PART.split(value.value.lower()))
        if all(index.has_text(part, turn.moment) for part in parts):
            continue
        others = index.list_family(value.family, turn.moment)
        if others and value.value not in others:
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
