"""A fact that contradicts its source: another value, unit, currency or sign than the tools gave."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from agents.parsing.tool_names import split_name
from evaluation.defects.arithmetic import combine, is_computed, is_converted, read_numbers
from evaluation.defects.claims import read_pattern
from evaluation.defects.evidence import Call, DefectFinding, Evidence, Level, Moment, Turn
from evaluation.defects.sources import ID_KEY, SourceIndex, index_sources, list_links
from evaluation.texts.fact_reading import Fact, read_typed, read_vital_numbers
from evaluation.texts.normal import has_digit, split_stated
from evaluation.texts.numbers import (
    ANY_CURRENCY,
    CURRENCIES,
    agree_units,
    has_number_word,
    is_money,
    read_field_unit,
    scale_unit,
)

_RULE: Final = "contradicted_fact"
_NATION: Final = re.compile(r"\bU\.?S\.?[ -]?(?=dollars?\b|\$)", re.IGNORECASE)
_BELOW_ZERO: Final = frozenset({"°C", "°F"})
"""Units in which what is below zero is said so."""
_FEW: Final = 4
"""Most different numbers in all sources, from which hardly another one follows."""
_SMALL: Final = 12
_MANY: Final = 120
_BEGINNING: Final = 5
_LONG: Final = 4
"""Digits of a number that hardly has its like by chance."""
_MANY_NAMES: Final = 2048
"""The names of fields, which the records of an answer repeat."""
_GROUPED: Final = re.compile(r"[^\x00-\x7f]|\d[ ']\d")
"""Matches notations of numbers that only the complete reading knows."""
_PLAIN: Final = (None, ANY_CURRENCY)
"""Units that no other unit contradicts."""
_DATE: Final = "date with a year"
_PART: Final = re.compile(r"[/?#&=]+")
_NO_DIGIT: Final = re.compile(r"\D")
_FIRST_YEAR: Final = 1500
_END_YEAR: Final = 2200


class _Field(NamedTuple):
    number: Decimal
    unit: str | None
    shown: str
    call: Call
    path: tuple[str, ...]
    """Its name, after the names of the objects that it is in."""

    @property
    def words(self) -> frozenset[str]:
        """The words of these names."""
        return frozenset(chain.from_iterable(map(split_name, self.path)))

    def is_named(self, sentence: str) -> bool:
        """Return whether a sentence has the beginning of one of its words."""
        return any(len(word) >= _LONG and word[:_BEGINNING] in sentence.lower() for word in self.words)


class _Stated(NamedTuple):
    sentence: str
    turn: Turn
    sources: SourceIndex

    @property
    def known(self) -> frozenset[Decimal]:
        """The numbers that the sources had before; of many, as few as tell that they are many."""
        return _list_known(self.sources, self.turn.moment)


@lru_cache(8)
def _list_known(index: SourceIndex, moment: Moment) -> frozenset[Decimal]:
    return frozenset(number for number, since in _list_first(index).items() if since <= moment)


@lru_cache(1)
def _list_first(index: SourceIndex) -> Mapping[Decimal, Moment]:
    """Return the first moment of each number of the sources, up to the text with which they are many."""
    first = dict[Decimal, Moment]()
    for text in index.texts:
        first = dict.fromkeys(read_numbers(text.text), text.since) | first
        if len(first) > _MANY:
            break
    return first


@lru_cache(1)
def _list_ids(index: SourceIndex) -> frozenset[Decimal]:
    """Return the numbers that name a thing in a call, with which nobody computes."""
    reads = (call for call in index.evidence.calls if call.state == "read")
    leaves = ((call, key, leaf) for call in reads for key, leaf in call.leaves)
    named = (str(leaf) for call, key, leaf in leaves if ID_KEY.search(key) or key in call.words)
    return frozenset(Decimal(each) for each in named if each.isdecimal())


def find_contradicted_facts(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the facts of turns that a result gives otherwise."""
    index = index_sources(evidence)
    answers = [call for call in evidence.calls if call.answer and call.state != "missed"]
    fields = [*chain.from_iterable(map(_list_fields, answers))]
    by_size = defaultdict[Decimal, list[_Field]](list)
    for field in fields:
        by_size[abs(field.number)].append(field)
    contested = {abs(each.number) for each in fields if each.number < 0 or each.unit not in _PLAIN}
    for turn in evidence.said:
        if not answers or answers[0].place >= turn.known:
            continue
        for part in split_stated(_NATION.sub("", turn.text)):
            stated = _Stated(part, turn, index)
            for fact in read_vital_numbers(stated.sentence) if _may_differ(stated, contested) else ():
                seen, call = next(_compare_fact(fact, stated, by_size, fields), (None, None))
                if seen:
                    yield DefectFinding(_RULE, "defect", stated.sentence, seen, turn.place, call)
            yield from _find_other_names(turn, stated.sentence, index)


