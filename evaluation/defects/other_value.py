"""Another target or value: an acting call has a value that contradicts the task or the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from operator import itemgetter
from typing import Final

from evaluation.defects.arithmetic import combine, is_converted, is_equal, read_numbers
from evaluation.defects.claims import Claim, find_claims, list_families, read_words
from evaluation.defects.evidence import Call, DefectFinding, Evidence, Moment, Turn, names_any
from evaluation.defects.sources import (
    DONE,
    ID_KEY,
    SOURCES,
    SourceIndex,
    index_sources,
    list_short_ids,
    read_values,
)
from evaluation.texts.fact_reading import TypedValue, read_typed, read_vital_numbers

_RULE: Final = "other_value"
_NUMERIC: Final = "number"
"""The family of targets that are numbers, of which only the same length is alike."""
_NUMBER: Final = re.compile(r"(?<![\w.,:/$€£-])\d{3,}(?![\w%/-]|[.,:]\w)")
_MANY: Final = 40
"""Different numbers from which nearly any other one follows."""
_ZONE: Final = re.compile(r"Z\"|\+00:00")
"""Matches in a moment that may have another date elsewhere."""
_SOURCED: Final = ("address", "identifier")
"""Families whose values nobody computes; a date may follow from "tomorrow", and a new file has a new path."""


def find_other_values(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the values of acting calls without a source, and those that differ from the claimed ones."""
    index = index_sources(evidence)
    yield from _find_invented(index)
    for turn in evidence.said:
        claims, calls = find_claims(turn.text), evidence.calls[: turn.known]
        acting = [call for call in calls if call.acts]
        if claims and acting and not any(call.is_open for call in calls):
            yield from _find_replaced(index, turn, claims, acting)
            for claim in claims:
                yield from _find_other_amount(index, turn, claim, acting)


def _find_invented(index: SourceIndex) -> Iterator[DefectFinding]:
    """Yield the targets of calls that no source has, if sources or the task have others of their kind."""
    evidence = index.evidence
    task = evidence.asked[0].text if evidence.asked else ""
    for call in evidence.calls:
        before: Moment = (call.place, float("inf"))
        fields = call.leaves if call.state == "acted" else ()
        for family, target in (value for key, leaf in fields for value in _read_target(key, leaf, call)):
            if index.has_text(target.lower(), before):
                continue
            is_number = family == _NUMERIC
            known = _list_unused(task, evidence.calls) if is_number else index.list_family(family, before)
            reach = len(target) if family == "address" else not is_number
            others = sorted(each for each in known if abs(len(each) - len(target)) <= reach)
            if others:
                seen = f"{call.name} was called with {target}, which no source has; known is {others[0]}"
                yield DefectFinding(_RULE, "defect", task, seen, None, call.place, "task")


def _list_unused(task: str, calls: Sequence[Call]) -> list[str]:
    """Return the numbers of the task that no call that acts has."""
    passed = " ".join(call.args_text for call in calls if call.acts)
    return [number for number in _NUMBER.findall(task) if number not in passed]


def _read_target(key: str, leaf: object, call: Call) -> Iterator[TypedValue]:
    target = str(leaf).strip()
    if names_any(key, read_words("own_keys")):
        return
    if ID_KEY.search(key) and target.isdigit():
        yield TypedValue(_NUMERIC, target)
    elif isinstance(leaf, str):
        # A value within prose is what the call writes, and no target of it.
        # What is created may get the next number.
        creates = "create" in list_families(call.words[:1])
        read = (*read_typed(leaf), *(() if creates else list_short_ids(leaf)))
        typed = (value for value in read if value.value.lower() == target.lower())
        yield from (value for value in typed if value.family.startswith(_SOURCED))


def _find_replaced(
    index: SourceIndex, turn: Turn, claims: Sequence[Claim], acting: Sequence[Call]
) -> Iterator[DefectFinding]:
    claimed = "\n".join(claim.sentence for claim in claims)
    said = read_values(claimed)
    is_timed = any(value.family == "time" and index.is_known(value, turn.moment, DONE) for value in said)
    for wanted in sorted(said):
        is_asked = index.is_known(wanted, turn.moment, ("asked",))
        if not is_asked or index.is_known(wanted, turn.moment, DONE):
            continue
        others = [
            (call.place, value.value, call)
            for call in acting
            for _, leaf in call.leaves
            for value in read_values(str(leaf))
            if value.family == wanted.family
            and value not in said
            and not index.is_known(value, turn.moment, ("asked",))
            and not index.is_known(value, (call.place, float("inf")), ("effect", "read"))
        ]
        # The same moment may have another date in another time zone, but hardly the same time.
        is_moment = wanted.family == "time" or (wanted.family.startswith("date") and not is_timed)
        has_zone = "UTC" in turn.text or any(_ZONE.search(each[-1].args_text) for each in others)
        if others and not (is_moment and has_zone):
            _, other, call = min(others, key=itemgetter(0, 1))
            yield _build_finding(turn, call, claimed, other, wanted.value)


def _build_finding(turn: Turn, call: Call, said: str, passed: str, wanted: str) -> DefectFinding:
    seen = f"{call.name} was called with {passed}, and no acting call with {wanted}"
    return DefectFinding(_RULE, "defect", said, seen, turn.place, call.place)


def _find_other_amount(
    index: SourceIndex, turn: Turn, claim: Claim, acting: Sequence[Call]
) -> Iterator[DefectFinding]:
    """Yield the amounts of a claim that the task has, if a call has another one without a source."""
    facts = [
        fact
        for fact in read_vital_numbers(claim.sentence)
        if any(index.is_known(value, turn.moment, ("asked",)) for value in fact.value.numbers)
        and not any(index.is_known(abs(value), turn.moment, DONE) for value in fact.value.numbers)
    ]
    leaves = ((key, leaf, call) for call in acting for key, leaf in call.leaves) if facts else ()
    amounts = [(key, Decimal(str(leaf)), call) for key, leaf, call in leaves if type(leaf) in {int, float}]
    totals = (sum(amount for name, amount, _ in amounts if name == key) for key, _, _ in amounts)
    given = {*map(Decimal, totals), *(amount for _, amount, _ in amounts)}
    for fact in facts:
        if any(is_converted(abs(value), given) for value in fact.value.numbers):
            continue
        for key, amount, call in amounts:
            if not (ID_KEY.search(key) or _may_follow(index, amount, call)):
                yield _build_finding(turn, call, claim.sentence, f"{key}: {amount}", fact.shown)


def _may_follow(index: SourceIndex, amount: Decimal, call: Call) -> bool:
    """Return whether an amount is known before a call, or the result of one operation on known numbers."""
    before: Moment = (call.place, float("inf"))
    texts = (each.text for each in index.texts if each.since <= before and each.origin in SOURCES)
    known = frozenset[Decimal]().union(*map(read_numbers, texts))
    return (
        amount in known or len(known) > _MANY or any(is_equal(amount, each) for each in combine(known, known))
    )
