"""Another target or value: an acting call has a value that contradicts the task or the answer."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from operator import attrgetter
from typing import Final

from agents.parsing.tool_names import split_name
from evaluation.defects.arithmetic import is_converted, read_numbers
from evaluation.defects.claims import Claim, find_claims, list_families, read_words
from evaluation.defects.evidence import DefectFinding, Evidence, EvidenceCall, EvidenceTurn, names_any
from evaluation.defects.sources import Source, index_first, is_in_any
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


@dataclass(frozen=True)
class _Known:
    """What the texts and calls of a run give, each with the place from which on it is known."""

    evidence: Evidence

    @cached_property
    def acting(self) -> Sequence[EvidenceCall]:
        """The calls that act."""
        return [call for call in self.evidence.calls if call.acts]

    @cached_property
    def sources(self) -> Sequence[Source]:
        """The texts that calls may take values from, by the place of the first one that may."""
        said = [Source(turn.known, turn.text) for turn in self.evidence.asked]
        answers = [Source(call.place + 1, call.answer) for call in self.evidence.calls]
        given = [Source(0, text) for text in self.evidence.given]
        return sorted([*given, *said, *answers], key=attrgetter("since"))

    @cached_property
    def numbers(self) -> Mapping[Decimal, int]:
        """The numbers of the sources."""
        return index_first((each.since, read_numbers(each.text)) for each in self.sources)

    @cached_property
    def typed(self) -> Mapping[TypedValue, int]:
        """The typed values of the sources."""
        return index_first((each.since, read_typed(each.text)) for each in self.sources)

    @cached_property
    def short(self) -> Mapping[TypedValue, int]:
        """The short identifiers of the sources."""
        return index_first((each.since, _list_short(each.text)) for each in self.sources)

    @cached_property
    def unused(self) -> Sequence[TypedValue]:
        """The long numbers of the task that no acting call has."""
        task = self.evidence.asked[0].text if self.evidence.asked else ""
        passed = " ".join(call.args_text for call in self.acting)
        return [_name_number(number) for number in _NUMBER.findall(task) if number not in passed]

    @cached_property
    def asked_numbers(self) -> Mapping[Decimal, int]:
        """The numbers of the user."""
        return index_first((turn.place, read_numbers(turn.text)) for turn in self.evidence.asked)

    @cached_property
    def done_numbers(self) -> Mapping[Decimal, int]:
        """The numbers of the calls that act."""
        return index_first((call.place, read_numbers(call.text)) for call in self.acting)

    @cached_property
    def _asked(self) -> Mapping[TypedValue, int]:
        asked = self.evidence.asked
        return index_first(
            (turn.place, _read_plain(turn.text) | _name_all(_NEW.findall(turn.text))) for turn in asked
        )

    def is_asked(self, value: TypedValue, turn: EvidenceTurn) -> bool:
        """Return whether the user has named a value before a turn, or said no more than this name."""
        is_alone = value.family == "name" and self.evidence.asked_before(turn) == value.value
        return is_alone or self._asked.get(value, turn.place) < turn.place

    @cached_property
    def passed(self) -> Sequence[tuple[TypedValue, EvidenceCall]]:
        """The values in the arguments of the calls that act.

        Parts are read one by one: the end of one text and the beginning of the next are no value.
        """
        leaves = ((call, str(leaf)) for call in self.acting for _, leaf in call.leaves)
        return [(value, call) for call, leaf in leaves for value in _read_values(leaf)]

    @cached_property
    def answered(self) -> Mapping[TypedValue, int]:
        """The values in the answers of all calls."""
        return index_first((call.place, _read_values(call.answer)) for call in self.evidence.calls)

    @cached_property
    def _done(self) -> Mapping[TypedValue, int]:
        answers = ((call.place, _read_values(call.answer)) for call in self.acting)
        return index_first([*answers, *((call.place, (value,)) for value, call in self.passed)])

    def is_done(self, value: TypedValue, turn: EvidenceTurn) -> bool:
        """Return whether a call before a turn has acted on a value, or has a word of a name."""
        if self._done.get(value, turn.known) < turn.known:
            return True
        words = value.value.split() if value.family == "name" else ()
        known = (call.args_text for call in self.acting if call.place < turn.known)
        return bool(words) and any(word in text for text in known for word in words)


def find_other_values(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the values of acting calls without a source, and those that differ from the claimed ones."""
    known = _Known(evidence)
    for call in evidence.calls:
        if call.state == "acted":
            yield from _find_invented(known, call)
    for turn in evidence.said:
        yield from _find_contradicted(known, turn)


