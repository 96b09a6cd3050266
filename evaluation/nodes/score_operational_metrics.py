"""Node: compares latency, tokens, cost and calls with their limits."""

from __future__ import annotations

from evaluation.metrics.metric_table import select_operational
from evaluation.metrics.operational import score_operational
from evaluation.plugins import Plugins
from evaluation.results.findings import build_group
from evaluation.results.state import EvaluationState
from evaluation.values import as_object


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
