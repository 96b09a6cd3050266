"""Another target or value: an acting call has a value that contradicts the task or the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from agents.parsing.tool_names import split_name
from evaluation.defects.arithmetic import is_converted, read_numbers
from evaluation.defects.claims import Claim, find_claims
from evaluation.defects.evidence import (
    DefectFinding,
    Evidence,
    EvidenceCall,
    EvidenceTurn,
    names_any,
)
from evaluation.texts.fact_reading import Clock, Fact, TypedValue, find_times, read_facts, read_typed
from evaluation.texts.numbers import is_money, read_field_unit, scale_unit

_RULE: Final = "other_value"
_OWN_KEYS: Final = (
    "idempotency", "request", "correlation", "trace", "session", "new", "nonce", "ref", "file", "name",
)  # fmt: skip
"""Fields whose identifiers the caller makes up."""
_ID_KEY: Final = re.compile(r"(?:\A|_)(?:id|number|no)\Z|[a-z](?:Id|Number|No)\Z")
_NUMBER: Final = re.compile(r"(?<![\w.,:/$€£-])\d{3,}(?![\w%/-]|[.,:]\w)")
_AMOUNTS: Final = frozenset({"amount", "value", "sum", "total"})
_COUNTS: Final = frozenset({"quantity", "qty", "count", "number"})
_LONG: Final = 4
_NAME: Final = re.compile(r"\A[A-Z][a-z]+(?: [A-Z][a-z]+)*\Z")
_NEW: Final = re.compile(r"\b(?:to|as|into) ([A-Z][a-z]+(?: [A-Z][a-z]+)*)\b")
_TAG: Final = re.compile(r"(?<![\w&/#@])[#@][A-Za-z][\w-]+")
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
    sources, task = _read_sources(evidence, call.place), _quote_task(evidence)
    text = "\n".join(sources).lower()
    targets = [value for key, leaf in call.leaves for value in _read_target(key, leaf)]
    invented = [value for value in targets if value.value.lower() not in text]
    if not invented:
        return
    passed = " ".join(each.args_text for each in evidence.calls if each.acts)
    known = {value for source in sources for value in read_typed(source)}
    known |= {_name_number(number) for number in _NUMBER.findall(task) if number not in passed}
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
        typed = (value for value in read_typed(leaf) if value.value.lower() == target.lower())
        yield from (value for value in typed if value.family.startswith(_SOURCED))


def _name_number(number: str) -> TypedValue:
    return TypedValue(f"number of {len(number)} digits", number)


def _is_alike(other: TypedValue, value: TypedValue) -> bool:
    return other.family == value.family and (
        value.family == "address" or abs(len(other.value) - len(value.value)) <= 1
    )


def _read_sources(evidence: Evidence, place: int) -> list[str]:
    said = [turn.text for turn in evidence.asked if turn.known <= place]
    return [*evidence.given, *said, *(call.answer for call in evidence.calls[:place])]


def _quote_task(evidence: Evidence) -> str:
    return evidence.asked[0].text if evidence.asked else ""


def _find_contradicted(evidence: Evidence, turn: EvidenceTurn) -> Iterator[DefectFinding]:
    """Yield the values that the task and a turn name, if calls have another one in place of them."""
    known = evidence.calls[: turn.known]
    calls, claims = [call for call in known if call.acts], [*find_claims(turn.text)]
    if not calls or any(call.is_open for call in known) or not claims:
        return
    asked, claimed = evidence.asked_before(turn), "\n".join(claim.sentence for claim in claims)
    named = _read_values(asked) | {TypedValue("name", name) for name in _NEW.findall(asked)}
    said = _read_values(claimed) | {
        TypedValue("name", name) for claim in claims for name in _list_new_names(claim)
    }
    if named & said:
        yield from _find_replaced(evidence, turn, calls, claimed, named, said)
    for claim in claims:
        yield from _find_other_amount(evidence, turn, claim, calls)


def _find_replaced(  # noqa: PLR0917
    evidence: Evidence,
    turn: EvidenceTurn,
    calls: Sequence[EvidenceCall],
    claimed: str,
    named: frozenset[TypedValue],
    said: frozenset[TypedValue],
) -> Iterator[DefectFinding]:
    # Parts are read one by one: the end of one text and the beginning of the next are no value.
    passed = {(value, call) for call in calls for _, leaf in call.leaves for value in _read_values(str(leaf))}
    done = {value for value, _ in passed} | {value for call in calls for value in _read_values(call.answer)}
    done |= {value for value in said if value.family == "name" and _is_done(value.value, calls)}
    # The same moment may have another date in another time zone, but hardly the same time.
    moments = {value for value in said if value.family == "time"}
    moments |= set() if moments & done else {value for value in said if value.family.startswith("date")}
    for wanted in sorted((named & said) - done, key=lambda each: each.value):
        others = [
            (value, call)
            for value, call in passed
            if value.family == wanted.family
            and value not in {*named, *said, *_list_read(evidence, call)}
            and (value.family != "name" or names_any(claimed, call.words))
        ]
        if others and not (wanted in moments and _has_other_zone(turn, [call for _, call in others])):
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
    leaves = [leaf for call in calls for leaf in call.leaves if _is_amount(leaf[1])]
    totals = {
        sum((Decimal(str(leaf)) for key, leaf in leaves if key == name), Decimal()) for name, _ in leaves
    }
    facts = [fact for fact in read_facts(claim.sentence).facts if fact.kind == "number" and fact.is_vital]
    for fact in facts:
        values = {each for each in fact.value.readings if isinstance(each, Decimal)}
        if not values & asked or any(is_converted(abs(value), {*done, *totals}) for value in values):
            continue
        for call in calls:
            known = asked | read_numbers("\n".join(_read_sources(evidence, call.place)))
            for key, leaf in call.leaves:
                if _is_amount(leaf) and Decimal(str(leaf)) not in known and _is_meant(key, fact, claim):
                    yield _build_finding(turn, call, claim.sentence, f"{key}: {leaf}", fact.shown)


def _is_amount(leaf: object) -> bool:
    return isinstance(leaf, int | float) and not isinstance(leaf, bool)


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


def _read_values(text: str) -> frozenset[TypedValue]:
    """Return the typed values of a text, its times, names such as #general, and a name that is all of it."""
    times = {
        TypedValue("time", f"{clock.hour:02}:{clock.minute:02}")
        for _, readings in find_times(text)
        for clock in readings
        if isinstance(clock, Clock)
    }
    names = {TypedValue("name", found) for found in _NAME.findall(text)}
    tags = {TypedValue("tag", match[0].lower()) for match in _TAG.finditer(text)}
    return read_typed(text) | times | names | tags


def _list_new_names(claim: Claim) -> list[str]:
    """List the names that a claim says something was changed to; "from A to B" is a way."""
    is_change = "update" in claim.families and " from " not in claim.clause
    return _NEW.findall(claim.clause) if is_change else []


def _is_done(name: str, calls: Sequence[EvidenceCall]) -> bool:
    return any(word in call.args_text for call in calls for word in name.split())


def _list_read(evidence: Evidence, call: EvidenceCall) -> Iterator[TypedValue]:
    for other in evidence.calls[: call.place]:
        yield from _read_values(other.answer)


def _has_other_zone(turn: EvidenceTurn, calls: Sequence[EvidenceCall]) -> bool:
    """Return whether a call may name the same moment in another time zone, on another day."""
    return any('Z"' in call.args_text or "+00:00" in call.args_text for call in calls) or "UTC" in turn.text
