"""Another target or value: an acting call has a value that contradicts the task or the answer."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from agents.parsing.tool_names import split_name
from evaluation.defects.arithmetic import is_converted
from evaluation.defects.claims import Claim, find_claims, list_families, read_words
from evaluation.defects.evidence import DefectFinding, Evidence, EvidenceCall, EvidenceTurn, Moment, names_any
from evaluation.defects.sources import (
    DONE,
    SOURCES,
    SourceIndex,
    index_sources,
    list_new_names,
    list_short_ids,
    read_values,
)
from evaluation.texts.fact_reading import Fact, TypedValue, read_typed, read_vital_numbers
from evaluation.texts.numbers import is_money, read_field_unit, scale_unit

_RULE: Final = "other_value"
_OWN_KEYS: Final = read_words("own_keys")
"""Fields whose identifiers the caller makes up."""
_ID_KEY: Final = re.compile(r"(?:\A|_)(?:id|number|no)\Z|[a-z](?:Id|Number|No)\Z")
_NUMBER: Final = re.compile(r"(?<![\w.,:/$€£-])\d{3,}(?![\w%/-]|[.,:]\w)")
_AMOUNTS: Final = frozenset({"amount", "value", "sum", "total"})
_COUNTS: Final = frozenset({"quantity", "qty", "count", "number"})
_LONG: Final = 4
_ZONE: Final = re.compile(r"Z\"|\+00:00")
"""Matches in a moment that may have another date elsewhere."""
_SOURCED: Final = ("address", "identifier")
"""Families whose values nobody computes; a date may follow from "tomorrow", and a new file has a new path."""


def find_other_values(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the values of acting calls without a source, and those that differ from the claimed ones."""
    index = index_sources(evidence)
    unused = [*_list_unused(evidence)]
    for call in evidence.calls:
        if call.state == "acted":
            yield from _find_invented(index, call, unused)
    acting = [call for call in evidence.calls if call.acts]
    for turn in evidence.said if acting else ():
        yield from _find_contradicted(index, turn, acting)


def _list_unused(evidence: Evidence) -> Iterator[TypedValue]:
    """Yield the long numbers of the task that no acting call has."""
    passed = " ".join(call.args_text for call in evidence.calls if call.acts)
    numbers = _NUMBER.findall(evidence.asked[0].text) if evidence.asked else ()
    yield from (_name_number(number) for number in numbers if number not in passed)


def _find_invented(
    index: SourceIndex, call: EvidenceCall, unused: Sequence[TypedValue]
) -> Iterator[DefectFinding]:
    before: Moment = (call.place, float("inf"))
    asked = index.evidence.asked
    for key, leaf in call.leaves:
        for value in _read_target(key, leaf, call):
            if index.has_text(value.value.lower(), before):
                continue
            known = [TypedValue(value.family, each) for each in index.list_family(value.family, before)]
            if others := sorted(other.value for other in (*known, *unused) if _is_alike(other, value)):
                seen = f"{call.name} was called with {value.value}, which no source has; known is {others[0]}"
                yield DefectFinding(_RULE, "defect", asked[0].text if asked else "", seen, None, call.place)


def _read_target(key: str, leaf: object, call: EvidenceCall) -> Iterator[TypedValue]:
    target = str(leaf).strip()
    number = target.lstrip("#")
    if names_any(key, _OWN_KEYS):
        return
    if _ID_KEY.search(key) and number.isdigit():
        yield from (_name_number(number),) if number == target else ()
    elif isinstance(leaf, str):
        # A value within prose is what the call writes, and no target of it.
        # What is created may get the next number.
        creates = "create" in list_families(call.words[:1])
        read = (*read_typed(leaf), *(() if creates else list_short_ids(leaf)))
        typed = (value for value in read if value.value.lower() == target.lower())
        yield from (value for value in typed if value.family.startswith(_SOURCED))


def _name_number(number: str) -> TypedValue:
    return TypedValue(f"number of {len(number)} digits", number)


