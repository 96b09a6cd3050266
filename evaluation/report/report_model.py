"""The state of an evaluation, and the models of the report that it ends with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NotRequired, Self, TypeAlias

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from evaluation.checks.check_model import NotRun
from evaluation.contract.requirements import Contract
from evaluation.contract.run import CallOutcome
from evaluation.findings import (
    ACTIONS,
    CheckKind,
    CheckSource,
    Covers,
    EvaluationStatus,
    Finding,
    FindingKind,
)
from evaluation.importers.conversation import Conversation
from evaluation.sensitive.scanner import SensitiveValue
from evaluation.values import JsonObject, Severity, as_object


class CheckRecord(TypedDict):
    """A finding about a check of the contract; ``passed`` is None if it could not be decided."""

    check: str
    """The kind of the check, such as ``word_count``, or the name of a function."""
    passed: bool | None
    seen: str
    """What the run has, as a main clause."""
    wanted: str
    """The requirement, as an instruction."""
    kind: CheckKind
    covers: Covers
    """What the check is about: the form of the answer, its content, or what was done."""
    severity: Severity
    sentence: str
    """What the executor has to change, and what the run has."""
    quote: str | None
    """The words of the task that state the requirement."""
    source: CheckSource
    """``function`` for a check of the user's code, ``task`` if the check quotes the task, else
    ``contract``."""
    evidence: NotRequired[str]
    """The end of what a command printed, redacted."""
    is_error: NotRequired[bool]
    """True if the user's code raised, took too long or cannot be found."""


def describe_check(finding: Finding) -> CheckRecord:
    """Return the fields that ``report.checks`` shows of a finding about a check."""
    record: CheckRecord = {
        "check": finding.check or finding.name,
        "passed": finding.passed,
        "seen": str(finding.observed),
        "wanted": str(finding.limit),
        "kind": finding.failure,
        "covers": finding.covers,
        "severity": finding.severity,
        "sentence": finding.reason,
        "quote": finding.quote,
        "source": finding.origin,
    }
    if finding.evidence:
        record["evidence"] = str(finding.evidence)
    if finding.kind == "check_error":
        record["is_error"] = True
    return record


class AuditFinding(TypedDict):
    """A breach of an audit rule, a defect, or an exposed credential or personal data."""

    id: str
    category: str
    kind: FindingKind
    severity: Severity
    metric: str
    reason: str
    where: str
    evidence: dict[str, object]
    owner: str | None
    recommended_action: str | None


def describe_audit_finding(finding: Finding) -> AuditFinding:
    """Return the fields that ``report.audit_findings`` shows of a finding of the audit."""
    return {
        "id": finding.name,
        "category": finding.category,
        "kind": finding.kind,
        "severity": finding.severity,
        "metric": "audit",
        "reason": finding.reason,
        "where": finding.where,
        "evidence": dict(as_object(finding.evidence)),
        "owner": finding.owner,
        "recommended_action": finding.action,
    }


class Alert(TypedDict):
    """A finding that a person, or an executor that tries again, has to know."""

    severity: Severity
    kind: FindingKind
    metric: str
    observed: object
    limit: object
    reason: str
    """What is wrong and what to change, for the reader of a report and for the executor."""
    owner: str | None
    recommended_action: str


def raise_alert(finding: Finding, owner: str | None = None) -> Alert:
    """Return the alert of a finding that did not pass; ``owner`` owns it if the finding names nobody."""
    is_audit = finding.group == "audit"
    return {
        "severity": finding.severity,
        "kind": finding.kind,
        "metric": "audit" if is_audit else finding.name,
        "observed": finding.where if is_audit else finding.observed,
        "limit": finding.name if is_audit else finding.limit,
        "reason": end_sentence(finding.reason),
        "owner": finding.owner or owner,
        "recommended_action": finding.action or ACTIONS[finding.kind],
    }


_ENDS: Final = (".", "!", "?", "…")


def end_sentence(text: str) -> str:
    """Add a full stop to a text that does not end a sentence."""
    stripped = text.rstrip()
    return stripped if not stripped or stripped.endswith(_ENDS) else f"{stripped}."


SCHEMA_VERSION: Final = 1
MetricGroup: TypeAlias = dict[str, Any]
"""The values of the metrics that were scored, by name, and the fields that ``build_group`` adds."""


