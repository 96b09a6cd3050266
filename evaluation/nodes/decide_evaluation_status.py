"""Node: one status from all findings."""

from __future__ import annotations

from evaluation.plugins import Injected
from evaluation.results.state import EvaluationState
from evaluation.results.status import status_of


def decide_evaluation_status(state: EvaluationState, injected: Injected) -> EvaluationState:  # noqa: ARG001
    """Let the strictest finding decide: no approval outweighs a failure."""
    return {"evaluation_status": status_of((one["kind"], one["severity"]) for one in state["alerts"])}
