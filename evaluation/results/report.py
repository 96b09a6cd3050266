"""The models of an evaluation report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, overload

from pydantic import BaseModel, ConfigDict

from evaluation.results.alerts import Alert
from evaluation.results.findings import AuditFinding, CheckRecord, EvaluationStatus
from evaluation.results.plain_report import (
    JudgeFailed,
    JudgeReportDict,
    JudgeScored,
    MetricGroup,
    MetricsDict,
)

SCHEMA_VERSION: Final = 1

if TYPE_CHECKING:
    JudgeResult = JudgeScored | JudgeFailed
else:
    # Pydantic need not enter it: the evaluation has checked the answer of the judge.
    JudgeResult = dict[str, object]


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
    result: JudgeResult | None
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

    @overload
    def __getitem__(self, name: Literal["schema_version"]) -> int: ...
    @overload
    def __getitem__(self, name: Literal["status"]) -> EvaluationStatus: ...
    @overload
    def __getitem__(self, name: Literal["summary", "input", "recommended_action"]) -> str: ...
    @overload
    def __getitem__(self, name: Literal["case_id"]) -> str | None: ...
    @overload
    def __getitem__(self, name: Literal["checks"]) -> list[CheckRecord]: ...
    @overload
    def __getitem__(self, name: Literal["metrics"]) -> MetricsDict: ...
    @overload
    def __getitem__(self, name: Literal["audit_findings"]) -> list[AuditFinding]: ...
    @overload
    def __getitem__(self, name: Literal["judge"]) -> JudgeReportDict: ...
    @overload
    def __getitem__(self, name: Literal["drift_signals"]) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, name: Literal["alerts"]) -> list[Alert]: ...
    @overload
    def __getitem__(self, name: Literal["failures", "errors"]) -> list[str]: ...
    @overload
    def __getitem__(self, name: Literal["evidence"]) -> list[dict[str, Any]]: ...

    def __getitem__(self, name: str) -> object:
        """Return a field as plain JSON values.

        Raises:
            KeyError: The report has no such field.
        """
        if name not in type(self).model_fields:
            raise KeyError(name)
        value: object = self.model_dump(mode="json", include={name})[name]
        return value