class ReportModel(BaseModel):
    """Base of the report models: exact fields, immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Metrics(ReportModel):
    """The metric groups: scored values by name, and status, passed, counts, unscored, checks."""

    response: MetricGroup
    operational: MetricGroup
    trajectory: MetricGroup


class JudgeReport(ReportModel):
    """Whether a judge was needed and called, why, its answer and its cost."""

    needed: bool
    called: bool
    reason: str
    usage: dict[str, Any]
    """The cost of the call as the judge reports it; empty if it does not."""
    result: dict[str, Any] | None
    """The validated answer, or the kind of the judge's failure; its ``status`` says which."""


class EvaluationReport(ReportModel):
    """The structured result of one evaluation; ``report["status"]`` reads like ``report.status``."""

    schema_version: Literal[1]
    status: EvaluationStatus
    summary: str
    input: str
    case_id: str | None
    checks: list[CheckRecord]
    """The outcomes of the contract's checks, in its order."""
    metrics: Metrics
    audit_findings: list[AuditFinding]
    judge: JudgeReport
    drift_signals: dict[str, Any]
    alerts: list[Alert]
    """The most severe first."""
    failures: list[str]
    """The reasons of the alerts that keep the run from passing."""
    evidence: list[dict[str, Any]]
    """The judged texts: a hash and a short redacted excerpt of each."""
    errors: list[str]
    recommended_action: str

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """Make a report of the fields that an evaluation has built, without validating them once more."""
        groups = Metrics.model_construct(**fields["metrics"])
        asked = JudgeReport.model_construct(**fields["judge"])
        return cls.model_construct(**{**fields, "metrics": groups, "judge": asked})

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - JSON; the attributes have the types
        """Return a field as plain JSON values.

        Raises:
            KeyError: The report has no such field.
        """
        if name not in type(self).model_fields:
            raise KeyError(name)
        return self.model_dump(mode="json", include={name})[name]


class Action(TypedDict):
    """One observed action; every key is present."""

    kind: str
    name: str
    args: JsonObject | None
    args_error: str | None
    """Why the recorded text of the arguments is not a JSON object; ``args`` is None then."""
    args_text: str | None
    """The recorded text of such arguments."""
    result: object
    error: str | None
    """The text of an error; None if the call succeeded."""
    not_run: NotRun | None
    """Why the tool did not run; None if it did."""
    outcome: CallOutcome | None
    """What the call did, if the tool is stated to act and the record tells; None for any other call."""
    agent: str | None
    target: str | None
    latency_ms: float | None
    message: int | None
    """The number of the message that made the call."""


class EvaluationState(TypedDict, total=False):
    """Every field that a node reads or writes; all are present after the last node."""

    input: str
    case_id: str | None
    agent_run: Mapping[str, Any]
    """The fields of an ``AgentRun``, with its messages as they were read."""
    actual_output: str
    findings: list[Finding]
    """All findings so far, in the order of the nodes; a graph stores them as plain JSON."""
    reference_output: str | None
    actual_trajectory: list[Action]
    expected_trajectory: list[JsonObject]
    trajectory_match_mode: str
    run_metadata: Mapping[str, Any]
    """The fields of a ``RunMetadata`` that have a value."""
    thresholds: dict[str, JsonObject]
    """Normalised: min, max, severity, owner by metric."""
    rubric: JsonObject | None
    baseline_metrics: JsonObject | None
    fake_judge_response: JsonObject | str | None
    """Stands for the answer of a judge if no judge is given."""
    contract: JsonObject
    """The contract as JSON."""
    suspects: list[int]
    """The searches that may find a credential or personal data in the case; none if it certainly has none."""
    response_metrics: JsonObject
    operational_metrics: JsonObject
    trajectory_metrics: JsonObject
    judge_decision: JsonObject
    """Whether a judge was needed, why, and what it cost."""
    judge_result: JsonObject | None
    audit_findings: list[JsonObject]
    drift_signals: JsonObject
    alerts: list[Alert]
    evaluation_status: EvaluationStatus
    errors: list[str]
    evaluation_report: JsonObject | None


class PreparedState(EvaluationState, total=False):
    """The state that a node reads, with the parts that are not stored."""

    demands: Contract
    """The contract, validated once."""
    conversation: Conversation | None
    """The messages of the run, read once."""
    sensitive: list[SensitiveValue]
    """The credentials and personal data in the run, searched once."""
