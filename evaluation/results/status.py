"""From findings to one status: a table, and the stricter wins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, cast

from evaluation.inputs.rules import Severity
from evaluation.results.findings import FindingKind, MetricOutcome
from evaluation.results.state import EvaluationState, EvaluationStatus
from evaluation.values import JsonObject


def metric_groups(state: EvaluationState) -> dict[str, JsonObject]:
    """Give the metric groups by name, in the order of the report."""
    return {
        "response": state["response_metrics"],
        "operational": state["operational_metrics"],
        "trajectory": state["trajectory_metrics"],
    }


def metric_outcomes(state: EvaluationState) -> Iterator[MetricOutcome]:
    """Yield every check of the three metric groups."""
    for group in metric_groups(state).values():
        yield from _checks(group)


def judge_outcomes(state: EvaluationState) -> Iterator[MetricOutcome]:
    """Yield what the judge settled, or failed to."""
    return iter(_checks(state["judge_result"] or {}))


def _checks(group: JsonObject) -> Iterable[MetricOutcome]:
    return cast("Iterable[MetricOutcome]", group.get("checks") or ())


NOTHING_ASKED: Final = "nothing was asked of this run"
NOTHING_ANSWERED: Final = "nothing that was asked of this run could be answered"
_ASKING: Final = (
    "reference_output",
    "keywords",
    "required_content",
    "forbidden_content",
    "output_length",
    "thresholds",
    "rubric",
    "subjective_criteria",
)


def has_any_demand(state: EvaluationState) -> bool:
    """Say whether the contract asks anything: a run of which nothing was asked has not passed."""
    contract = state["contract"]
    rules = (contract.get("trajectory"), contract.get("audit"))
    return (
        "expected_trajectory" in contract
        or bool(state["baseline_metrics"])
        or any(contract.get(name) not in (None, [], {}) for name in _ASKING)
        or any(isinstance(rule, Mapping) and _demands(rule) for rule in rules)
    )


def _demands(rules: JsonObject) -> bool:
    return bool(rules.get("rules") or rules.get("forbidden_tools") or rules.get("failed_calls") == "fail")


def has_critical_finding(state: EvaluationState) -> bool:
    """Say whether an audit finding fails the run whatever else is found."""
    return any(finding["severity"] == "critical" for finding in state["audit_findings"])


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


def strictest_status(findings: Iterable[tuple[FindingKind, Severity]]) -> EvaluationStatus:
    """Give the strictest status that any finding asks for; ``passed`` where there is none."""
    asked = (STATUS[kind][severity] for kind, severity in findings)
    return max(asked, key=STRICTNESS.index, default="passed")
