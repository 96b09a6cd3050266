"""Evidence: how the form, the content and the actions of an output are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from evaluation import JudgeTrust
from evaluation.checks.check_model import Covers
from evaluation.checks.kinds.tools import SourcedFacts
from evaluation.metrics.response_scores import LENGTHS
from evaluation.results.findings import FindingKind, MetricOutcome
from orchestrator.judging.plain_contracts import list_checks, list_criteria
from orchestrator.state import evaluation_report as reports
from orchestrator.state.records import EvidencePart, EvidenceRecord, Json, PlainContract

if TYPE_CHECKING:
    from orchestrator.judging.verification import Verification  # LangGraph is slow to import

ACCEPTING: Final = frozenset({"passed", "warning"})
"""The statuses of a report that accept an execution."""
OUTPUT_METRICS: Final = ("response", "trajectory")
"""The groups of metrics that say something about the output."""
_FACTS: Final = SourcedFacts.get_name()
_PROVING_NOTHING: Final = frozenset({*LENGTHS, "forbidden_content"})
"""Metrics of the form, and of what the output does not say."""
_EVIDENT_KINDS: Final[frozenset[FindingKind]] = frozenset({"response", "trajectory"})


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
        verification: The word of the run's verifier on the output; None if there is none.
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
    verification: Verification | None = None
    person: str | None = None

    @property
    def is_checked(self) -> bool:
        """Whether code covers the content, or the form is all that the caller asks for."""
        is_whole = not (self.failed or self.undecided or self.unchecked)
        is_covered = bool(self.content) or (self.complete and bool(self.form or self.actions))
        return self.accepted and is_whole and is_covered

    @property
    def is_judged(self) -> bool:
        """Whether a trusted judge or the verifier accepted the output, and no check contradicts it."""
        if self.verification is not None:
            is_trusted = self.verification.holds
        else:
            is_trusted = self.judge is True and self.trust is not None and self.trust.trusted
        return self.accepted and not self.failed and is_trusted


def read_evidence(
    report: reports.Report,
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
        unchecked: Requirements that no check covers, besides the criteria of the contract.
        stated: Whether the caller states any check; else a plan does.
        derived: The checks of the contract that were derived from the words of the task or the step.
    """
    outcomes = [outcome["passed"] for outcome in reports.outcomes_of(report, OUTPUT_METRICS)]
    parts: dict[Covers, list[str]] = {"form": [], "content": [], "actions": []}
    for name, covers in (*_list_checks(report, contract, derived), *_list_metrics(report, contract)):
        parts["form" if covers == "content" and not stated else covers].append(name)
    verdict = reports.judge_result(report).get("passed")
    return Evidence(
        accepted=report.get("status") in ACCEPTING,
        form=tuple(parts["form"]),
        content=tuple(parts["content"]),
        actions=tuple(parts["actions"]),
        failed=outcomes.count(False),
        undecided=outcomes.count(None),
        unsourced=any(
            each["check"] == _FACTS and each["passed"] is False for each in reports.checks_of(report)
        ),
        # What only a judge can score is open, whoever wrote the record.
        unchecked=(*unchecked, *list_criteria(contract)),
        complete=stated and contract.get("complete") is True,
        judge=verdict if isinstance(verdict, bool) else None,
    )


def _list_checks(
    report: reports.Report, contract: PlainContract, derived: Sequence[Json]
) -> Iterator[tuple[str, Covers]]:
    """Yields the checks that passed; those that were derived from words cover the form at most."""
    stated = list_checks(contract)
    # The report begins with the outcomes of the field ``checks``, in its order.
    for place, record in enumerate(reports.checks_of(report)):
        is_derived = place < len(stated) and stated[place] in derived
        if record["passed"]:
            yield (
                record["check"],
                "form" if is_derived and record["covers"] == "content" else record["covers"],
            )


def _list_metrics(report: reports.Report, contract: PlainContract) -> Iterator[tuple[str, Covers]]:
    """Yields what else passed: metrics of a reference, expected actions, required content of audits."""
    has_effects = _expects_effect(contract)
    told = {check["sentence"] for check in reports.checks_of(report)}
    for outcome in reports.outcomes_of(report, OUTPUT_METRICS):
        metric = outcome["metric"]
        # A check has an outcome, too, with its sentence as the reason.
        if outcome["passed"] and outcome["reason"] not in told and outcome["kind"] in _EVIDENT_KINDS:
            yield metric, _find_part(outcome, has_effects=has_effects)
    yield from (("audit", "content") for _ in range(_count_kept_rules(report, contract)))


def _find_part(outcome: MetricOutcome, *, has_effects: bool) -> Covers:
    if outcome["kind"] == "trajectory":
        return "content" if has_effects else "actions"
    return "form" if outcome["metric"] in _PROVING_NOTHING else "content"


def _expects_effect(contract: PlainContract) -> bool:
    """Returns whether a writing call has to be made: it proves the content, and any other call an action."""
    writing = reports.mapping(contract.get("trajectory")).get("acting_tools")
    expected = contract.get("expected_trajectory")
    if not isinstance(writing, list) or contract.get("trajectory_match_mode") == "subset":
        return False
    return any(
        _requires_one_of(writing, action) for action in (expected if isinstance(expected, list) else ())
    )


def _requires_one_of(tools: Sequence[Json], action: Json) -> bool:
    fields = reports.mapping(action)
    choices = fields.get("any_of") or [fields.get("name", action)]
    names = [reports.mapping(choice).get("name", choice) for choice in cast("list[Json]", choices)]
    return not fields.get("optional") and all(name in tools for name in names)


def _count_kept_rules(report: reports.Report, contract: PlainContract) -> int:
    """Counts the audit rules that require content; 0 if any rule is broken."""
    if any(alert["kind"] == "policy" for alert in reports.alerts_of(report)):
        return 0
    rules = reports.mapping(contract.get("audit")).get("rules")
    return sum("required" in reports.mapping(rule) for rule in rules) if isinstance(rules, list) else 0


def record_evidence(evidence: Evidence) -> EvidenceRecord:
    """Returns how the form, the content and the actions of an output are known."""
    content = _record_checks(() if evidence.unsourced else evidence.content)
    if evidence.person is not None:
        content = EvidencePart(by="person", checks=[])
    elif evidence.is_judged and not evidence.content:
        content = EvidencePart(by="judge", checks=[])
    return EvidenceRecord(
        form=_record_checks(evidence.form), content=content, actions=_record_checks(evidence.actions)
    )


def _record_checks(names: Sequence[str]) -> EvidencePart:
    return EvidencePart(by="code" if names else "nothing", checks=[*names])
