"""Decides which node is next: pure functions of the state."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from orchestrator.state.current_step import (
    current_records,
    is_answer_due,
    lacks_report,
    latest_record,
    supervision_mode,
)
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.supervision_records import SupervisionMode

Route: TypeAlias = Callable[[OrchestratorState, SupervisionMode], str]
"""Takes the supervision mode of a step without its own. Returns the label of the next node."""


def route_after_planner(state: OrchestratorState, mode: SupervisionMode) -> str:
    """Executes the plan, or ends if there is none. Steps that declare their needs run in parallel."""
    if state["status"] != "executing":
        return "end"
    if state["declared"]["needs"] is not None:
        return "parallel"
    return route_to_step(state, mode)


def route_to_step(state: OrchestratorState, mode: SupervisionMode) -> str:
    """Begins a step; a supervised one with its commitment."""
    return "execute" if supervision_mode(state, mode) == "none" else "commit"


def route_to_branch(state: OrchestratorState, mode: SupervisionMode) -> str:
    """Begins a parallel step or the answer: with the evaluation if there is an execution to be judged."""
    return route_after_executor(state, mode) if _is_pending(state) else route_to_step(state, mode)


def route_after_commit(state: OrchestratorState, mode: SupervisionMode) -> str:  # noqa: ARG001 - as every route
    """Executes the step, unless the run has ended."""
    return "execute" if state["status"] == "executing" else "end"


def route_after_executor(state: OrchestratorState, mode: SupervisionMode) -> str:
    """Evaluates the output; in a supervised step, after the executor has assessed it.

    An execution that has ended the run is evaluated as well, so that it has a report.
    """
    if state["status"] != "executing":
        return "judge" if lacks_report(state) else "end"
    supervision = latest_record(state)["supervision"]
    is_assessed = supervision is not None and supervision["assessment"] is not None
    return "judge" if is_assessed or supervision_mode(state, mode) == "none" else "assess"


def route_after_monitor(state: OrchestratorState, mode: SupervisionMode) -> str:
    """Continues after the verdict; a supervised step is reconciled first."""
    if _is_pending(state):
        return "reconcile"
    return route_after_outcome(state, mode)


def route_after_reconcile(state: OrchestratorState, mode: SupervisionMode) -> str:
    """Continues after a clean step; otherwise the supervisor decides."""
    if _is_pending(state):
        return "supervise"
    return route_after_outcome(state, mode)


def route_after_outcome(state: OrchestratorState, mode: SupervisionMode) -> str:
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


def route_after_join(state: OrchestratorState, mode: SupervisionMode) -> str:  # noqa: ARG001 - as every route
    """Continues with the steps whose needs are met now; after all steps, with the final answer."""
    if state["status"] != "executing":
        return "end"
    if state["underway"]["replan"] is not None:
        return "replan"
    return "synthesize" if is_answer_due(state) else "parallel"


def _is_pending(state: OrchestratorState) -> bool:
    """Checks whether the latest execution of the current step still waits for its verdict."""
    records = current_records(state)
    is_open = state["status"] == "executing" and state["question"] is None
    return is_open and bool(records) and records[-1]["status"] == "pending_validation"
