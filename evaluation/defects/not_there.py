"""Not there afterwards: a later read shows another value than was set, or that the thing does not exist."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from agents.parsing.tool_names import ACTING_VERBS
from evaluation.defects.claims import find_claims
from evaluation.defects.evidence import Evidence, EvidenceCall, EvidenceTurn, list_leaves
from evaluation.defects.findings import DefectFinding
from evaluation.sensitive.scanner import quote_text

_RULE: Final = "not_there"
_ABSENT: Final = re.compile(
    r"\bnot[_ ]found\b|\bdoes(?: not|n't) exist\b|\bno such\b|\b404\b"
    r"|\bno (?:\w+ ){1,3}(?:yet|with (?:that|this) \w+)\b",
    re.IGNORECASE,
)
_OPEN: Final = frozenset({"pending", "queued", "accepted", "scheduled", "processing", "in_progress"})
_LONGEST: Final = 100
_SHORTEST_ID: Final = 3
_NAMES: Final = ACTING_VERBS | {
    "get",
    "read",
    "list",
    "show",
    "find",
    "search",
    "fetch",
    "lookup",
    "file",
    "data",
    "by",
    "id",
}


def find_missing_effects(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the reads after the last acting call that contradict it, and answers that leave the act open."""
    answer = evidence.answer
    if answer is None or not any(find_claims(answer.text)):
        return
    calls = evidence.known_at(answer)
    for place, call in enumerate(calls):
        if call.state != "acted":
            continue
        later = [other for other in calls[place + 1 :] if other.state in {"read", "missed"}]
        # A later act on the same thing may have changed it again.
        redone = any(other.acts and other.name == call.name for other in calls[place + 1 :])
        reads = [] if redone else [other for other in later if _is_about(other, call)]
        yield from _compare_reads(answer, call, reads)
        if not reads and (status := _find_open_status(call)):
            seen = f"{call.name} answered {quote_text(status)}, and nothing shows that it was done"
            yield DefectFinding("left_open", "note", answer.text, seen, answer.place, call.place)


def _is_about(read: EvidenceCall, call: EvidenceCall) -> bool:
    asked = {str(leaf) for _, leaf in list_leaves(read.args)} - {"", "None"}
    if asked:
        known = {str(leaf) for source in (call.args, call.value) for _, leaf in list_leaves(source)}
        return any(len(value) >= _SHORTEST_ID and not value.isalpha() for value in asked & known)
    return bool({*read.words} & {*call.words} - _NAMES)


def _compare_reads(
    answer: EvidenceTurn, call: EvidenceCall, reads: Sequence[EvidenceCall]
) -> Iterator[DefectFinding]:
    if not reads:
        return
    last = reads[-1]
    if last.state == "missed" and _ABSENT.search(last.answer):
        seen = f"{last.name} answered {quote_text(last.answer, _LONGEST)} after {call.name}"
        yield DefectFinding(_RULE, "defect", answer.text, seen, answer.place, last.place)
        return
    for name, value in call.args.items():
        shown = _find_field(last.value, name)
        if last.args and shown is not None and _differs(value, shown):
            seen = (
                f"{call.name} set {name} to {quote_text(str(value), _LONGEST)}, and {last.name} shows "
                f"{quote_text(str(shown), _LONGEST)} afterwards"
            )
            yield DefectFinding(_RULE, "defect", answer.text, seen, answer.place, last.place)


def _find_field(value: object, name: str) -> object:
    inner = value.get("output", value) if isinstance(value, Mapping) else value
    return inner.get(name) if isinstance(inner, Mapping) else None


def _differs(value: object, shown: object) -> bool:
    """Return whether a value that was set is not in what is shown; another notation may be the same."""
    if isinstance(value, Mapping) and isinstance(shown, Mapping):
        return any(name not in shown or _differs(inner, shown[name]) for name, inner in value.items())
    if type(value) is not type(shown) or not isinstance(value, str | int | float):
        return False
    first, second = (" ".join(str(each).split()).lower() for each in (value, shown))
    return bool(first) and first not in second and second not in first


def _find_open_status(call: EvidenceCall) -> str | None:
    states = (str(leaf) for name, leaf in list_leaves(call.value, depth=2) if name in {"status", "state"})
    return next((state for state in states if state.lower() in _OPEN), None)
