"""What comes out: one report, in the document's shape."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from evaluation.results.alerts import Alert
from evaluation.results.findings import AuditFinding
from evaluation.results.state import EvaluationStatus

SCHEMA_VERSION: Final = 1


class ReportModel(BaseModel):
    """Data that leaves: exact fields, never changed afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Metrics(ReportModel):
    """The metric groups: scored values by name, and status, passed, counts, unscored, checks."""

    response: dict[str, object]
    operational: dict[str, object]
    trajectory: dict[str, object]


class JudgeReport(ReportModel):
    """Whether a judge was needed and called, why, what it said and what it cost."""

    needed: bool
    called: bool
    reason: str
    usage: dict[str, object]
    """What the call cost, as the judge reported it; empty where it did not."""
    result: dict[str, object] | None
    """The checked answer, or the kind of the judge's failure."""


class EvaluationReport(ReportModel):
    """The structured result of one evaluation; ``report["status"]`` reads like ``report.status``."""

    schema_version: Literal[1]
    status: EvaluationStatus
    summary: str
    input: str
    case_id: str | None
    metrics: Metrics
    audit_findings: list[AuditFinding]
    judge: JudgeReport
    drift_signals: dict[str, object]
    alerts: list[Alert]
    """The most severe first."""
    failures: list[str]
    """The reasons of what kept the run from passing."""
    evidence: list[dict[str, object]]
    """What was judged: by hash, with a bounded and redacted excerpt."""
    errors: list[str]
    recommended_action: str

    def __getitem__(self, name: str) -> object:
        """Give a field as plain JSON values.

        Raises:
            KeyError: The report has no such field.
        """
        if name not in type(self).model_fields:
            raise KeyError(name)
        value: object = self.model_dump(mode="json", include={name})[name]
        return value
