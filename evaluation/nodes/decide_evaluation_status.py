"""Node: one status from all findings."""

from __future__ import annotations

from evaluation.plugins import Plugins
from evaluation.results.state import EvaluationState
from evaluation.results.status import strictest_status


def decide_evaluation_status(state: EvaluationState, plugins: Plugins) -> EvaluationState:  # noqa: ARG001
    """Let the strictest finding decide: no approval outweighs a failure."""
    return {"evaluation_status": strictest_status((one["kind"], one["severity"]) for one in state["alerts"])}
