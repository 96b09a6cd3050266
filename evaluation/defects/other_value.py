"""Another target or value: an acting call has a value that contradicts the task or the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from evaluation.defects.claims import find_claims
from evaluation.defects.evidence import DefectFinding, Evidence, EvidenceCall, EvidenceTurn, list_leaves
from evaluation.texts.fact_reading import TypedValue, read_typed

_RULE: Final = "other_value"
_OWN_KEYS: Final = (
    "idempotency",
    "request",
    "correlation",
    "trace",
    "session",
    "new",
    "nonce",
    "ref",
    "file",
    "name",
)
"""Fields whose identifiers the caller makes up."""
_ID_KEY: Final = re.compile(r"(?:\A|_)(?:id|number|no)\Z|[a-z](?:Id|Number|No)\Z")
_NUMBER: Final = re.compile(r"(?<![\w.,:/$€£-])\d{3,}(?![\w%/-]|[.,:]\w)")
_SOURCED: Final = ("address", "identifier")
"""Families whose values nobody computes; a date may follow from "tomorrow", and a new file has a new path."""


def find_other_values(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the values of acting calls without a source, and those that differ from the claimed ones."""
    for call in evidence.calls:
        if call.state == "acted":
            yield from _find_invented(evidence, call)
            yield from _find_other_number(evidence, call)
    for turn in evidence.said:
        yield from _find_contradicted(evidence, turn)


def _find_invented(evidence: Evidence, call: EvidenceCall) -> Iterator[DefectFinding]:
    sources = _read_sources(evidence, call.place)
    text = "\n".join(sources)
    known = frozenset(value for source in sources for value in read_typed(source))
    for key, leaf in list_leaves(call.args):
        is_own = any(word in key.lower() for word in _OWN_KEYS)
        target = leaf.strip().lower() if isinstance(leaf, str) and not is_own else ""
        for value in read_typed(target and str(leaf)):
            # A value within prose is what the call writes, and no target of it.
            is_target = value.value.lower() == target and value.family.startswith(_SOURCED)
            others = sorted(other.value for other in known if _is_alike(other, value))
            if is_target and others and value.value.lower() not in text.lower():
                seen = f"{call.name} was called with {value.value}, which no source has; known is {others[0]}"
                yield DefectFinding(_RULE, "defect", _quote_task(evidence), seen, None, call.place)


def _find_other_number(evidence: Evidence, call: EvidenceCall) -> Iterator[DefectFinding]:
    """Yield the number of a thing that no source has, if the task has one of this length that no call has."""
    text = "\n".join(_read_sources(evidence, call.place))
    passed = " ".join(each.args_text for each in evidence.calls if each.acts)
    asked = [number for number in _NUMBER.findall(_quote_task(evidence)) if number not in passed]
    for key, leaf in list_leaves(call.args):
        number = str(leaf).strip().lstrip("#")
        others = [other for other in asked if len(other) == len(number)]
        if _ID_KEY.search(key) and number.isdigit() and others and number not in text:
            seen = f"{call.name} was called with {number}, which no source has; the task has {others[0]}"
            yield DefectFinding(_RULE, "defect", _quote_task(evidence), seen, None, call.place)


def _is_alike(other: TypedValue, value: TypedValue) -> bool:
    return other.family == value.family and (
        value.family == "address" or abs(len(other.value) - len(value.value)) <= 1
    )


def _read_sources(evidence: Evidence, place: int) -> list[str]:
    said = [turn.text for turn in evidence.turns if turn.role == "user" and turn.known <= place]
    return [*evidence.given, *said, *(call.answer for call in evidence.calls[:place])]


def _quote_task(evidence: Evidence) -> str:
    return next((turn.text for turn in evidence.turns if turn.role == "user"), "")


def _find_contradicted(evidence: Evidence, turn: EvidenceTurn) -> Iterator[DefectFinding]:
    """Yield the values that the task and a turn name, if calls have another one in place of them."""
    calls = [call for call in evidence.known_at(turn) if call.acts]
    claimed = "\n".join(claim.sentence for claim in find_claims(turn.text))
    if not calls or any(call.is_open for call in evidence.known_at(turn)) or not claimed:
        return
    asked, said = read_typed(evidence.asked_before(turn)), read_typed(claimed)
    # Parts are read one by one: the end of one text and the beginning of the next are no value.
    passed = {
        (value, call)
        for call in calls
        for _, leaf in list_leaves(call.args)
        for value in read_typed(str(leaf))
    }
    done = {value for value, _ in passed} | {value for call in calls for value in read_typed(call.answer)}
    for wanted in sorted((asked & said) - done, key=lambda each: each.value):
        others = [
            (value, call)
            for value, call in passed
            if value.family == wanted.family and value not in {*asked, *_list_read(evidence, call)} - said
        ]
        is_date = wanted.family.startswith("date")
        if others and not (is_date and _has_other_zone(turn, [call for _, call in others])):
            other, call = min(others, key=lambda each: each[1].place)
            seen = f"{call.name} was called with {other.value}, and no acting call with {wanted.value}"
            yield DefectFinding(_RULE, "defect", claimed, seen, turn.place, call.place)


def _list_read(evidence: Evidence, call: EvidenceCall) -> Iterator[TypedValue]:
    for other in evidence.calls[: call.place]:
        yield from read_typed(other.answer)


def _has_other_zone(turn: EvidenceTurn, calls: list[EvidenceCall]) -> bool:
    """Return whether a call may name the same moment in another time zone, on another day."""
    return any('Z"' in call.args_text for call in calls) or "UTC" in turn.text
