"""Steps that run side by side: the state of each alone, and what becomes of all; pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orchestrator.planning.plan import ready
from orchestrator.state.current_step import context_entry
from orchestrator.state.graph_state import (
    NOTHING_UNDERWAY,
    BranchEnd,
    Declared,
    JudgeCalls,
    OrchestratorState,
    Retries,
    StateUpdate,
    StepRecord,
    Usage,
    blank_state,
    extended,
    settle_records,
)
from orchestrator.state.usage import add_usage

_STANDING = ("validated", "warning")


def branches_of(state: OrchestratorState) -> list[OrchestratorState]:
    """The states of the steps that can run now, each with the results that it needs as its context."""
    needs = state["declared"]["needs"] or []
    return [_alone(state, step) for step in ready(needs, done(state))]


def done(state: OrchestratorState) -> frozenset[int]:
    """The steps that stand, and those that a re-plan gave up."""
    standing = (record["step_index"] for record in state["results"] if record["status"] in _STANDING)
    return frozenset([*standing, *state["replaced"]])


def _alone(state: OrchestratorState, step: int) -> OrchestratorState:
    declared, retries = state["declared"], state["retries"]
    return {
        **blank_state(state["task"], state["max_retries"]),
        "status": "executing",
        "plan": [state["plan"][step]],
        "declared": Declared(
            run_id=declared["run_id"],
            needs=None,
            contracts=None if declared["contracts"] is None else [declared["contracts"][step]],
            modes=None if declared["modes"] is None else [declared["modes"][step]],
        ),
        "current_step_index": step,
        "context": _context(state["results"], _needed(declared["needs"] or [], step)),
        "retries": Retries(transport=0, semantic=0, replans=retries["replans"]),
        "usage": state["usage"],
        "underway": {**NOTHING_UNDERWAY, "branch": step},
    }


def _needed(needs: Sequence[Sequence[int]], step: int) -> frozenset[int]:
    """What a step needs, and what that needs in turn."""
    found: set[int] = set()
    waiting = [*needs[step]]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(needs[one])
    return frozenset(found)


def _context(records: Sequence[StepRecord], steps: frozenset[int] | None = None) -> str:
    """The results that stand, in the order of the plan."""
    standing = (record for record in records if record["status"] in _STANDING)
    return extended(
        "", [context_entry(record) for record in standing if steps is None or record["step_index"] in steps]
    )


def branch_end(state: OrchestratorState) -> BranchEnd:
    """What a step that ran by itself came to."""
    return BranchEnd(
        step_index=state["underway"]["branch"] or 0,
        results=state["results"],
        usage=state["usage"],
        retries=state["retries"],
        judge_calls=state["judge_calls"],
        warnings=state["warnings"],
        status=state["status"],
        failure=state["failure"],
        replan=state["underway"]["replan"],
        attempts=state["attempts"],
    )


def joined(state: OrchestratorState, ends: Sequence[BranchEnd]) -> StateUpdate:
    """The update after steps that ran side by side.

    All of them are kept, whatever one of them came to; the first failure by the plan's order ends the run.
    """
    ordered = sorted(ends, key=lambda end: end["step_index"])
    records = [record for end in ordered for record in end["results"]]
    merged: OrchestratorState = {**state, "results": settle_records(state["results"], records)}
    return {
        "results": records,
        "context": _context(records),
        "warnings": [warning for end in ordered for warning in end["warnings"]],
        "usage": _usage(state["usage"], ordered),
        "retries": _retries(state["retries"], ordered),
        "judge_calls": _judge_calls(state["judge_calls"], ordered),
        **_outcome(merged, ordered),
    }


def _outcome(state: OrchestratorState, ends: Sequence[BranchEnd]) -> StateUpdate:
    failure = next((end for end in ends if _failed_itself(end)), None)
    if failure is not None:
        return {
            "status": "failed",
            "failure": failure["failure"],
            "current_step_index": failure["step_index"],
            "attempts": failure["attempts"],
        }
    again = next((end for end in ends if end["replan"] is not None), None)
    if again is not None:
        return {
            "underway": {**state["underway"], "replan": again["replan"]},
            "current_step_index": again["step_index"],
            "attempts": again["attempts"],
        }
    standing = done(state)
    at = next((step for step in range(len(state["plan"])) if step not in standing), len(state["plan"]))
    return {
        "status": "success" if at == len(state["plan"]) else "executing",
        "current_step_index": at,
        "attempts": 0,
    }


def _failed_itself(end: BranchEnd) -> bool:
    """Not since a step beside it was halted or denied."""
    return end["failure"] is not None and end["failure"]["step_index"] == end["step_index"]


def _usage(before: Usage, ends: Iterable[BranchEnd]) -> Usage:
    total = before
    for end in ends:
        total = add_usage(total, end["usage"])
    return total


def _retries(before: Retries, ends: Sequence[BranchEnd]) -> Retries:
    return Retries(
        transport=before["transport"] + sum(end["retries"]["transport"] for end in ends),
        semantic=before["semantic"] + sum(end["retries"]["semantic"] for end in ends),
        replans=before["replans"],
    )


def _judge_calls(before: JudgeCalls, ends: Sequence[BranchEnd]) -> JudgeCalls:
    return JudgeCalls(
        made=before["made"] + sum(end["judge_calls"]["made"] for end in ends),
        saved=before["saved"] + sum(end["judge_calls"]["saved"] for end in ends),
    )