def _may_differ(stated: _Stated, contested: Collection[Decimal]) -> bool:
    """Return whether a number of a sentence is not known, or a field may have it in another unit or sign."""
    sentence, told = stated.sentence, read_numbers(stated.sentence)
    is_known = told.isdisjoint(contested) and (not told or told <= stated.known)
    return not is_known or has_number_word(sentence) or _GROUPED.search(sentence) is not None


def _compare_fact(
    fact: Fact, stated: _Stated, by_size: Mapping[Decimal, Sequence[_Field]], fields: Sequence[_Field]
) -> Iterator[tuple[str, int | None]]:
    """Yield what is seen against a fact, with the number of the call."""
    sized = chain.from_iterable(by_size.get(size, ()) for size in {*map(abs, fact.value.numbers)})
    alike = [field for field in sized if field.call.place < stated.turn.known]
    if field := _find_other_unit(fact, stated, alike) or _find_other_sign(fact, stated, alike):
        yield f"{field.call.name} gave {field.shown}", field.call.place
    if other := _find_near_miss(fact, stated.known, read_numbers(stated.sentence)):
        yield f"the sources have {other:f}, and no {fact.shown}", None
    if field := _find_other_field(fact, stated, fields):
        seen = f"{field.call.name} gave {field.shown}, from which {fact.shown} does not follow"
        yield seen, field.call.place


def _list_fields(call: Call) -> Iterator[_Field]:
    # A tool that answers with a number alone says by its name what it is.
    leaves = [(path or (call.name,), leaf) for path, leaf in call.paths]
    named = leaves if "currency" in call.answer.lower() else ()
    stated = {CURRENCIES.get(str(leaf).lower()) for path, leaf in named if "currency" in path[-1].lower()}
    currency = stated.pop() if len(stated) == 1 else None
    for path, leaf in leaves:
        number = str(leaf).strip().strip("$€£")
        # Most values are words, and this test is far cheaper than the search.
        if number[-1:].isdigit() and _NUMERIC.fullmatch(number):
            unit = _read_unit(split_name(path[-1]), currency)
            shown = str(leaf) if path == (call.name,) else f"{path[-1]}: {leaf}"
            # The currency stands in another field, and may be all that differs.
            shown = f"{shown} {currency}" if currency and is_money(unit) else shown
            yield _Field(Decimal(number), unit, shown, call, path)


@lru_cache(_MANY_NAMES)
def _read_unit(words: Sequence[str], currency: str | None) -> str | None:
    """Return the currency that a name states, else its unit; "price" has the currency beside it."""
    named = next((unit for word in words if is_money(unit := CURRENCIES.get(word))), None)
    unit = named or read_field_unit(words)
    return currency if currency and unit and is_money(unit) and not named else unit


_NUMERIC: Final = re.compile(r"[-+]?\d{1,40}(?:\.\d{1,40})?(?:[eE][-+]?\d{1,3})?")


def _find_other_unit(fact: Fact, stated: _Stated, alike: Sequence[_Field]) -> _Field | None:
    """Find the field of the same number in another currency, size or scale; None if any field agrees."""
    unit = fact.value.unit
    if unit in (None, "%") or any(agree_units(field.unit, unit) for field in alike):
        return None
    if not is_money(unit):
        # A small number may be of something else.
        sure = (each for each in alike if abs(each.number) > _SMALL or each.is_named(stated.sentence))
        return next((each for each in sure if scale_unit(Decimal(1), each.unit, unit) is not None), None)
    names = "|".join(re.escape(name) for name, each in CURRENCIES.items() if each == unit)
    pattern = re.compile(rf"(?<![^\W\d_])(?:{names})(?![^\W\d_])", re.IGNORECASE)
    other = next((field for field in alike if is_money(field.unit)), None)
    known = (each.text for each in stated.sources.texts if each.since <= stated.turn.moment)
    return None if other and any(map(pattern.search, known)) else other


def _find_other_sign(fact: Fact, stated: _Stated, alike: Sequence[_Field]) -> _Field | None:
    is_named = fact.value.unit in _BELOW_ZERO or any(field.is_named(stated.sentence) for field in alike)
    if not is_named or min(fact.value.numbers) <= 0 or read_pattern("negative").search(stated.sentence):
        return None
    return alike[0] if alike and all(field.number < 0 for field in alike) else None


