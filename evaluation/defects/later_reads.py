"""Not there afterwards: a later read shows another value than was set, or that the thing does not exist."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from agents.parsing.tool_names import ACTING_VERBS
from evaluation.defects.claims import find_claims, read_pattern, read_words
from evaluation.defects.evidence import DefectFinding, Evidence, EvidenceCall, EvidenceTurn, names_value
from evaluation.defects.failed_calls import admits_failure
from evaluation.sensitive.scanner import quote_text
from evaluation.values import as_object

_ABSENT: Final = read_pattern("absent")
_STATES: Final = frozenset({"status", "state"})
_OPEN: Final = frozenset({"pending", "queued", "accepted", "scheduled", "processing", "in_progress"})
_LONGEST: Final = 100
_SHORTEST_ID: Final = 3
_NAMES: Final = ACTING_VERBS | read_words("reading")


def find_missing_effects(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the reads after the last acting call that contradict it, and answers that leave the act open."""
    answer = evidence.answer
    if admits_failure(answer.text):
        return
    has_claims = any(find_claims(answer.text))
    calls = evidence.calls[: answer.known]
    for place, call in enumerate(calls):
        if not call.has_acted:
            continue
        later = [other for other in calls[place + 1 :] if other.state in {"read", "missed"}]
        # A later act on the same thing may have changed it again.
        redone = any(other.acts and other.name == call.name for other in calls[place + 1 :])
        reads = [] if redone else [other for other in later if _reads_result(other, call)]
        yield from _compare_reads(answer, call, reads)
        yield from _find_unchanged(answer, call, later if "delete" in call.families else reads)
        if has_claims and not reads and (states := _list_states(call, _OPEN)):
            seen = f"{call.name} answered {quote_text(states[0])}, and nothing shows that it was done"
            yield DefectFinding("left_open", "note", answer.text, seen, answer.place, call.place)


def _reads_result(read: EvidenceCall, call: EvidenceCall) -> bool:
    asked = {str(leaf) for _, leaf in read.leaves} - {"", "None"}
    known = {str(leaf) for _, leaf in (*call.leaves, *call.answered)}
    if any(len(value) >= _SHORTEST_ID and not value.isalpha() for value in asked & known):
        return True
    is_same = not asked or any(field in call.leaves for field in read.leaves)
    return is_same and bool({*read.words} & {*call.words} - _NAMES)


def _compare_reads(
    answer: EvidenceTurn, call: EvidenceCall, reads: Sequence[EvidenceCall]
) -> Iterator[DefectFinding]:
    if not reads:
        return
    last = reads[-1]
    if last.state == "missed" and _ABSENT.search(last.answer):
        seen = f"{last.name} answered {quote_text(last.answer, _LONGEST)} after {call.name}"
        yield DefectFinding("not_there", "defect", answer.text, seen, answer.place, last.place)
        return
    fields = as_object(last.value)
    fields = as_object(fields.get("output", fields))
    for name, value in call.args.items():
        shown = fields.get(name)
        is_told = shown != "" and names_value(answer.text, shown)
        if last.args and shown is not None and _differs(value, shown) and not is_told:
            seen = (
                f"{call.name} set {name} to {quote_text(str(value), _LONGEST)}, and {last.name} shows "
                f"{quote_text(str(shown), _LONGEST)} afterwards"
            )
            yield DefectFinding("not_there", "defect", answer.text, seen, answer.place, last.place)


def _find_unchanged(
    answer: EvidenceTurn, call: EvidenceCall, reads: Sequence[EvidenceCall]
) -> Iterator[DefectFinding]:
    """Yield the reads in which a thing that was deleted is still listed, or one that was closed is open."""
    targets = {str(leaf) for _, leaf in call.leaves} if "delete" in call.families else set()
    open_states = {state for name in call.families for state in _UNCHANGED.get(name, ())}
    claimed = {name for claim in find_claims(answer.text) for name in claim.families}
    for read in reads[-1:] if claimed & call.families else ():
        listed = [str(leaf) for _, leaf in read.answered] if isinstance(read.value, list) else []
        shown = [leaf for leaf in listed if leaf in targets and not leaf.isdigit()]
        if targets and isinstance(read.value, dict) and not _GONE.search(read.answer):
            shown = [
                str(leaf)
                for name, leaf in read.answered
                if name.lower().endswith(_IDS) and str(leaf) in targets
            ]
        if shown := [*shown, *_list_states(read, open_states)]:
            seen = f"{read.name} shows {quote_text(shown[0])} after {call.name}"
            yield DefectFinding("not_there", "defect", answer.text, seen, answer.place, read.place)


_IDS: Final = ("id", "key", "name", "path")
_GONE: Final = read_pattern("gone")
"""Matches in what is shown of a thing that was deleted."""
_UNCHANGED: Final = {"resolve": read_words("not_resolved"), "cancel": read_words("not_cancelled")}
"""The states of a thing to which nothing was done."""


def _differs(value: object, shown: object) -> bool:
    """Return whether a value that was set is not in the value that is shown, in any notation."""
    if isinstance(value, Mapping) and isinstance(shown, Mapping):
        return any(name not in shown or _differs(inner, shown[name]) for name, inner in value.items())
    if type(value) is not type(shown) or not isinstance(value, str | int | float):
        return False
    first, second = (" ".join(str(each).split()).lower() for each in (value, shown))
    return bool(first) and first not in second and not (second and second in first)


def _list_states(call: EvidenceCall, known: Collection[str]) -> list[str]:
    states = [str(leaf) for name, leaf in call.answered if name in _STATES]
    return [state for state in states if state.lower() in known]
