"""Node: derives the status from all alerts."""

from __future__ import annotations

from evaluation.plugins import Plugins
from evaluation.results.state import EvaluationState
from evaluation.results.status import strictest_status


def decide_evaluation_status(state: EvaluationState, plugins: Plugins) -> EvaluationState:  # noqa: ARG001
    """Take the strictest status that any alert asks for: no approval outweighs a failure."""
    return {
        "evaluation_status": strictest_status((alert["kind"], alert["severity"]) for alert in state["alerts"])
    }