def _find_near_miss(fact: Fact, known: frozenset[Decimal], beside: frozenset[Decimal]) -> Decimal | None:
    """Find the number of a source that a long number is, but for one digit or for two that are swapped."""
    values = fact.value.numbers
    value = abs(values[0])
    is_year = fact.value.unit is None and _is_year(value)
    if is_year or len({*map(abs, values)}) > 1 or len(known) > _MANY or not known.isdisjoint(values):
        return None
    shown, places = _show(value), int(value.normalize().as_tuple().exponent)
    near = next((each for each in known if _is_near_miss(shown, _show(each)) and not _is_year(each)), None)
    if near is None or abs(value - near) < Decimal(1).scaleb(places) or is_computed(value, known, beside):
        return None
    return near


def _is_year(number: Decimal) -> bool:
    return _FIRST_YEAR <= number < _END_YEAR and number == int(number)


@lru_cache(_MANY_NAMES)
def _show(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _is_near_miss(shown: str, other: str) -> bool:
    if len(shown) != len(other) or shown.find(".") != other.find("."):
        return False
    changed = [(a, b) for a, b in zip(shown, other, strict=True) if a != b]
    is_changed = len(changed) == 1 or changed[:1] == [pair[::-1] for pair in changed[1:]]
    return is_changed and len(shown.replace(".", "")) >= _LONG


def _find_other_names(turn: Turn, sentence: str, index: SourceIndex) -> Iterator[DefectFinding]:
    """Yield the addresses, identifiers and links without a source, if sources have others of their family."""
    # Each of these kinds has a digit or one of these signs, and most sentences have none.
    if not (has_digit(sentence) or "@" in sentence or "://" in sentence):
        return
    values = (*read_typed(sentence), *list_links(sentence))
    known = (each.text for each in index.texts if each.since <= turn.moment)
    has_date = any(each.family == _DATE for each in values)
    # From a word such as "days", a date may be counted.
    is_stated = has_date and not any(map(read_pattern("interval").search, (sentence, *known)))
    kinds = ("address", "identifier", "//", *([_DATE] if is_stated else []))
    named = [each for each in values if each.family.startswith(kinds)]
    if not named or read_pattern("example").search(sentence):
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


def _find_other_field(fact: Fact, stated: _Stated, fields: Sequence[_Field]) -> _Field | None:
    """Find the field of the same kind if the turn states none of its values and computes nothing."""
    values, turn, known = fact.value.numbers, stated.turn, stated.known
    # A number of a source follows from it, and a sentence with several new numbers computes.
    if len(known) > _FEW or len(read_numbers(stated.sentence) - known) > 1 or not known.isdisjoint(values):
        return None
    earlier = (field for field in fields if field.call.place < turn.known)
    alike = [field for field in earlier if _is_of_kind(field, fact, stated.sentence)]
    if not alike or read_pattern("about").search(stated.sentence):
        return None
    told, digits = read_numbers(turn.text), _NO_DIGIT.sub("", turn.text)
    # The last digits of a card are no other number.
    if len(fact.shown) >= _LONG and any(fact.shown in field.shown for field in alike):
        return None
    is_told = any(
        is_converted(abs(field.number), told) or _NO_DIGIT.sub("", field.shown) in digits for field in alike
    )
    # A sentence that states another number, as in "2 tickets cost 72", may compute with two operations.
    is_alone = read_numbers(stated.sentence).isdisjoint(known - _list_ids(stated.sources))
    once = known if is_alone else {*known, *combine(known, known)}
    follows = (is_converted(value, known) or is_computed(value, once) for value in values)
    return None if is_told or any(follows) else alike[0]


def _is_of_kind(field: _Field, fact: Fact, sentence: str) -> bool:
    """Return whether a field has the unit of a fact, or the thing that it counts."""
    unit = fact.value.unit
    if unit == "%":
        return False
    if any(word.startswith("degree") for word in fact.around):
        return any(word.startswith("temp") for word in field.words)
    if unit and field.unit:
        return agree_units(field.unit, unit) or scale_unit(Decimal(1), field.unit, unit) is not None
    is_count = (not unit and field.number == int(field.number)) or is_money(unit)
    values = (str(leaf) for _, leaf in (*field.call.leaves, *field.call.answered))
    is_about = any(len(each) >= _LONG and each[:_BEGINNING].lower() in sentence.lower() for each in values)
    return is_count and not field.unit and (is_about or field.is_named(sentence))
