"""Another target or value: an acting call has a value that contradicts the task or the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Final

from agents.parsing.tool_names import split_name
from evaluation.defects.arithmetic import is_converted, read_numbers
from evaluation.defects.claims import Claim, find_claims, list_families, read_words
from evaluation.defects.evidence import DefectFinding, Evidence, EvidenceCall, EvidenceTurn, names_any
from evaluation.texts.fact_reading import Clock, Fact, TypedValue, find_times, read_typed, read_vital_numbers
from evaluation.texts.numbers import is_money, read_field_unit, scale_unit

_RULE: Final = "other_value"
_OWN_KEYS: Final = read_words("own_keys")
"""Fields whose identifiers the caller makes up."""
_ID_KEY: Final = re.compile(r"(?:\A|_)(?:id|number|no)\Z|[a-z](?:Id|Number|No)\Z")
_NUMBER: Final = re.compile(r"(?<![\w.,:/$€£-])\d{3,}(?![\w%/-]|[.,:]\w)")
_AMOUNTS: Final = frozenset({"amount", "value", "sum", "total"})
_COUNTS: Final = frozenset({"quantity", "qty", "count", "number"})
_LONG: Final = 4
_NAME: Final = re.compile(r"\A[A-Z][a-z]+(?: [A-Z][a-z]+)*\Z")
_NEW: Final = re.compile(r"\b(?:to|as|into) ([A-Z][a-z]+(?: [A-Z][a-z]+)*)\b")
_ZONE: Final = re.compile(r"Z\"|\+00:00")
"""Matches in a moment that may have another date elsewhere."""
_TAG: Final = re.compile(r"(?<![\w&/#@])([#@])[A-Za-z][\w-]+")
_SHORT_ID: Final = re.compile(r"(?<![\w&/#@.-])([A-Z]{2,}-|[A-Za-z]+_)\d{1,2}(?![\w-])")
_SOURCED: Final = ("address", "identifier")
"""Families whose values nobody computes; a date may follow from "tomorrow", and a new file has a new path."""


def find_other_values(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the values of acting calls without a source, and those that differ from the claimed ones."""
    for call in evidence.calls:
        if call.state == "acted":
            yield from _find_invented(evidence, call)
    for turn in evidence.said:
        yield from _find_contradicted(evidence, turn)


def _find_invented(evidence: Evidence, call: EvidenceCall) -> Iterator[DefectFinding]:
    sources, task = _read_sources(evidence, call.place), evidence.asked[0].text if evidence.asked else ""
    text = "\n".join(sources).lower()
    targets = [value for key, leaf in call.leaves for value in _read_target(key, leaf)]
    invented = [value for value in targets if value.value.lower() not in text]
    if not invented:
        return
    passed = " ".join(each.args_text for each in evidence.calls if each.acts)
    known = {value for source in sources for value in read_typed(source)}
    known |= {_name_number(number) for number in _NUMBER.findall(task) if number not in passed}
    # What is created may get the next number.
    known |= set() if "create" in list_families(call.words[:1]) else {*_list_short("\n".join(sources))}
    for value in invented:
        if others := sorted(other.value for other in known if _is_alike(other, value)):
            seen = f"{call.name} was called with {value.value}, which no source has; known is {others[0]}"
            yield DefectFinding(_RULE, "defect", task, seen, None, call.place)


def _read_target(key: str, leaf: object) -> Iterator[TypedValue]:
    target = str(leaf).strip()
    number = target.lstrip("#")
    if names_any(key, _OWN_KEYS):
        return
    if _ID_KEY.search(key) and number.isdigit():
        yield from (_name_number(number),) if number == target else ()
    elif isinstance(leaf, str):
        # A value within prose is what the call writes, and no target of it.
        read = (*read_typed(leaf), *_list_short(leaf))
        typed = (value for value in read if value.value.lower() == target.lower())
        yield from (value for value in typed if value.family.startswith(_SOURCED))


def _list_short(text: str) -> Iterator[TypedValue]:
    """Yield the identifiers of one or two digits, such as rec_2 and AB-7."""
    yield from (TypedValue(f"identifier {match[1]}", match[0]) for match in _SHORT_ID.finditer(text))


def _name_number(number: str) -> TypedValue:
    return TypedValue(f"number of {len(number)} digits", number)


def _is_alike(other: TypedValue, value: TypedValue) -> bool:
    return other.family == value.family and (
        value.family == "address" or abs(len(other.value) - len(value.value)) <= 1
    )


def _read_sources(evidence: Evidence, place: int) -> list[str]:
    said = [turn.text for turn in evidence.asked if turn.known <= place]
    return [*evidence.given, *said, *(call.answer for call in evidence.calls[:place])]


def _find_contradicted(evidence: Evidence, turn: EvidenceTurn) -> Iterator[DefectFinding]:
    """Yield the values that the task and a turn name, if calls have another one in place of them."""
    known = evidence.calls[: turn.known]
    calls, claims = [call for call in known if call.acts], find_claims(turn.text)
    if not calls or any(call.is_open for call in known) or not claims:
        return
    yield from _find_replaced(evidence, turn, calls, claims)
    for claim in claims:
        yield from _find_other_amount(evidence, turn, claim, calls)


