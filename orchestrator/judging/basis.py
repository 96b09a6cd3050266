"""Decides the basis of an acceptance: checks, a trusted judge, a person, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from evaluation.sensitive.scanner import shorten
from orchestrator.judging.evidence import Evidence, record_evidence
from orchestrator.state.records import (
    Basis,
    Requirement,
    StepRecord,
)

_SATISFYING: Final[Mapping[Requirement, frozenset[Basis]]] = {
    "checked": frozenset({"checked", "approved"}),
    "judged": frozenset({"checked", "judged", "approved"}),
    "approved": frozenset({"approved"}),
}
_NEARLY_ALL: Final = 0.8
"""Share of wrong outputs from which a judge that accepts them "approves nearly everything"."""
_SHOWN: Final = 2
"""Most requirements that are quoted."""


def find_basis(evidence: Evidence) -> Basis:
    """Returns the basis of an acceptance: the first row that holds.

    Open is what failed, is undecided, or was recognised as a requirement and became no check.

    | evidence | basis |
    |---|---|
    | a person approved the output, whatever the checks say | approved |
    | the evaluation refused it | unverified |
    | stated content passed (or any check, if the contract is `complete`), and nothing is open | checked |
    | a judge that is trusted, or the verifier, accepted the output, and no check failed | judged |
    | anything else, also if only the form or the calls of tools were checked | unverified |
    """
    if evidence.person is not None:
        return "approved"
    if evidence.is_checked:
        return "checked"
    return "judged" if evidence.is_judged else "unverified"


def add_basis(record: StepRecord, evidence: Evidence) -> StepRecord:
    """Returns the record of an execution with its evidence, and what its acceptance rests on."""
    verification = evidence.verification
    verified: StepRecord = (
        record if verification is None else {**record, "verification": verification.as_record()}
    )
    return {
        **verified,
        "evidence": record_evidence(evidence),
        "basis": find_basis(evidence),
        "basis_reason": describe_basis(evidence),
    }


def describe_basis(evidence: Evidence) -> str:
    """Returns the basis in words: "Form: 2 checks passed. Answer: not verified (the model's own word)."."""
    parts = {
        "Form": _count_passed(evidence.form),
        "Actions": _count_passed(evidence.actions),
        "Answer": _describe_answer(evidence),
    }
    return " ".join(f"{name}: {words}." for name, words in parts.items() if words)


def _count_passed(names: Sequence[str]) -> str:
    return f"{_count(len(names), 'check')} passed" if names else ""


def _describe_answer(evidence: Evidence) -> str:
    match find_basis(evidence):
        case "approved":
            return f"approved by {evidence.person}"
        case "checked":
            return _count_passed(evidence.content) or "the contract asks for no more"
        case "judged":
            return _describe_verification(evidence) or "accepted by a judge that is trusted"
        case "unverified":
            return f"not verified ({_describe_gap(evidence)})"


def is_enough(basis: Basis, required: Requirement | None) -> bool:
    """Returns whether a basis satisfies a requirement; None requires nothing."""
    return required is None or basis in _SATISFYING[required]


def _describe_gap(evidence: Evidence) -> str:
    """Returns why an output is not verified."""
    if evidence.failed:
        total = sum(map(len, (evidence.form, evidence.content, evidence.actions)))
        return f"{evidence.failed} of {_count(total + evidence.failed + evidence.undecided, 'check')} failed"
    if not evidence.accepted:
        return "refused by the judge" if evidence.judge is False else "refused by the evaluation"
    gaps = [f"{_count(evidence.undecided, 'check')} could not be decided"] if evidence.undecided else []
    if evidence.unchecked:
        gaps.append(f"{_quote(evidence.unchecked)} not checked")
    return " and ".join(gaps) or _describe_verification(evidence) or _describe_judge(evidence)


def _describe_verification(evidence: Evidence) -> str:
    return "" if evidence.verification is None else evidence.verification.describe()


def _describe_judge(evidence: Evidence) -> str:
    trust = evidence.trust
    if evidence.judge is not True:
        return "nothing checked it"
    if trust is None:
        return "the model's own word"
    rate = trust.false_accepts.value
    if rate is not None and rate >= _NEARLY_ALL:
        return "the model's own word, which approves nearly everything"
    return f"the model's own word, which is not trusted: {trust.distrust}"


def _quote(texts: Sequence[str]) -> str:
    shown = ", ".join(f"“{shorten(' '.join(text.split()), 60)}”" for text in islice(texts, _SHOWN))
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return f"{shown}{more} {'was' if len(texts) == 1 else 'were'}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
