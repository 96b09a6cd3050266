"""The models of an evaluation report."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from evaluation.results.findings import Alert, AuditFinding, CheckRecord, EvaluationStatus
from evaluation.results.notebook_card import CardTable, render_card

SCHEMA_VERSION: Final = 1
_WORDS: Final = {True: "passed", False: "failed", None: "undecided"}
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

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - JSON; the attributes have the types
        """Return a field as plain JSON values.

        Raises:
            KeyError: The report has no such field.
        """
        if name not in type(self).model_fields:
            raise KeyError(name)
        return self.model_dump(mode="json", include={name})[name]

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the status, the checks and the alerts."""
        checks = [
            (each["check"], _WORDS[each["passed"]], each["wanted"], each["seen"]) for each in self.checks
        ]
        alerts = [(each["severity"], each["metric"], each["reason"]) for each in self.alerts]
        facts = {"summary": self.summary, "errors": "; ".join(self.errors), "next": self.recommended_action}
        tables = (("check", "result", "wanted", "seen"), checks), (("severity", "metric", "reason"), alerts)
        return render_card(self.status, facts, *(CardTable(*table) for table in tables))
