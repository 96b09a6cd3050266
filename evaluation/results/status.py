"""From findings to one status: a table, and the stricter wins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from evaluation.inputs.rules import Severity
from evaluation.results.findings import FindingKind
from evaluation.results.state import EvaluationStatus

STRICTNESS: Final[tuple[EvaluationStatus, ...]] = ("passed", "warning", "needs_review", "failed", "invalid")
"""From the mildest to the strictest."""

STATUS: Final[Mapping[FindingKind, Mapping[Severity, EvaluationStatus]]] = {
    # kind of finding    info                  warning                    critical
    "invalid_input": {"info": "invalid", "warning": "invalid", "critical": "invalid"},
    "policy": {"info": "passed", "warning": "warning", "critical": "failed"},
    "response": {"info": "passed", "warning": "warning", "critical": "failed"},
    "trajectory": {"info": "passed", "warning": "warning", "critical": "failed"},
    "operational": {"info": "passed", "warning": "warning", "critical": "failed"},
    "collaboration": {"info": "passed", "warning": "warning", "critical": "failed"},
    "judge": {"info": "passed", "warning": "warning", "critical": "failed"},
    "regression": {"info": "passed", "warning": "warning", "critical": "failed"},
    "drift": {"info": "passed", "warning": "warning", "critical": "needs_review"},
    "anomaly": {"info": "passed", "warning": "warning", "critical": "needs_review"},
    "judge_error": {"info": "needs_review", "warning": "needs_review", "critical": "failed"},
    "metric_error": {"info": "needs_review", "warning": "needs_review", "critical": "failed"},
    "missing_data": {"info": "warning", "warning": "needs_review", "critical": "failed"},
    "inconclusive": {"info": "needs_review", "warning": "needs_review", "critical": "failed"},
}
"""What a finding makes of a run. Only what was measured and is marked as information lets a run pass."""


def status_of(findings: Iterable[tuple[FindingKind, Severity]]) -> EvaluationStatus:
    """Give the strictest status that any finding asks for; ``passed`` where there is none."""
    asked = (STATUS[kind][severity] for kind, severity in findings)
    return max(asked, key=STRICTNESS.index, default="passed")
