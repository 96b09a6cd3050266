"""The models of an evaluation report."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from evaluation.results.alerts import Alert
from evaluation.results.findings import AuditFinding, CheckRecord
from evaluation.results.state import EvaluationStatus

SCHEMA_VERSION: Final = 1


class ReportModel(BaseModel):
    """Base of the report models: exact fields, immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Metrics(ReportModel):
    """The metric groups: scored values by name, and status, passed, counts, unscored, checks."""

    response: dict[str, object]
    operational: dict[str, object]
    trajectory: dict[str, object]


class JudgeReport(ReportModel):
    """Whether a judge was needed and called, why, its answer and its cost."""

    needed: bool
    called: bool
    reason: str
    usage: dict[str, object]
    """The cost of the call as the judge reports it; empty if it does not."""
    result: dict[str, object] | None
    """The validated answer, or the kind of the judge's failure."""


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
    drift_signals: dict[str, object]
    alerts: list[Alert]
    """The most severe first."""
    failures: list[str]
    """The reasons of the alerts that keep the run from passing."""
    evidence: list[dict[str, object]]
    """The judged texts: a hash and a short redacted excerpt of each."""
    errors: list[str]
    recommended_action: str

    def __getitem__(self, name: str) -> object:
        """Return a field as plain JSON values.

        Raises:
            KeyError: The report has no such field.
        """
        if name not in type(self).model_fields:
            raise KeyError(name)
        value: object = self.model_dump(mode="json", include={name})[name]
        return value
