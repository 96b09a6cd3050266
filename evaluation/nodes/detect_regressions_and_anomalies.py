"""Node: the run against its baseline, and every finding turned into an alert."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evaluation.alerts import Alert, alert, policy_alert
from evaluation.checks import (
    NOTHING_ANSWERED,
    NOTHING_ASKED,
    asks_something,
    checks_of,
    groups_of,
    judge_checks,
)
from evaluation.findings import Check, check
from evaluation.injected import Injected
from evaluation.metrics.drift import drift
from evaluation.metrics.measurements import measurements
from evaluation.metrics.registry import DIRECTIONS, direction_of, is_metric
from evaluation.rules import DriftRules
from evaluation.state import EvaluationState
from evaluation.values import JsonObject


def detect_regressions_and_anomalies(state: EvaluationState, injected: Injected) -> EvaluationState:  # noqa: ARG001
    """Compare with the baseline, and raise an alert for every check that did not pass."""
    rules = DriftRules.model_validate(state["contract"].get("drift", {}))
    baseline = state["baseline_metrics"]
    current = {} if baseline is None else measurements(groups_of(state), is_metric).values
    directions = {**DIRECTIONS, **{name: direction_of(name) for name in current}}
    signals, compared = drift(current, baseline, rules, directions)
    return {"drift_signals": signals, "alerts": alerts_of(state, compared, signals)}


def alerts_of(state: EvaluationState, compared: Sequence[Check], signals: JsonObject) -> list[Alert]:
    """List every alert of a run, the most severe first, then in the order of the report."""
    owner = state["contract"].get("owner")
    to = owner if isinstance(owner, str) else None
    policy = [policy_alert(finding, to) for finding in state["audit_findings"]]
    unasked = _unanswered(state, bool(signals.get("compared")))
    checks = (*_open(state), *unasked, *compared)
    found = [*policy, *(alert(one, to) for one in checks if one["passed"] is not True)]
    return sorted(found, key=lambda one: _ORDER[one["severity"]])


_ORDER = {"critical": 0, "warning": 1, "info": 2}


def _open(state: EvaluationState) -> Iterator[Check]:
    """Yield the checks of the run; what a judge settled is no longer open."""
    settled = (state["judge_result"] or {}).get("passed") is not None
    for one in (*checks_of(state), *judge_checks(state)):
        if not (settled and one["kind"] == "inconclusive"):
            yield one


def _unanswered(state: EvaluationState, compared: bool) -> Iterator[Check]:
    """Say where no question had an answer: an empty set of checks is no pass."""
    audit = state["contract"].get("audit")
    audited = isinstance(audit, Mapping) and bool(audit.get("rules"))
    checks = (*checks_of(state), *judge_checks(state))
    if not asks_something(state) and state["judge_result"] is None:
        yield check("inconclusive", "contract", None, "warning", NOTHING_ASKED)
    elif not (audited or compared or any(one["passed"] is not None for one in checks)):
        yield check("inconclusive", "contract", None, "warning", NOTHING_ANSWERED)
