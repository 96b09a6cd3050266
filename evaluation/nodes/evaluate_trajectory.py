"""Node: what the agent did, against what it should have done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evaluation.inputs.rules import TrajectoryRules
from evaluation.metrics.collaboration import COLLABORATION_METRICS, Collaboration, score_collaboration
from evaluation.metrics.trajectory import (
    DEFAULT_RULES,
    TRAJECTORY_METRICS,
    TrajectoryScores,
    expected_step,
    observed_action,
    score_trajectory,
)
from evaluation.plugins import Plugins
from evaluation.results.findings import MetricOutcome, build_group, group_status
from evaluation.results.state import EvaluationState


def evaluate_trajectory(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Compare the trajectory with the expected one by the configured mode; judge how agents work together."""
    given = state["contract"].get("trajectory")
    rules = TrajectoryRules.model_validate(given) if given else DEFAULT_RULES
    found = _compared(state, rules, plugins)
    together = _together(state, rules)
    metrics = build_group(
        {**found.scored, **together.scored},
        {**found.unscored, **together.unscored},
        [*_answerable(found.checks, state), *together.checks],
        found.facts,
    )
    # What agents did together is scored whether or not anything was expected of the trajectory.
    status = group_status(found.scored, found.unscored)
    update: EvaluationState = {"trajectory_metrics": {**metrics, "status": status}}
    return {**update, "errors": [*state.get("errors", []), *found.errors]} if found.errors else update


def _answerable(checks: Sequence[MetricOutcome], state: EvaluationState) -> Iterable[MetricOutcome]:
    """Let nothing pass by actions that nobody recorded: without a record, none is proved."""
    if "tool_calls" in state["agent_run"]:
        return checks
    return [_unproved(one) if one["passed"] else one for one in checks]


def _unproved(one: MetricOutcome) -> MetricOutcome:
    reason = "the run does not record its actions (tool_calls)"
    return {**one, "kind": "missing_data", "passed": None, "severity": "warning", "reason": reason}


def _compared(state: EvaluationState, rules: TrajectoryRules, plugins: Plugins) -> TrajectoryScores:
    given = state["contract"].get("expected_trajectory") is not None
    thresholds = state["thresholds"]
    return score_trajectory(
        [observed_action(action) for action in state["actual_trajectory"]],
        [expected_step(item) for item in state["expected_trajectory"]] if given else None,
        state["trajectory_match_mode"],
        rules,
        plugins.argument_functions,
        {name: thresholds[name] for name in TRAJECTORY_METRICS if name in thresholds},
    )


def _together(state: EvaluationState, rules: TrajectoryRules) -> Collaboration:
    plan, thresholds = state["agent_run"].get("plan"), state["thresholds"]
    return score_collaboration(
        state["actual_trajectory"],
        state["expected_trajectory"],
        [str(name) for name in plan] if isinstance(plan, list) else None,
        rules.stuck_after,
        {name: thresholds[name] for name in COLLABORATION_METRICS if name in thresholds},
    )
