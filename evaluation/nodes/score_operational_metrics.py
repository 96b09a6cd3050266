"""Node: compares latency, tokens, cost and calls with their limits."""

from __future__ import annotations

from evaluation.metrics.metric_table import select_operational
from evaluation.metrics.operational import score_operational
from evaluation.plugins import Plugins
from evaluation.results.state import EvaluationState


def score_operational_metrics(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Check latency, tokens, cost, calls and custom resources against their thresholds."""
    run = state["agent_run"]
    actions = state["actual_trajectory"] if "tool_calls" in run else None
    bounds = select_operational(state["thresholds"])
    metrics = score_operational(state["run_metadata"], actions, bounds, plugins.prices)
    return {"operational_metrics": metrics}
