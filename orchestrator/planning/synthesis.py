"""The final answer: whether it is written from the results, from which state, and the update that ends it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from orchestrator.state.current_step import list_accepted, read_evidence, select_derived, select_earlier
from orchestrator.state.graph_state import (
    NOTHING_UNDERWAY,
    Failure,
    OrchestratorState,
    StateUpdate,
    blank_state,
)
from orchestrator.state.records import StepRecord
from orchestrator.state.usage import NO_USAGE

_NAME: Final = "final answer"
_NO_BASIS: Final[StateUpdate] = {"basis": None, "evidence": None}


def conclude_steps(records: Sequence[StepRecord], *, writes_answer: bool, is_checked: bool) -> StateUpdate:
    """Returns the update after the last step: the run goes on with the synthesis, or has its output.

    Args:
        records: The executions of the run.
        writes_answer: Whether several results become one answer.
        is_checked: Whether the only accepted result has met the rules for the output.
    """
    accepted = list_accepted(records)
    if writes_answer and (len(accepted) > 1 or not is_checked):
        return {"status": "executing"}
    return {"status": "success", "output": accepted[-1]["result"], **_read_basis(accepted)}


def begin_synthesis(state: OrchestratorState) -> OrchestratorState:
    """Returns the state of the synthesis: a plan whose only step is the task, after all steps of the run."""
    return {
        **blank_state(state["task"], state["max_retries"]),
        "status": "executing",
        "plan": [state["task"]],
        "declared": select_derived(state["declared"], []),
        "current_step_index": len(state["plan"]),
        "context": state["context"],
        "results": select_earlier(state["results"]),
        "retries": state["retries"],
        "judge_calls": state["judge_calls"],
        "usage": state["usage"],
        "underway": {**NOTHING_UNDERWAY, "branch": len(state["plan"])},
    }


def offer_last_result(begin: OrchestratorState, last: StepRecord) -> OrchestratorState:
    """Returns the state whose first attempt at the answer is the result of the last step.

    No retry pays for it: if it is refused, the answer is written as often as without it.

    Args:
        begin: The state of the synthesis.
        last: The accepted execution of the last step.
    """
    offered = StepRecord(
        step_index=begin["current_step_index"],
        step=begin["task"],
        attempt=1,
        result=last["result"],
        status="pending_validation",
        verdict=None,
        report=None,
        warnings=[],
        supervision=None,
        tool_calls=[],
        usage=NO_USAGE,
        judge_usage=None,
        model=last["model"],
        transport_retries=0,
        replan=last["replan"],
        started_at=last["started_at"],
        error=None,
        basis="unverified",
    )
    return {**begin, "results": [*begin["results"], offered], "max_retries": begin["max_retries"] + 1}


def end_synthesis(state: OrchestratorState, end: OrchestratorState, records: list[StepRecord]) -> StateUpdate:
    """Returns the update after the synthesis. The steps, their results and the context stay as they are.

    Args:
        state: The state of the run.
        end: The last state of the synthesis.
        records: The attempts to write the answer.
    """
    step, failure = f"step {len(state['plan']) + 1}: ", end["failure"]
    accepted = list_accepted(records)
    return {
        "synthesis": records,
        "output": accepted[-1]["result"] if end["status"] == "success" else None,
        **(_read_basis(accepted) if end["status"] == "success" else _NO_BASIS),
        "warnings": [f"{_NAME}: {text.removeprefix(step)}" for text in end["warnings"]],
        "retries": end["retries"],
        "judge_calls": end["judge_calls"],
        "usage": end["usage"],
        "attempts": end["attempts"],
        "status": end["status"],
        "failure": None if failure is None else _rename_step(failure, step),
    }


def _read_basis(accepted: Sequence[StepRecord]) -> StateUpdate:
    """Returns the basis and the evidence of the run, which are its output's."""
    return {"basis": accepted[-1].get("basis", "unverified"), "evidence": read_evidence(accepted[-1])}


def _rename_step(failure: Failure, step: str) -> Failure:
    message = f"{_NAME}: {failure['message'].removeprefix(step)}"
    return {**failure, "message": message, "step_index": None}