def _find_replaced(
    evidence: Evidence, turn: EvidenceTurn, calls: Sequence[EvidenceCall], claims: Sequence[Claim]
) -> Iterator[DefectFinding]:
    asked, claimed = evidence.asked_before(turn), "\n".join(claim.sentence for claim in claims)
    named = _read_values(asked) | _name_all(_NEW.findall(asked))
    # "From A to B" is a way, and no change.
    changes = [each.clause for each in claims if "update" in each.families and " from " not in each.clause]
    said = _read_values(claimed) | _name_all(_NEW.findall("\n".join(changes)))
    if not named & said:
        return
    # Parts are read one by one: the end of one text and the beginning of the next are no value.
    passed = {(value, call) for call in calls for _, leaf in call.leaves for value in _read_values(str(leaf))}
    done = {value for value, _ in passed} | {value for call in calls for value in _read_values(call.answer)}
    args = " ".join(call.args_text for call in calls)
    done |= {
        each for each in said if each.family == "name" and any(map(args.__contains__, each.value.split()))
    }
    # The same moment may have another date in another time zone, but hardly the same time.
    moments = {value for value in said if value.family == "time"}
    moments |= set() if moments & done else {value for value in said if value.family.startswith("date")}
    for wanted in sorted((named & said) - done, key=lambda each: each.value):
        others = [
            (value, call)
            for value, call in passed
            if value.family == wanted.family
            and value not in named | said
            and not any(value in _read_values(read.answer) for read in evidence.calls[: call.place])
            and (value.family != "name" or names_any(claimed, call.words))
        ]
        has_zone = "UTC" in turn.text or any(_ZONE.search(call.args_text) for _, call in others)
        if others and not (wanted in moments and has_zone):
            other, call = min(others, key=lambda each: (each[1].place, each[0].value))
            yield _build_finding(turn, call, claimed, other.value, wanted.value)


def _build_finding(
    turn: EvidenceTurn, call: EvidenceCall, said: str, passed: str, wanted: str
) -> DefectFinding:
    seen = f"{call.name} was called with {passed}, and no acting call with {wanted}"
    return DefectFinding(_RULE, "defect", said, seen, turn.place, call.place)


def _find_other_amount(
    evidence: Evidence, turn: EvidenceTurn, claim: Claim, calls: Sequence[EvidenceCall]
) -> Iterator[DefectFinding]:
    """Yield the amounts of a claim that the task has, if a call has another one without a source."""
    asked = read_numbers(evidence.asked_before(turn))
    if not asked:
        return
    done = read_numbers("\n".join(f"{call.args_text} {call.answer}" for call in calls))
    leaves = ((key, leaf, call) for call in calls for key, leaf in call.leaves)
    amounts = [(key, Decimal(str(leaf)), call) for key, leaf, call in leaves if type(leaf) in {int, float}]
    totals = {sum((each for key, each, _ in amounts if key == name), Decimal()) for name, _, _ in amounts}
    for fact in read_vital_numbers(claim.sentence):
        values = fact.value.numbers
        if asked.isdisjoint(values) or any(is_converted(abs(value), done | totals) for value in values):
            continue
        for key, amount, call in amounts:
            known = asked | read_numbers("\n".join(_read_sources(evidence, call.place)))
            if amount not in known and _is_meant(key, fact, claim):
                yield _build_finding(turn, call, claim.sentence, f"{key}: {amount}", fact.shown)


def _is_meant(key: str, fact: Fact, claim: Claim) -> bool:
    """Return whether the name of an argument fits the unit of an amount, or stands in the sentence."""
    words, unit = split_name(key), fact.value.unit
    if _ID_KEY.search(key):
        return False
    field_unit = read_field_unit(words)
    if is_money(unit):
        return is_money(field_unit) or not _AMOUNTS.isdisjoint(words)
    if unit and field_unit and scale_unit(Decimal(1), field_unit, unit) is not None:
        return True
    is_counted = not _COUNTS.isdisjoint(words) and any(word.endswith("s") for word in fact.around[-1:])
    is_named = any(len(word) >= _LONG and word in claim.sentence.lower() for word in words)
    return is_counted or (is_named and fact.around[:1] == ("to",))


@lru_cache(512)  # the arguments and answers of a run, which each of its turns may name
def _read_values(text: str) -> frozenset[TypedValue]:
    """Return the typed values of a text, its times, names such as #general, and a name that is all of it."""
    times = {
        TypedValue("time", f"{clock.hour:02}:{clock.minute:02}")
        for _, readings in find_times(text)
        for clock in readings
        if isinstance(clock, Clock)
    }
    tags = {TypedValue(f"tag {match[1]}", match[0].lower()) for match in _TAG.finditer(text)}
    return read_typed(text) | times | tags | {*_list_short(text)} | _name_all(_NAME.findall(text))


def _name_all(names: Iterable[str]) -> frozenset[TypedValue]:
    return frozenset(TypedValue("name", name) for name in names)
