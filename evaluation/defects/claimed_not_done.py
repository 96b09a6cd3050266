"""Claimed, not done: a turn says that an action is done, and no call of that meaning was made."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from evaluation.defects.claims import Claim, find_claims
from evaluation.defects.evidence import Evidence, EvidenceCall, EvidenceTurn
from evaluation.defects.findings import DefectFinding, Level
from evaluation.defects.verb_families import (
    FAMILIES,
    HARD,
    list_families,
    list_supported,
    mentions_family,
    reports_family,
)

_RULE: Final = "claimed_not_done"
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_LETTERS: Final = 4
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_POLITE: Final = re.compile(
    r"\b(?:can|could|would|will) (?:you|we)\b|\bplease\b|\bi (?:want|need|would like)\b", re.IGNORECASE
)


def find_undone_claims(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the claims without a call; none if the calls were not recorded, or a program may have done it."""
    for turn in evidence.said if evidence.has_calls else ():
        calls = evidence.known_at(turn)
        if any(call.is_open for call in calls):
            continue
        demanded = _list_demanded(evidence.asked_before(turn))
        for claim in find_claims(turn.text):
            if not (_is_supported(claim, calls) or _is_reported(claim, calls)) and _counts(
                claim, demanded, calls
            ):
                yield _build_finding(claim, turn, calls, is_demanded=bool(claim.families & demanded))


def _list_demanded(asked: str) -> frozenset[str]:
    """Return the families of what is asked for; a question about a thing asks for no action."""
    parts = (part for part in _SENTENCE.split(asked) if not part.endswith("?") or _POLITE.search(part))
    return list_families(tuple(word.lower() for part in parts for word in _WORD.findall(part)))


def _is_supported(claim: Claim, calls: Sequence[EvidenceCall]) -> bool:
    return any(
        claim.families & (list_supported(call.families) if call.families else FAMILIES)
        or any(mentions_family(f"{call.args_text} {call.answer}", name) for name in claim.families)
        for call in calls
        if call.acts or call.state == "refused"
    ) or any(call.is_vague and _shares_word(call, claim) for call in calls)


def _shares_word(call: EvidenceCall, claim: Claim) -> bool:
    """Return whether a tool whose verb is not known is about a thing that the claim names."""
    return any(len(word) >= _LETTERS and word[:_LETTERS] in claim.sentence.lower() for word in call.words)


def _is_reported(claim: Claim, calls: Sequence[EvidenceCall]) -> bool:
    """Return whether an answer that was read may say what the claim repeats: a state from before."""
    return not claim.is_own and any(
        claim.word in call.stated.lower() or any(reports_family(call.stated, name) for name in claim.families)
        for call in calls
        if call.state == "read"
    )


def _counts(claim: Claim, demanded: Collection[str], calls: Sequence[EvidenceCall]) -> bool:
    is_demanded = not claim.families.isdisjoint(demanded)
    if claim.families & HARD:
        return claim.is_strong or is_demanded
    # What is updated or added may be a part of the answer; a thing that tools have read is not.
    known = " ".join(f"{call.name} {call.args_text} {call.answer}" for call in calls).lower()
    return is_demanded and any(word.lower() in known for word in _WORD.findall(claim.clause))


def _build_finding(
    claim: Claim, turn: EvidenceTurn, calls: Sequence[EvidenceCall], *, is_demanded: bool
) -> DefectFinding:
    acted = [call.name for call in calls if call.acts]
    names = ", ".join(dict.fromkeys(acted or [call.name for call in calls]))
    seen = f"no call did that; {'the calls that acted' if acted else 'calls'}: {names or 'none'}"
    level: Level = (
        "defect" if is_demanded or (claim.is_own and not acted) else "note" if acted else "suspicion"
    )
    return DefectFinding(_RULE, level, claim.clause, seen, turn.place)