def _find_invented(known: _Known, call: EvidenceCall) -> Iterator[DefectFinding]:
    targets = [value for key, leaf in call.leaves for value in _read_target(key, leaf)]
    invented = [value for value in targets if not is_in_any(value.value.lower(), known.sources, call.place)]
    if not invented:
        return
    asked = known.evidence.asked
    # What is created may get the next number.
    indexes = [known.typed] if "create" in list_families(call.words[:1]) else [known.typed, known.short]
    sourced = [each for index in indexes for each, since in index.items() if since <= call.place]
    for value in invented:
        if others := sorted(other.value for other in (*sourced, *known.unused) if _is_alike(other, value)):
            seen = f"{call.name} was called with {value.value}, which no source has; known is {others[0]}"
            yield DefectFinding(_RULE, "defect", asked[0].text if asked else "", seen, None, call.place)


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


def _find_contradicted(known: _Known, turn: EvidenceTurn) -> Iterator[DefectFinding]:
    """Yield the values that the task and a turn name, if calls have another one in place of them."""
    calls = known.evidence.calls[: turn.known]
    claims = find_claims(turn.text)
    if not claims or any(call.is_open for call in calls) or not any(call.acts for call in calls):
        return
    yield from _find_replaced(known, turn, claims)
    for claim in claims:
        yield from _find_other_amount(known, turn, claim)


def _find_replaced(known: _Known, turn: EvidenceTurn, claims: Sequence[Claim]) -> Iterator[DefectFinding]:
    claimed = "\n".join(claim.sentence for claim in claims)
    # "From A to B" is a way, and no change.
    changes = [each.clause for each in claims if "update" in each.families and " from " not in each.clause]
    said = _read_values(claimed) | _name_all(_NEW.findall("\n".join(changes)))
    left = [value for value in said if known.is_asked(value, turn) and not known.is_done(value, turn)]
    if not left:
        return
    # The same moment may have another date in another time zone, but hardly the same time.
    moments = {value for value in said if value.family == "time"}
    is_timed = any(known.is_done(value, turn) for value in moments)
    moments |= set() if is_timed else {value for value in said if value.family.startswith("date")}
    for wanted in sorted(left, key=lambda each: each.value):
        others = [
            (value, call)
            for value, call in known.passed
            if value.family == wanted.family
            and call.place < turn.known
            and not (value in said or known.is_asked(value, turn))
            and known.answered.get(value, call.place) >= call.place
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


def _find_other_amount(known: _Known, turn: EvidenceTurn, claim: Claim) -> Iterator[DefectFinding]:
    """Yield the amounts of a claim that the task has, if a call has another one without a source."""
    asked, done = known.asked_numbers, known.done_numbers
    facts = [
        fact
        for fact in read_vital_numbers(claim.sentence)
        if any(asked.get(value, turn.place) < turn.place for value in fact.value.numbers)
        and all(done.get(abs(value), turn.known) >= turn.known for value in fact.value.numbers)
    ]
    if not facts:
        return
    calls = [call for call in known.acting if call.place < turn.known]
    leaves = ((key, leaf, call) for call in calls for key, leaf in call.leaves)
    amounts = [(key, Decimal(str(leaf)), call) for key, leaf, call in leaves if type(leaf) in {int, float}]
    totals = defaultdict[str, Decimal](Decimal)
    for key, amount, _ in amounts:
        totals[key] += amount
    given = {number for number, place in done.items() if place < turn.known} | {*totals.values()}
    for fact in facts:
        if any(is_converted(abs(value), given) for value in fact.value.numbers):
            continue
        for key, amount, call in amounts:
            is_known = asked.get(amount, turn.place) < turn.place
            is_known |= known.numbers.get(amount, call.place + 1) <= call.place
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


def _read_values(text: str) -> frozenset[TypedValue]:
    """Return the typed values of a text, and a name that is all of it."""
    return _read_plain(text) | _name_all(_NAME.findall(text))


def _read_plain(text: str) -> frozenset[TypedValue]:
    """Return the typed values of a text, its times, and names such as #general."""
    times = {
        TypedValue("time", f"{clock.hour:02}:{clock.minute:02}")
        for _, readings in find_times(text)
        for clock in readings
        if isinstance(clock, Clock)
    }
    tags = {TypedValue(f"tag {match[1]}", match[0].lower()) for match in _TAG.finditer(text)}
    return read_typed(text) | times | tags | {*_list_short(text)}


def _name_all(names: Iterable[str]) -> frozenset[TypedValue]:
    return frozenset(TypedValue("name", name) for name in names)
