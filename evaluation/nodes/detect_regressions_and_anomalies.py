"""Node: the run against its baseline, and every finding turned into an alert."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evaluation.inputs.rules import DriftRules
from evaluation.metrics.drift.baseline import read_measurements
from evaluation.metrics.drift.compare import compare_with_baseline
from evaluation.metrics.registry import DIRECTIONS, Direction, is_metric
from evaluation.plugins import Plugins
from evaluation.results.alerts import Alert, alert, policy_alert
from evaluation.results.findings import MetricOutcome, build_outcome
from evaluation.results.state import EvaluationState
from evaluation.results.status import (
    NOTHING_ANSWERED,
    NOTHING_ASKED,
    has_any_demand,
    judge_outcomes,
    metric_groups,
    metric_outcomes,
)
from evaluation.values import JsonObject


def detect_regressions_and_anomalies(state: EvaluationState, plugins: Plugins) -> EvaluationState:  # noqa: ARG001
    """Compare with the baseline, and raise an alert for every check that did not pass."""
    signals, compared = _drift(state)
    return {"drift_signals": signals, "alerts": alerts_of(state, compared, signals)}


def _drift(state: EvaluationState) -> tuple[JsonObject, list[MetricOutcome]]:
    baseline = state["baseline_metrics"]
    if baseline is None:
        return compare_with_baseline({}, None, _DEFAULT, DIRECTIONS)
    rules = DriftRules.model_validate(state["contract"].get("drift", {}))
    run = {"metrics": metric_groups(state), "judge": {"result": state["judge_result"]}}
    current = read_measurements(run, is_metric).values
    resources: dict[str, Direction] = {name: "lower" for name in current if not is_metric(name)}
    return compare_with_baseline(current, baseline, rules, {**DIRECTIONS, **resources})


_DEFAULT = DriftRules()


def alerts_of(state: EvaluationState, compared: Sequence[MetricOutcome], signals: JsonObject) -> list[Alert]:
    """List every alert of a run, the most severe first, then in the order of the report."""
    owner = state["contract"].get("owner")
    to = owner if isinstance(owner, str) else None
    policy = [policy_alert(finding, to) for finding in state["audit_findings"]]
    asked = [*metric_outcomes(state), *judge_outcomes(state)]
    unasked = _unanswered(state, asked, bool(signals.get("compared")))
    checks = (*_open(state, asked), *unasked, *compared)
    found = [*policy, *(alert(one, to) for one in checks if one["passed"] is not True)]
    return sorted(found, key=lambda one: _ORDER[one["severity"]])


_ORDER = {"critical": 0, "warning": 1, "info": 2}


def _open(state: EvaluationState, asked: Sequence[MetricOutcome]) -> Sequence[MetricOutcome]:
    """Give the checks of the run; what a judge settled is no longer open."""
    settled = (state["judge_result"] or {}).get("passed") is not None
    return [one for one in asked if one["kind"] != "inconclusive"] if settled else asked


def _unanswered(
    state: EvaluationState, asked: Sequence[MetricOutcome], compared: bool
) -> Iterator[MetricOutcome]:
    """Say where no question had an answer: an empty set of checks is no pass."""
    audit = state["contract"].get("audit")
    audited = isinstance(audit, Mapping) and bool(audit.get("rules"))
    if not has_any_demand(state) and state["judge_result"] is None:
        yield build_outcome("inconclusive", "contract", None, "warning", NOTHING_ASKED)
    elif not (audited or compared or any(one["passed"] is not None for one in asked)):
        yield build_outcome("inconclusive", "contract", None, "warning", NOTHING_ANSWERED)