def _is_alike(other: TypedValue, value: TypedValue) -> bool:
    return other.family == value.family and (
        value.family == "address" or abs(len(other.value) - len(value.value)) <= 1
    )


def _find_contradicted(
    index: SourceIndex, turn: EvidenceTurn, acting: Sequence[EvidenceCall]
) -> Iterator[DefectFinding]:
    """Yield the values that the task and a turn name, if calls have another one in place of them."""
    claims = find_claims(turn.text)
    known = [call for call in acting if call.place < turn.known]
    if not (claims and known) or any(call.is_open for call in index.evidence.calls[: turn.known]):
        return
    yield from _find_replaced(index, turn, claims, known)
    for claim in claims:
        yield from _find_other_amount(index, turn, claim, known)


def _find_replaced(
    index: SourceIndex, turn: EvidenceTurn, claims: Sequence[Claim], acting: Sequence[EvidenceCall]
) -> Iterator[DefectFinding]:
    claimed = "\n".join(claim.sentence for claim in claims)
    # "From A to B" is a way, and no change.
    changes = [each.clause for each in claims if "update" in each.families and " from " not in each.clause]
    read = read_values(claimed) | list_new_names("\n".join(changes))
    said = {value for value in read if isinstance(value, TypedValue)}
    asked = list_new_names(index.evidence.asked_before(turn))
    left = {
        value
        for value in said
        if (value in asked or index.is_known(value, turn.moment, ("asked",)))
        and not _is_done(index, value, turn, acting)
    }
    # The same moment may have another date in another time zone, but hardly the same time.
    moments = {value for value in said if value.family == "time"}
    is_timed = any(_is_done(index, value, turn, acting) for value in moments)
    moments |= set() if is_timed else {value for value in said if value.family.startswith("date")}
    for wanted in sorted(left, key=lambda each: each.value):
        others = [
            (value.value, call)
            for call in acting
            for value in _read_passed(call)
            if value.family == wanted.family
            and value not in said | asked
            and not index.is_known(value, turn.moment, ("asked",))
            and not index.is_known(value, (call.place, float("inf")), ("effect", "read"))
            and (value.family != "name" or names_any(claimed, call.words))
        ]
        has_zone = "UTC" in turn.text or any(_ZONE.search(call.args_text) for _, call in others)
        if others and not (wanted in moments and has_zone):
            other, call = min(others, key=lambda each: (each[1].place, each[0]))
            yield _build_finding(turn, call, claimed, other, wanted.value)


def _is_done(
    index: SourceIndex, value: TypedValue, turn: EvidenceTurn, acting: Sequence[EvidenceCall]
) -> bool:
    """Return whether a call before a turn has acted on a value, or has a word of a name."""
    words = value.value.split() if value.family == "name" else ()
    is_named = any(word in call.args_text for word in words for call in acting)
    return is_named or index.is_known(value, turn.moment, DONE)


def _read_passed(call: EvidenceCall) -> Iterator[TypedValue]:
    values = (value for _, leaf in call.leaves for value in read_values(str(leaf)))
    yield from (value for value in values if isinstance(value, TypedValue))


def _build_finding(
    turn: EvidenceTurn, call: EvidenceCall, said: str, passed: str, wanted: str
) -> DefectFinding:
    seen = f"{call.name} was called with {passed}, and no acting call with {wanted}"
    return DefectFinding(_RULE, "defect", said, seen, turn.place, call.place)


def _find_other_amount(
    index: SourceIndex, turn: EvidenceTurn, claim: Claim, acting: Sequence[EvidenceCall]
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
    totals = defaultdict[str, Decimal](Decimal)
    for key, amount, _ in amounts:
        totals[key] += amount
    given = {*totals.values(), *(amount for _, amount, _ in amounts)}
    for fact in facts:
        if any(is_converted(abs(value), given) for value in fact.value.numbers):
            continue
        for key, amount, call in amounts:
            is_known = index.is_known(amount, turn.moment, ("asked",))
            is_known |= index.is_known(amount, (call.place, float("inf")), SOURCES)
            if not is_known and _is_meant(key, fact, claim):
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
