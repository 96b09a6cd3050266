"""Decides which node is next: pure functions of the state."""

from __future__ import annotations

from typing import Literal

from orchestrator.state.current_step import (
    current_records,
    has_unreported_error,
    is_answer_due,
    latest_record,
    supervision_mode,
)
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.supervision_records import SupervisionMode


def route_after_planner(
    state: OrchestratorState, mode: SupervisionMode = "none"
) -> Literal["execute", "commit", "parallel", "end"]:
    """Executes the plan, or ends if there is none. Steps that declare their needs run in parallel."""
    if state["status"] != "executing":
        return "end"
    if state["declared"]["needs"] is not None:
        return "parallel"
    return route_to_step(state, mode)


def route_to_step(state: OrchestratorState, mode: SupervisionMode) -> Literal["execute", "commit"]:
    """Begins a step; a supervised one with its commitment."""
    return "execute" if supervision_mode(state, mode) == "none" else "commit"


def route_after_commit(state: OrchestratorState, mode: SupervisionMode = "none") -> Literal["execute", "end"]:  # noqa: ARG001 - as every route
    """Executes the step after its commitment."""
    return "execute" if state["status"] == "executing" else "end"


def route_after_post(state: OrchestratorState, mode: SupervisionMode = "none") -> Literal["judge", "end"]:  # noqa: ARG001 - as every route
    """Evaluates the step after its self-assessment."""
    return "judge" if state["status"] == "executing" else "end"


def route_after_executor(
    state: OrchestratorState, mode: SupervisionMode = "none"
) -> Literal["judge", "assess", "end"]:
    """Evaluates the output; in a supervised step, after the executor has assessed it.

    An execution that raised has ended the run; it is evaluated as well, so that it has a report.
    """
    if state["status"] != "executing":
        return "judge" if has_unreported_error(state) else "end"
    return "judge" if supervision_mode(state, mode) == "none" else "assess"


def route_after_monitor(
    state: OrchestratorState, mode: SupervisionMode = "none"
) -> Literal["next_step", "commit", "retry", "replan", "ask_human", "synthesize", "reconcile", "end"]:
    """Continues after the verdict; a supervised step is reconciled first."""
    if state["status"] == "executing" and state["question"] is None and _is_pending(state):
        return "reconcile"
    return route_after_outcome(state, mode)


def route_after_reconcile(
    state: OrchestratorState, mode: SupervisionMode = "none"
) -> Literal["next_step", "commit", "retry", "replan", "ask_human", "synthesize", "supervise", "end"]:
    """Continues after a clean step; otherwise the supervisor decides."""
    if state["status"] == "executing" and state["question"] is None and _is_pending(state):
        return "supervise"
    return route_after_outcome(state, mode)


def route_after_outcome(
    state: OrchestratorState, mode: SupervisionMode = "none"
) -> Literal["next_step", "commit", "retry", "replan", "ask_human", "synthesize", "end"]:
    """Continues as the latest outcome says: a step, a retry, a re-plan, a question, the answer, the end."""
    if state["status"] != "executing":
        return "end"
    if state["question"] is not None:
        return "ask_human"
    if state["underway"]["replan"] is not None:
        return "replan"
    if is_answer_due(state):
        return "synthesize"
    # Each execution of a supervised step has a commitment of its own.
    if route_to_step(state, mode) == "commit":
        return "commit"
    return "retry" if state["attempts"] else "next_step"


def route_after_join(
    state: OrchestratorState,
    mode: SupervisionMode,  # noqa: ARG001 - as every route
) -> Literal["parallel", "replan", "synthesize", "end"]:
    """Continues with the steps whose needs are met now; after all steps, with the final answer."""
    if state["status"] != "executing":
        return "end"
    if state["underway"]["replan"] is not None:
        return "replan"
    return "synthesize" if is_answer_due(state) else "parallel"


def _is_pending(state: OrchestratorState) -> bool:
    """Checks whether the latest execution of the current step still waits for its verdict."""
    return bool(current_records(state)) and latest_record(state)["status"] == "pending_validation"
