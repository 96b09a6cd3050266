"""Nodes: compare cost and calls with their limits, and the actions with the expected ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evaluation.inputs.run import TrajectoryRules
from evaluation.metrics.check_outcomes import list_tool_outcomes
from evaluation.metrics.collaboration import COLLABORATION_METRICS, score_collaboration
from evaluation.metrics.metric_table import select_operational
from evaluation.metrics.operational import score_operational
from evaluation.metrics.trajectory.expected_steps import ExpectedStep, expected_steps, fits_step
from evaluation.metrics.trajectory.matching import DEFAULT_RULES
from evaluation.metrics.trajectory.scoring import TRAJECTORY_METRICS, TrajectoryScores, score_trajectory
from evaluation.plugins import Plugins
from evaluation.results.findings import MetricOutcome, Score, build_group, group_status
from evaluation.results.state import EvaluationState
from evaluation.values import as_list, as_object


def score_operational_metrics(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Check latency, tokens, cost, calls and custom resources against their thresholds."""
    run = state["agent_run"]
    actions = state["actual_trajectory"] if "tool_calls" in run else None
    metadata = state["run_metadata"]
    bounds = select_operational(state["thresholds"], as_object(metadata.get("resources")))
    is_unasked = plugins.metrics == "asked" and not bounds and state["baseline_metrics"] is None
    if is_unasked or plugins.leaves_out("operational"):
        return {"operational_metrics": build_group({}, [])}
    metrics = score_operational(metadata, actions, bounds, plugins.prices)
    return {"operational_metrics": metrics}


def evaluate_trajectory(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Compare the trajectory with the expected one by the configured mode, and score the collaboration."""
    if plugins.leaves_out("trajectory"):
        return {"trajectory_metrics": build_group({}, [*list_tool_outcomes(state["check_results"])])}
    contract_rules = state["contract"].get("trajectory")
    rules = TrajectoryRules.model_validate(contract_rules) if contract_rules else DEFAULT_RULES
    steps = expected_steps(state["expected_trajectory"])
    scores = _score_trajectory(state, steps, rules)
    shared, shared_checks = _score_collaboration(state, steps, rules)
    tool_checks = list_tool_outcomes(state["check_results"])
    checks = [*_withdraw_unproved(scores.checks, state), *tool_checks, *shared_checks]
    metrics = build_group({**scores.scores, **shared}, checks, scores.facts)
    # build_group saw the collaboration too, which has scores even if no trajectory is expected.
    status = group_status(scores.scores)
    update: EvaluationState = {"trajectory_metrics": {**metrics, "status": status}}
    return {**update, "errors": [*state.get("errors", []), *scores.errors]} if scores.errors else update


def _withdraw_unproved(checks: Sequence[MetricOutcome], state: EvaluationState) -> Iterable[MetricOutcome]:
    """Withdraw each pass if the run records no actions: an unrecorded action proves nothing."""
    if "tool_calls" in state["agent_run"]:
        return checks
    return [_without_proof(check) if check["passed"] else check for check in checks]


def _without_proof(check: MetricOutcome) -> MetricOutcome:
    reason = "the run does not record its actions (tool_calls)"
    return {**check, "kind": "missing_data", "passed": None, "severity": "warning", "reason": reason}


def _score_trajectory(
    state: EvaluationState, steps: Sequence[ExpectedStep], rules: TrajectoryRules
) -> TrajectoryScores:
    is_expected = state["contract"].get("expected_trajectory") is not None
    thresholds = state["thresholds"]
    recorded = [str(name) for name in as_list(state["agent_run"].get("acting_tools"))]
    return score_trajectory(
        state["actual_trajectory"],
        steps if is_expected else None,
        state["trajectory_match_mode"],
        rules,
        {name: thresholds[name] for name in TRAJECTORY_METRICS if name in thresholds},
        recorded,
    )


def _score_collaboration(
    state: EvaluationState, steps: Sequence[ExpectedStep], rules: TrajectoryRules
) -> tuple[dict[str, Score], list[MetricOutcome]]:
    plan, thresholds = state["agent_run"].get("plan"), state["thresholds"]
    return score_collaboration(
        state["actual_trajectory"],
        state["expected_trajectory"],
        [str(name) for name in plan] if isinstance(plan, list) else None,
        rules,
        {name: thresholds[name] for name in COLLABORATION_METRICS if name in thresholds},
        lambda action: sum(fits_step(step, action, rules) for step in steps),
    )
