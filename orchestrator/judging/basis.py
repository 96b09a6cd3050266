"""Decides what the acceptance of an execution rests on: checks, a trusted judge, a person, or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, cast

from evaluation import JudgeTrust
from evaluation.checks.base import Covers
from evaluation.metrics.response.scores import LENGTHS
from evaluation.results.findings import FindingKind, MetricOutcome
from evaluation.sensitive.quoting import shorten
from orchestrator.judging.report import Report, alerts_of, checks_of, judge_result, mapping, outcomes_of
from orchestrator.state.current_step import ACCEPTED
from orchestrator.state.records import (
    Basis,
    EvidencePart,
    EvidenceRecord,
    Json,
    PlainContract,
    Requirement,
    StepRecord,
)

_SATISFYING: Final[Mapping[Requirement, frozenset[Basis]]] = {
    "checked": frozenset({"checked", "approved"}),
    "judged": frozenset({"checked", "judged", "approved"}),
}
ACCEPTING: Final = frozenset({"passed", "warning"})
"""The statuses of a report that accept an execution."""
_NEARLY_ALL: Final = 0.8
"""Share of wrong outputs from which a judge that accepts them "approves nearly everything"."""
_OUTPUT_METRICS: Final = ("response", "trajectory")
_EVIDENT_KINDS: Final[frozenset[FindingKind]] = frozenset({"response", "trajectory"})
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
        form: Names of the checks of the form that passed, and of all that only a model or the words of the
            task state: they refuse an output, and prove none.
        content: Names of the checks of the content that the caller states and that passed.
        actions: Names of the checks of the tool calls that passed.
        failed: Number of checks that did not pass, of any severity.
        undecided: Number of checks without an outcome.
        unchecked: Requirements that were recognised and that no check covers.
        complete: Whether the caller says that the contract states all that matters.
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
        is_trusted = self.trust is not None and self.trust.trusted
        return self.accepted and not self.failed and self.judge is True and is_trusted


def find_basis(evidence: Evidence) -> Basis:
    """Returns what an acceptance rests on: the first row that holds.

    Open is what failed, is undecided, or was recognised as a requirement and became no check.

    | evidence | basis |
    |---|---|
    | a person approved the output, whatever the checks say | approved |
    | the evaluation refused it | unverified |
    | stated content passed (or any check, if the contract is `complete`), and nothing is open | checked |
    | a judge that is trusted accepted the output, and no check failed | judged |
    | anything else, also if only the form or the calls of tools were checked | unverified |
    """
    if evidence.person is not None:
        return "approved"
    if evidence.is_checked:
        return "checked"
    return "judged" if evidence.is_judged else "unverified"


def record_evidence(evidence: Evidence) -> EvidenceRecord:
    """Returns by what the form, the content and the actions of an output are known."""
    content = EvidencePart(by="code" if evidence.content else "nothing", checks=[*evidence.content])
    if evidence.person is not None:
        content = EvidencePart(by="person", checks=[])
    elif evidence.is_judged and not evidence.content:
        content = EvidencePart(by="judge", checks=[])
    return EvidenceRecord(
        form=_record_checks(evidence.form), content=content, actions=_record_checks(evidence.actions)
    )


def add_basis(record: StepRecord, evidence: Evidence) -> StepRecord:
    """Returns the record of an execution with its evidence, and what its acceptance rests on."""
    return {
        **record,
        "evidence": record_evidence(evidence),
        "basis": find_basis(evidence),
        "basis_reason": describe_basis(evidence),
    }


def _record_checks(names: Sequence[str]) -> EvidencePart:
    return EvidencePart(by="code" if names else "nothing", checks=[*names])


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
            return "accepted by a judge that is trusted"
        case "unverified":
            return f"not verified ({_describe_gap(evidence)})"


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
    note = f"{verified}, but nothing checks the answer that was written from them; {_CHECK_ANSWER}."
    return [_add_note(record, note) if _has_no_check(record) else record for record in answer]


def _has_no_check(record: StepRecord) -> bool:
    report = record["report"]
    is_claim = record["status"] in ACCEPTED and record.get("basis") == "unverified"
    return is_claim and report is not None and not outcomes_of(cast("Report", report), _OUTPUT_METRICS)


def _add_note(record: StepRecord, note: str) -> StepRecord:
    reason = f"{record.get('basis_reason', '')} {note[:1].upper()}{note[1:]}"
    return {**record, "basis_reason": reason.strip()}


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
    derived: Sequence[Json] = (),
) -> Evidence:
    """Reads the evidence from an evaluation report. Bounds on time and cost say nothing about the output.

    Args:
        report: The report of the execution, as plain JSON.
        contract: The contract that it was evaluated against.
        unchecked: Requirements that no check covers.
        stated: Whether the caller states any check; else a plan does.
        derived: The checks of the contract that were derived from the words of the task or the step.
    """
    outcomes = [outcome["passed"] for outcome in outcomes_of(report, _OUTPUT_METRICS)]
    parts: dict[Covers, list[str]] = {"form": [], "content": [], "actions": []}
    for name, covers in (*_list_checks(report, contract, derived), *_list_metrics(report, contract)):
        parts["form" if covers == "content" and not stated else covers].append(name)
    verdict = judge_result(report).get("passed")
    return Evidence(
        accepted=report.get("status") in ACCEPTING,
        form=tuple(parts["form"]),
        content=tuple(parts["content"]),
        actions=tuple(parts["actions"]),
        failed=outcomes.count(False),
        undecided=outcomes.count(None),
        unchecked=tuple(unchecked),
        complete=stated and contract.get("complete") is True,
        judge=verdict if isinstance(verdict, bool) else None,
    )


def _list_checks(
    report: Report, contract: PlainContract, derived: Sequence[Json]
) -> Iterator[tuple[str, Covers]]:
    """Yields the checks that passed; those that were derived from words cover the form at most."""
    checks = contract.get("checks")
    stated = checks if isinstance(checks, list) else []
    # The report begins with the outcomes of the field ``checks``, in its order.
    for place, record in enumerate(checks_of(report)):
        is_derived = place < len(stated) and stated[place] in derived
        if record["passed"]:
            yield (
                record["check"],
                "form" if is_derived and record["covers"] == "content" else record["covers"],
            )


def _list_metrics(report: Report, contract: PlainContract) -> Iterator[tuple[str, Covers]]:
    """Yields what else passed: metrics of a reference, expected actions, required content of audits."""
    # A call proves an action, and an expected effect what was asked for.
    has_effects = bool(mapping(contract.get("trajectory")).get("writing_tools"))
    told = {check["sentence"] for check in checks_of(report)}
    for outcome in outcomes_of(report, _OUTPUT_METRICS):
        metric = outcome["metric"]
        # A check has an outcome, too, with its sentence as the reason.
        if outcome["passed"] and outcome["reason"] not in told and outcome["kind"] in _EVIDENT_KINDS:
            yield metric, _find_part(outcome, has_effects=has_effects)
    yield from (("audit", "content") for _ in range(_count_kept_rules(report, contract)))


def _find_part(outcome: MetricOutcome, *, has_effects: bool) -> Covers:
    if outcome["kind"] == "trajectory":
        return "content" if has_effects else "actions"
    return "form" if outcome["metric"] in LENGTHS else "content"


def _count_kept_rules(report: Report, contract: PlainContract) -> int:
    """Counts the audit rules that require content; 0 if any rule is broken."""
    if any(alert["kind"] == "policy" for alert in alerts_of(report)):
        return 0
    rules = mapping(contract.get("audit")).get("rules")
    return sum("required" in mapping(rule) for rule in rules) if isinstance(rules, list) else 0


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
    return " and ".join(gaps) or _describe_judge(evidence)


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
