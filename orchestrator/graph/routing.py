"""Where the graph goes next: pure functions of the state."""

from __future__ import annotations

from typing import Literal

from orchestrator.state.current_step import current_records, latest_record, mode_of
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import SupervisionMode


def route_after_planner(
    state: OrchestratorState, mode: SupervisionMode = "none"
) -> Literal["execute", "commit", "parallel", "end"]:
    """Execute the plan, unless there is none; side by side what the plan says may be."""
    if state["status"] != "executing":
        return "end"
    if state["declared"]["needs"] is not None:
        return "parallel"
    return begin(state, mode)


def begin(state: OrchestratorState, mode: SupervisionMode) -> Literal["execute", "commit"]:
    """Begin a step: with a commitment where it is supervised."""
    return "execute" if mode_of(state, mode) == "none" else "commit"


def route_after_commit(state: OrchestratorState, mode: SupervisionMode = "none") -> Literal["execute", "end"]:  # noqa: ARG001 - as every route
    """Execute what was committed to."""
    return "execute" if state["status"] == "executing" else "end"


def route_after_post(state: OrchestratorState, mode: SupervisionMode = "none") -> Literal["judge", "end"]:  # noqa: ARG001 - as every route
    """Judge what was assessed."""
    return "judge" if state["status"] == "executing" else "end"


def route_after_executor(
    state: OrchestratorState, mode: SupervisionMode = "none"
) -> Literal["judge", "assess", "end"]:
    """Judge the output, unless there is none; where it is supervised, its executor has a word first."""
    if state["status"] != "executing":
        return "end"
    return "judge" if mode_of(state, mode) == "none" else "assess"


def route_after_monitor(
    state: OrchestratorState, mode: SupervisionMode = "none"
) -> Literal["next_step", "commit", "retry", "replan", "ask_human", "reconcile", "end"]:
    """Go on after a validated step, try a refused one again, or end; a supervised one is reconciled first."""
    if state["status"] == "executing" and state["question"] is None and _is_pending(state):
        return "reconcile"
    return route_onwards(state, mode)


def route_after_reconcile(
    state: OrchestratorState, mode: SupervisionMode = "none"
) -> Literal["next_step", "commit", "retry", "replan", "ask_human", "supervise", "end"]:
    """Go on where a step is clean; have it supervised where it is not."""
    if state["status"] == "executing" and state["question"] is None and _is_pending(state):
        return "supervise"
    return route_onwards(state, mode)


def route_onwards(
    state: OrchestratorState, mode: SupervisionMode = "none"
) -> Literal["next_step", "commit", "retry", "replan", "ask_human", "end"]:
    """Go on after a settled execution, or wait for a person."""
    if state["status"] != "executing":
        return "end"
    if state["question"] is not None:
        return "ask_human"
    if state["underway"]["replan"] is not None:
        return "replan"
    if state["attempts"]:
        return "retry"
    return "next_step" if begin(state, mode) == "execute" else "commit"


def route_after_join(state: OrchestratorState) -> Literal["parallel", "replan", "end"]:
    """Go on with the steps whose needs are met by now."""
    if state["status"] != "executing":
        return "end"
    return "replan" if state["underway"]["replan"] is not None else "parallel"


def _is_pending(state: OrchestratorState) -> bool:
    """Whether the latest execution of the current step still waits for its verdict."""
    return bool(current_records(state)) and latest_record(state)["status"] == "pending_validation"
