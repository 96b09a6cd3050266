"""The types of a report as plain JSON, as ``report["judge"]`` and the records of a run have it."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from typing_extensions import TypedDict

from evaluation.errors import JudgeFailureKind
from evaluation.results.alerts import Alert
from evaluation.results.findings import AuditFinding, CheckRecord, EvaluationStatus

MetricGroup: TypeAlias = dict[str, Any]
"""The values of the metrics that were scored, by name, and the fields that ``build_group`` adds."""


class MetricsDict(TypedDict):
    """The metric groups."""

    response: MetricGroup
    operational: MetricGroup
    trajectory: MetricGroup


class ScoreRange(TypedDict):
    """The scale of a rubric."""

    min: float
    max: float


class JudgeScored(TypedDict):
    """The answer of a judge that gave a score."""

    status: Literal["scored"]
    passed: bool
    rubric: str
    score: float
    pass_score: float
    scale: ScoreRange
    criteria: dict[str, float]
    """A score for each criterion of the rubric, or empty."""
    rationale: str
    concerns: list[str]
    recommended_action: str | None
    repaired: bool
    unseen: str | None
    details: dict[str, Any]


class JudgeFailed(TypedDict):
    """The failure of a judge that gave no usable answer."""

    status: Literal["error"]
    passed: None
    failure: JudgeFailureKind
    reason: str
    details: dict[str, Any]


class JudgeReportDict(TypedDict):
    """Whether a judge was needed and called, why, its answer and its cost."""

    needed: bool
    called: bool
    reason: str
    usage: dict[str, Any]
    result: JudgeScored | JudgeFailed | None
    """Its ``status`` tells a score from a failure."""


class EvaluationReportDict(TypedDict):
    """The fields of ``EvaluationReport`` as plain JSON."""

    schema_version: Literal[1]
    status: EvaluationStatus
    summary: str
    input: str
    case_id: str | None
    checks: list[CheckRecord]
    metrics: MetricsDict
    audit_findings: list[AuditFinding]
    judge: JudgeReportDict
    drift_signals: dict[str, Any]
    alerts: list[Alert]
    failures: list[str]
    evidence: list[dict[str, Any]]
    errors: list[str]
    recommended_action: str
