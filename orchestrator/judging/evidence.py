"""Evidence: how the form, the content and the actions of an output are known.

From it follows the basis of an acceptance: checks, a trusted judge, a person, or nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from evaluation import JudgeTrust, find_trust
from evaluation.checks.contract_checks import FunctionCheck, NamedCheck, find_check
from evaluation.checks.kinds.tools import SourcedFacts
from evaluation.contract.contract import AuditRule
from evaluation.contract.requirements import Contract
from evaluation.findings import Covers
from evaluation.measures.metric_table import LENGTHS
from evaluation.sensitive.scanner import quote_text, shorten
from orchestrator.state.records import (
    Attempt,
    Basis,
    EvidencePart,
    EvidenceRecord,
    Report,
    Requirement,
)

ACCEPTING: Final = frozenset({"passed", "warning"})
"""The statuses of a report that accept an execution."""
OUTPUT_METRICS: Final = ("response", "trajectory")
"""The groups of metrics that say something about the output."""
_FACTS: Final = SourcedFacts.get_name()
_PROVING_NOTHING: Final = frozenset({*LENGTHS, "forbidden_content"})
"""Metrics of the form, and of what the output does not say."""
_COVERS: Final[Mapping[str, Covers]] = {"response": "content", "trajectory": "actions"}
_FIELDS: Final = {"response": "reference_output", "trajectory": "expected_trajectory"}
"""The field that an outcome of a kind answers."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The knowledge about an execution.

    Attributes:
        accepted: Whether the evaluation accepted the execution.
        form: Names of the checks of the form that passed, and of all that only a model or the words of the
            task state: they refuse an output, and prove none.
        content: Names of the checks of the content that the caller states and that passed.
        actions: Names of the checks of the tool calls that passed.
        failed: Number of checks that did not pass, of any severity.
        undecided: Number of checks without an outcome.
        unchecked: Requirements that were recognised and that no check covers.
        complete: Whether the caller says that the contract states all that matters.
        unsourced: Whether a fact of the output has no source, so that nothing is known of its content.
        judge: Whether a judge accepted the output; None if it gave no verdict.
        trust: The figures of the judge; None if it was not measured.
        person: Who approved the output; None if nobody did.
    """

    accepted: bool = True
    form: tuple[str, ...] = ()
    content: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    failed: int = 0
    undecided: int = 0
    unchecked: tuple[str, ...] = ()
    complete: bool = False
    unsourced: bool = False
    judge: bool | None = None
    trust: JudgeTrust | None = None
    person: str | None = None

    @property
    def is_checked(self) -> bool:
        """Whether code covers the content, or the form is all that the caller asks for."""
        is_whole = not (self.failed or self.undecided or self.unchecked)
        is_covered = bool(self.content) or (self.complete and bool(self.form or self.actions))
        return self.accepted and is_whole and is_covered

    @property
    def is_judged(self) -> bool:
        """Whether a trusted judge accepted the output, and no check contradicts it."""
        is_trusted = self.judge is True and self.trust is not None and self.trust.trusted
        return self.accepted and not self.failed and is_trusted

    @property
    def basis(self) -> Basis:
        """The basis of an acceptance: the first row that holds.

        Open is what failed, is undecided, or was recognised as a requirement and became no check.

        | evidence | basis |
        |---|---|
        | a person approved the output, also against the checks | approved |
        | the evaluation refused it | unverified |
        | stated content passed (or any check, if the contract is `complete`), and nothing is open | checked |
        | a judge that is trusted accepted the output, and no check failed | judged |
        | anything else, also if only the form or the calls of tools were checked | unverified |
        """
        if self.person is not None:
            return "approved"
        if self.is_checked:
            return "checked"
        return "judged" if self.is_judged else "unverified"

    @property
    def record(self) -> EvidenceRecord:
        """How the form, the content and the actions of the output are known."""
        content = _record_checks(() if self.unsourced else self.content)
        if self.person is not None:
            content = EvidencePart(by="person", checks=[])
        elif self.is_judged and not self.content:
            content = EvidencePart(by="judge", checks=[])
        return EvidenceRecord(
            form=_record_checks(self.form), content=content, actions=_record_checks(self.actions)
        )

    @property
    def reason(self) -> str:
        """The basis in words: "Form: 2 checks passed. Answer: not verified (the model's own word)."."""
        answers: dict[Basis, str] = {
            "approved": f"approved by {self.person}",
            "checked": _count_passed(self.content) or "the contract asks for no more",
            "judged": "accepted by a judge that is trusted",
        }
        answer = answers.get(self.basis) or f"not verified ({_describe_gap(self)})"
        parts = {"Form": _count_passed(self.form), "Actions": _count_passed(self.actions), "Answer": answer}
        return " ".join(f"{name}: {words}." for name, words in parts.items() if words)

    @property
    def needs_trust(self) -> bool:
        """Whether the word of a judge decides."""
        return self.judge is True and not self.is_checked

    def add_trust(self, judge: object) -> Evidence:
        """Returns the evidence with the figures of a judge, which are read from files, if its word decides.

        Args:
            judge: The judge; its ``identity`` names it, by which its figures are kept.
        """
        name: object = getattr(judge, "identity", None) if self.needs_trust else None
        return replace(self, trust=find_trust(name)) if isinstance(name, str) else self

    def complete_attempt(self, attempt: Attempt) -> Attempt:
        """Returns the record of an execution with its evidence, and what its acceptance rests on."""
        return {**attempt, "evidence": self.record, "basis": self.basis, "basis_reason": self.reason}


def read_evidence(report: Report, contract: Contract, unchecked: Sequence[str] = ()) -> Evidence:
    """Reads the evidence from an evaluation report. Bounds on time and cost say nothing about the output.

    Args:
        report: The report of the execution, as plain JSON.
        contract: The contract that it was evaluated against.
        unchecked: Requirements that no check covers, besides the criteria of the contract.
    """
    checks, outcomes = report.get("checks", ()), list_outcomes(report, OUTPUT_METRICS)
    passed = [each["passed"] for each in outcomes]
    parts: dict[Covers, list[str]] = {"form": [], "content": [], "actions": []}
    named = [(each["check"], each["covers"]) for each in checks if each["passed"]]
    for name, covers in (*named, *_list_metrics(report, outcomes, contract)):
        parts[covers].append(name)
    return Evidence(
        accepted=report.get("status") in ACCEPTING,
        form=tuple(parts["form"]),
        content=tuple(parts["content"]),
        actions=tuple(parts["actions"]),
        failed=passed.count(False),
        undecided=passed.count(None),
        unsourced=any(each["check"] == _FACTS and each["passed"] is False for each in checks),
        # What only a judge can score is open, whoever wrote the record.
        unchecked=(*unchecked, *list_criteria(contract)),
        complete=contract.rules.complete,
        judge=read_judgement(report).get("passed"),
    )


def read_judgement(report: Report) -> Mapping[str, Any]:
    """Returns the checked answer of the judge; an empty object without one."""
    return (report.get("judge") or {}).get("result") or {}


def list_outcomes(report: Report, groups: Collection[str] | None = None) -> list[Mapping[str, Any]]:
    """Returns the outcomes of the metric groups with these names; of all groups by default."""
    metrics: Mapping[str, Mapping[str, Any]] = report.get("metrics") or {}
    chosen = [group for name, group in metrics.items() if groups is None or name in groups]
    return [outcome for group in chosen for outcome in group.get("checks", ())]


def _list_metrics(
    report: Report, outcomes: Sequence[Mapping[str, Any]], contract: Contract
) -> Iterator[tuple[str, Covers]]:
    """Yields what else passed: metrics of a reference, expected actions, required content of audits."""
    covers = {each.name: each.covers for each in contract.requirements}
    told = {check["sentence"] for check in report.get("checks", ())}
    for outcome in outcomes:
        metric = outcome["metric"]
        # A check has an outcome, too, with its sentence as the reason.
        if outcome["passed"] and outcome["reason"] not in told and outcome["kind"] in _COVERS:
            part = covers.get(_FIELDS[outcome["kind"]]) or _COVERS[outcome["kind"]]
            yield metric, "form" if metric in _PROVING_NOTHING else part
    if not any(alert["kind"] == "policy" for alert in report.get("alerts", ())):
        required = (each.covers for each in contract.requirements if isinstance(each.check, AuditRule))
        yield from (("audit", each) for each in required if each)


def _record_checks(names: Sequence[str]) -> EvidencePart:
    return EvidencePart(by="code" if names else "nothing", checks=[*names])


_SATISFYING: Final[Mapping[Requirement, frozenset[Basis]]] = {
    "checked": frozenset({"checked", "approved"}),
    "judged": frozenset({"checked", "judged", "approved"}),
    "approved": frozenset({"approved"}),
}
_NEARLY_ALL: Final = 0.8
"""Share of wrong outputs from which a judge that accepts them "approves nearly everything"."""
_SHOWN: Final = 2
"""Most requirements that are quoted."""


def _count_passed(names: Sequence[str]) -> str:
    return f"{_count_checks(len(names))} passed" if names else ""


def _count_checks(number: int) -> str:
    return f"{number} check{'' if number == 1 else 's'}"


def is_enough(basis: Basis, required: Requirement | None) -> bool:
    """Returns whether a basis satisfies a requirement; None requires nothing."""
    return required is None or basis in _SATISFYING[required]


def _describe_gap(evidence: Evidence) -> str:
    """Returns why an output is not verified."""
    if evidence.failed:
        passed = sum(map(len, (evidence.form, evidence.content, evidence.actions)))
        total = passed + evidence.failed + evidence.undecided
        return f"{evidence.failed} of {_count_checks(total)} failed"
    if not evidence.accepted:
        return "refused by the judge" if evidence.judge is False else "refused by the evaluation"
    gaps = [f"{_count_checks(evidence.undecided)} could not be decided"] if evidence.undecided else []
    if evidence.unchecked:
        gaps.append(f"{_quote(evidence.unchecked)} not checked")
    return " and ".join(gaps) or _describe_judge(evidence)


def _describe_judge(evidence: Evidence) -> str:
    trust = evidence.trust
    if evidence.judge is not True:
        return "nothing checked it"
    if trust is None:
        return "the model's own word"
    if (trust.false_accepts.value or 0) >= _NEARLY_ALL:
        return "the model's own word, which approves nearly everything"
    return f"the model's own word, which is not trusted: {trust.distrust}"


def _quote(texts: Sequence[str]) -> str:
    shown = ", ".join(f"“{shorten(' '.join(text.split()), 60)}”" for text in islice(texts, _SHOWN))
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return f"{shown}{more} {'was' if len(texts) == 1 else 'were'}"


OBJECTIVE: Final = "objective"
_PLAIN_CRITERIA: Final = frozenset({OBJECTIVE, "correctness"})
"""Criteria that add nothing to the objective, unless they say more."""


def find_unknown_check(contract: Contract, given: Sequence[FunctionCheck]) -> str | None:
    """Return why a check by name cannot be used, beginning with its field; None if all can."""
    for each in contract.requirements:
        if isinstance(each.check, NamedCheck) and isinstance(problem := find_check(each.check, given), str):
            return f"{each.field} names {quote_text(each.check.name)}; {problem}"
    return None


def list_criteria(contract: Contract) -> list[str]:
    """Return the names of what only a judge can score, besides the objective, and instructions to a judge."""
    rubric = contract.rules.rubric
    stated = [(name, "") for name in contract.rules.subjective_criteria]
    if rubric is not None:
        stated += [(each.name, each.description or str(each.anchors or "")) for each in rubric.criteria]
    names = [name for name, details in stated if not is_plain(name, details)]
    return [*names, *([rubric.instructions] if rubric and rubric.instructions else [])]


def is_plain(name: str, details: object) -> bool:
    """Return whether a criterion adds nothing to the objective; ``details`` say more than its name."""
    return name in _PLAIN_CRITERIA and not details
