"""Decides what the acceptance of an execution rests on: checks, a trusted judge, a person, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, cast

from evaluation import JudgeTrust
from evaluation.sensitive.quoting import shorten
from orchestrator.judging.report import Report, alerts_of, judge_result, mapping, outcomes_of
from orchestrator.state.current_step import ACCEPTED
from orchestrator.state.records import Basis, PlainContract, Requirement, StepRecord

_SATISFYING: Final[Mapping[Requirement, frozenset[Basis]]] = {
    "checked": frozenset({"checked", "approved"}),
    "judged": frozenset({"checked", "judged", "approved"}),
}
ACCEPTING: Final = frozenset({"passed", "warning"})
"""The statuses of a report that accept an execution."""
_NEARLY_ALL: Final = 0.8
"""Share of wrong outputs from which a judge that accepts them "approves nearly everything"."""
_OUTPUT_METRICS: Final = ("response", "trajectory")
_CHECK_ANSWER: Final = (
    "say what it has to meet with output_contract= or checks= (on the command line --contract FILE)"
)
_SHOWN: Final = 2
"""Most requirements that are quoted."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about an execution.

    Attributes:
        accepted: Whether the evaluation accepted the execution.
        passed: Number of checks that passed.
        failed: Number of checks that did not pass, of any severity.
        undecided: Number of checks without an outcome.
        unchecked: Requirements that were recognised and that no check covers.
        stated: Whether the caller states any check. The plan's own checks prove nothing alone.
        derived: Whether all checks were derived from words of the task, which cover no content.
        judge: Whether a judge accepted the output; None if it gave no verdict.
        trust: The figures of the judge; None if it was not measured.
        person: Who approved the output; None if nobody did.
    """

    accepted: bool = True
    passed: int = 0
    failed: int = 0
    undecided: int = 0
    unchecked: Sequence[str] = ()
    stated: bool = True
    derived: bool = False
    judge: bool | None = None
    trust: JudgeTrust | None = None
    person: str | None = None

    @property
    def is_checked(self) -> bool:
        """Whether the checks cover everything that was recognised. No check at all proves nothing."""
        is_complete = not (self.failed or self.undecided or self.unchecked)
        return self.accepted and is_complete and bool(self.passed) and self.stated

    @property
    def is_judged(self) -> bool:
        """Whether a trusted judge accepted the output, and no check contradicts it."""
        is_trusted = self.trust is not None and self.trust.trusted
        return self.accepted and not self.failed and self.judge is True and is_trusted


def find_basis(evidence: Evidence) -> Basis:
    """Returns what an acceptance rests on: the first row that holds.

    | evidence | basis |
    |---|---|
    | a person approved the output, whatever the checks say | approved |
    | the evaluation refused it | unverified |
    | a stated check passed, none failed or is undecided, and nothing recognised is unchecked | checked |
    | a judge that is trusted accepted the output, and no check failed | judged |
    | anything else, also no check at all | unverified |
    """
    if evidence.person is not None:
        return "approved"
    if evidence.is_checked:
        return "checked"
    return "judged" if evidence.is_judged else "unverified"


def describe_basis(evidence: Evidence) -> str:
    """Returns the basis in plain words: "3 checks passed", "accepted by the model alone, ...: unverified"."""
    match find_basis(evidence):
        case "approved":
            return f"approved by {evidence.person}"
        case "checked":
            return f"{_count(evidence.passed, 'check')} passed"
        case "judged":
            return "accepted by a judge that is trusted"
        case "unverified":
            return f"{_describe_gap(evidence)}: unverified"


def explain_answer(answer: Sequence[StepRecord], steps: Sequence[StepRecord]) -> list[StepRecord]:
    """Returns the attempts of an answer; if nothing checks the accepted one, its reason says so.

    Readers see that the steps were checked, and take the answer to be checked, too.

    Args:
        answer: The attempts to write the answer from the results of the steps.
        steps: The accepted executions of the steps.
    """
    bases = [step["basis"] for step in steps if step.get("basis", "unverified") != "unverified"]
    if not bases:
        return [*answer]
    count = f"the {len(steps)} steps were" if len(bases) == len(steps) else _count_of(len(bases), len(steps))
    verified = f"{count} {' or '.join(sorted(set(bases)))}"
    note = f"{verified}, but nothing checks the answer that was written from them: {_CHECK_ANSWER}"
    return [_add_note(record, note) if _has_no_check(record) else record for record in answer]


def _has_no_check(record: StepRecord) -> bool:
    report = record["report"]
    is_claim = record["status"] in ACCEPTED and record.get("basis") == "unverified"
    return is_claim and report is not None and not outcomes_of(cast("Report", report), _OUTPUT_METRICS)


def _add_note(record: StepRecord, note: str) -> StepRecord:
    return {**record, "basis_reason": f"{record.get('basis_reason', 'unverified')}; {note}"}


def _count_of(number: int, total: int) -> str:
    return f"{number} of {total} steps {'was' if number == 1 else 'were'}"


def is_enough(basis: Basis, required: Requirement | None) -> bool:
    """Returns whether a basis satisfies a requirement; None requires nothing."""
    return required is None or basis in _SATISFYING[required]


def read_evidence(
    report: Report,
    contract: PlainContract,
    unchecked: Sequence[str] = (),
    *,
    stated: bool = True,
    derived: bool = False,
) -> Evidence:
    """Reads the evidence from an evaluation report.

    The checks are the outcomes about the response and the trajectory, and the content that audit rules
    require. Bounds on time and cost say nothing about the output.

    Args:
        report: The report of the execution, as plain JSON.
        contract: The contract that it was evaluated against.
        unchecked: Requirements that no check covers.
        stated: Whether the caller states any check.
        derived: Whether all checks were derived from words of the task.
    """
    outcomes = [outcome["passed"] for outcome in outcomes_of(report, _OUTPUT_METRICS)]
    verdict = judge_result(report).get("passed")
    return Evidence(
        accepted=report.get("status") in ACCEPTING,
        passed=outcomes.count(True) + _count_kept_rules(report, contract),
        failed=outcomes.count(False),
        undecided=outcomes.count(None),
        unchecked=tuple(unchecked),
        stated=stated,
        derived=derived,
        judge=verdict if isinstance(verdict, bool) else None,
    )


def _count_kept_rules(report: Report, contract: PlainContract) -> int:
    """Counts the audit rules that require content; 0 if any rule is broken."""
    if any(alert["kind"] == "policy" for alert in alerts_of(report)):
        return 0
    rules = mapping(contract.get("audit")).get("rules")
    return sum("required" in mapping(rule) for rule in rules) if isinstance(rules, list) else 0


def _describe_gap(evidence: Evidence) -> str:
    """Returns why an output is not verified."""
    if evidence.failed:
        total = evidence.passed + evidence.failed + evidence.undecided
        return f"{evidence.failed} of {_count(total, 'check')} failed"
    if not evidence.accepted:
        return "refused by the judge" if evidence.judge is False else "refused by the evaluation"
    if not evidence.passed and not evidence.undecided:
        return _describe_judge(evidence)
    gaps = [f"{evidence.undecided} could not be decided"] if evidence.undecided else []
    if evidence.unchecked:
        gaps.append(f"{_quote(evidence.unchecked)} not checked")
    if evidence.derived and not gaps:
        return f"{_count(evidence.passed, 'check')} of the form passed; nothing checked the content"
    if not (evidence.stated or gaps):
        gaps.append("only the plan states them")
    return f"{_count(evidence.passed, 'check')} passed, but {' and '.join(gaps)}"


def _describe_judge(evidence: Evidence) -> str:
    trust = evidence.trust
    if evidence.judge is not True:
        return "nothing was checked"
    if trust is None:
        return "accepted by the model alone, whose judgement was not measured"
    rate = trust.false_accepts.value
    if rate is not None and rate >= _NEARLY_ALL:
        return "accepted by the model alone, which approves nearly everything"
    return f"accepted by the model alone, which is not trusted ({trust.distrust})"


def _quote(texts: Sequence[str]) -> str:
    shown = ", ".join(f"“{shorten(' '.join(text.split()), 60)}”" for text in islice(texts, _SHOWN))
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return f"{shown}{more} {'was' if len(texts) == 1 else 'were'}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
