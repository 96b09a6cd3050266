"""Only a part: calls cover fewer things than the task names and the answer claims."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from evaluation.defects.claims import Claim, find_claims
from evaluation.defects.evidence import Evidence, EvidenceCall, EvidenceTurn
from evaluation.defects.findings import DefectFinding

_RULE: Final = "only_a_part"
_NAME: Final = r"#?(?:\w*\d\w*|[A-Z][\w-]+)"
_LISTED: Final = re.compile(rf"(?<![\w.,:$#-]){_NAME}(?:(?:, (?:and )?| and | & ){_NAME})+(?![\w%-]|[.:]\w)")
"""Matches things that a sentence lists by their numbers or names."""
_ITEM: Final = re.compile(r"\w*\d\w*|[A-Z][\w-]+")
_TO: Final = re.compile(r"\b(?:to|as|into) ((?:[A-Z][\w-]*)(?: [A-Z][\w-]*){0,2})")
_SUITE: Final = re.compile(
    r"\b(?:suite|all (?:the )?tests|tests)\b[^.;!?]{0,40}?\b(?:pass(?:es|ed|ing)?|green)\b"
    r"|\bsuite\b|\ball (?:green|passing)\b",
    re.IGNORECASE,
)
_ONE_FILE: Final = re.compile(
    r"\b(?:pytest|jest|vitest|unittest|go test|npm test)\b"
    r"[^|;&]*\s(?!-)[\w./-]+\.(?:py|go|ts|tsx|js|rb|java|rs)\b"
)
_WHOLE: Final = re.compile(
    r"\b(?:the )?(?:test )?suite\b|\b(?:the|all|make sure the|verify) tests\b", re.IGNORECASE
)


def find_partial_work(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the things that the task names and a turn claims, of which no call knows."""
    for turn in evidence.said:
        calls = evidence.known_at(turn)
        acting = [call for call in calls if call.acts]
        if acting and not any(call.is_open for call in calls):
            yield from _find_left_out(evidence, turn, acting)
        yield from _find_narrow_tests(evidence, turn, calls)


def _find_left_out(
    evidence: Evidence, turn: EvidenceTurn, calls: Sequence[EvidenceCall]
) -> Iterator[DefectFinding]:
    asked = evidence.asked_before(turn)
    args = " ".join(call.args_text for call in calls)
    known = f"{args} {' '.join(call.answer for call in calls)}"
    for claim in find_claims(turn.text):
        listed = [_ITEM.findall(match[0]) for match in _LISTED.finditer(claim.sentence)]
        items = [item for each in listed if all(_has(asked, name) for name in each) for item in each]
        missing = [item for item in items if not _has(known, item)]
        if missing and any(_has(args, item) for item in items):
            seen = f"no acting call names {missing[0]}; called: {_list_names(calls)}"
            yield DefectFinding(_RULE, "defect", claim.sentence, seen, turn.place, calls[-1].place)
        wanted = {*_list_new_values(claim)} & {*_TO.findall(asked)}
        for value in sorted(each for each in wanted if not any(_has(known, word) for word in each.split())):
            seen = f"no acting call has {value}; called: {_list_names(calls)}"
            yield DefectFinding(_RULE, "defect", claim.sentence, seen, turn.place, calls[-1].place)


def _list_new_values(claim: Claim) -> list[str]:
    """List the values that a claim says something was changed to; "from A to B" is a way."""
    is_change = "update" in claim.families and " from " not in claim.clause
    return _TO.findall(claim.clause) if is_change else []


def _has(text: str, item: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(item)}(?!\w)", text, re.IGNORECASE) is not None


def _list_names(calls: Sequence[EvidenceCall]) -> str:
    return ", ".join(dict.fromkeys(call.name for call in calls))


def _find_narrow_tests(
    evidence: Evidence, turn: EvidenceTurn, calls: Sequence[EvidenceCall]
) -> Iterator[DefectFinding]:
    """Yield a claim about all tests if each run was of one file."""
    tests = [call for call in calls if call.is_test and call.is_program and call.args]
    said = _SUITE.search(turn.text)
    if said and tests and _WHOLE.search(evidence.asked_before(turn)):
        commands = [_ONE_FILE.search(call.args_text) for call in tests]
        if all(commands):
            seen = f"only one file was tested: {commands[-1][0] if commands[-1] else ''}"
            yield DefectFinding(_RULE, "defect", said[0], seen, turn.place, tests[-1].place)
