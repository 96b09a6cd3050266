"""Nodes: compare the run with its baseline and raise the alerts, and derive the status from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evaluation.inputs.contract import DriftRules
from evaluation.metrics.drift_signals import compare_with_baseline, read_measurements
from evaluation.metrics.metric_table import DIRECTIONS, METRICS, Direction
from evaluation.plugins import Plugins
from evaluation.results.findings import Alert, MetricOutcome, alert, build_outcome, policy_alert
from evaluation.results.state import EvaluationState
from evaluation.results.status import (
    NOTHING_ASKED,
    NOTHING_DECIDES,
    has_any_demand,
    has_ended_early,
    is_decided,
    judge_outcomes,
    metric_groups,
    metric_outcomes,
    strictest_status,
)
from evaluation.values import JsonObject


def detect_regressions_and_anomalies(state: EvaluationState, plugins: Plugins) -> EvaluationState:  # noqa: ARG001
    """Compare with the baseline, and raise an alert for every outcome that did not pass."""
    signals, compared = _compare_baseline(state)
    return {"drift_signals": signals, "alerts": alerts_of(state, compared, signals)}


def _compare_baseline(state: EvaluationState) -> tuple[JsonObject, list[MetricOutcome]]:
    baseline = state["baseline_metrics"]
    if baseline is None:
        return compare_with_baseline({}, None, _DEFAULT, DIRECTIONS)
    rules = DriftRules.model_validate(state["contract"].get("drift", {}))
    run = {"metrics": metric_groups(state), "judge": {"result": state["judge_result"]}}
    current = read_measurements(run, METRICS)
    resources: dict[str, Direction] = {name: "lower" for name in current if name not in METRICS}
    return compare_with_baseline(current, baseline, rules, {**DIRECTIONS, **resources})


_DEFAULT = DriftRules()


def alerts_of(state: EvaluationState, compared: Sequence[MetricOutcome], signals: JsonObject) -> list[Alert]:
    """List every alert of a run, the most severe first, then in the order of the report."""
    owner = state["contract"].get("owner")
    default_owner = owner if isinstance(owner, str) else None
    policy = [policy_alert(finding, default_owner) for finding in state["audit_findings"]]
    outcomes = [*metric_outcomes(state), *judge_outcomes(state)]
    unanswered = _find_unanswered(state, outcomes, signals)
    everything = (*state.get("record_checks", ()), *_without_settled(state, outcomes), *unanswered, *compared)
    # Not only False: a question without an answer must not look like a pass.
    failed = [alert(outcome, default_owner) for outcome in everything if outcome["passed"] is not True]
    return sorted([*policy, *failed], key=lambda each: _ORDER[each["severity"]])


_ORDER = {"critical": 0, "warning": 1, "info": 2}


def _without_settled(state: EvaluationState, outcomes: Sequence[MetricOutcome]) -> Sequence[MetricOutcome]:
    """Leave out the inconclusive outcomes if a judge has decided."""
    settled = (state["judge_result"] or {}).get("passed") is not None
    return [outcome for outcome in outcomes if outcome["kind"] != "inconclusive"] if settled else outcomes


def _find_unanswered(
    state: EvaluationState, outcomes: Sequence[MetricOutcome], signals: JsonObject
) -> Iterator[MetricOutcome]:
    """Report a run without any answered question, which must not pass."""
    if has_ended_early(state):
        return
    if not has_any_demand(state) and state["judge_result"] is None:
        yield build_outcome("inconclusive", "contract", None, "warning", NOTHING_ASKED)
    elif not (is_decided(state, outcomes) or signals.get("decisive")):
        yield build_outcome("inconclusive", "contract", None, "warning", NOTHING_DECIDES)


def decide_evaluation_status(state: EvaluationState, plugins: Plugins) -> EvaluationState:  # noqa: ARG001
    """Take the strictest status that any alert asks for: no approval outweighs a failure."""
    return {
        "evaluation_status": strictest_status((alert["kind"], alert["severity"]) for alert in state["alerts"])
    }
