"""Parallel steps: which can run now, the state of each branch, and the update that joins them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from orchestrator.planning.plan import find_ready_steps
from orchestrator.state.current_step import (
    build_outline,
    current_index,
    current_records,
    format_entry,
    list_accepted,
    select_derived,
    select_earlier,
)
from orchestrator.state.graph_state import (
    NOTHING_UNDERWAY,
    BranchEnd,
    JudgeCalls,
    OrchestratorState,
    Retries,
    StateUpdate,
    blank_state,
)
from orchestrator.state.records import StepRecord
from orchestrator.state.reducers import append_entries, merge_records
from orchestrator.state.usage import add_usage


def build_branches(
    state: OrchestratorState, *, last_waits: bool = False, one_by_one: bool = False
) -> list[OrchestratorState]:
    """Returns the states of the steps that can run now. The context of each holds the results it needs.

    Args:
        state: The state of the run.
        last_waits: Whether the last step runs after all others.
        one_by_one: Whether only the first of them runs now, and knows the calls of all steps before.
    """
    needs, done = state["declared"]["needs"] or [], list_done_steps(state)
    ready, last = find_ready_steps(needs, done), len(needs) - 1
    is_early = last_waits and len(done - {last}) < last
    chosen = [step for step in ready if step != last or not is_early]
    return [
        _build_branch(state, step, knows_calls=one_by_one or step == last)
        for step in (chosen[:1] if one_by_one else chosen)
    ]


def list_done_steps(state: OrchestratorState) -> frozenset[int]:
    """Returns the steps that were accepted, and those that a re-plan gave up."""
    accepted = (record["step_index"] for record in list_accepted(state["results"]))
    return frozenset([*accepted, *state["replaced"]])


def _build_branch(state: OrchestratorState, step: int, *, knows_calls: bool) -> OrchestratorState:
    declared, retries = state["declared"], state["retries"]
    # Only a step that is judged again has executions.
    own = [record for record in state["results"] if record["step_index"] == step]
    return {
        **blank_state(state["task"], state["max_retries"]),
        "status": "executing",
        "plan": [state["plan"][step]],
        "declared": {
            **select_derived(declared, [step]),
            "contracts": None if declared["contracts"] is None else [declared["contracts"][step]],
            "modes": None if declared["modes"] is None else [declared["modes"][step]],
            "outline": build_outline(state, step),
            "count": len(state["plan"]),
        },
        "current_step_index": step,
        "results": merge_records(select_earlier(state["results"]) if knows_calls else [], own),
        "attempts": max(0, len(own) - 1),
        "context": _build_context(state["results"], _collect_needs(declared["needs"] or [], step)),
        # Counters start at zero because the join adds them; "replans" tells apart the records of a re-plan.
        "retries": Retries(transport=0, semantic=0, replans=retries["replans"]),
        "usage": state["usage"],
        "underway": {**NOTHING_UNDERWAY, "branch": step},
    }


def _collect_needs(needs: Sequence[Sequence[int]], step: int) -> frozenset[int]:
    """Returns the steps that a step needs, and the steps that those need in turn."""
    collected: set[int] = set()
    waiting = [*needs[step]]
    while waiting:
        needed = waiting.pop()
        if needed not in collected:
            collected.add(needed)
            waiting.extend(needs[needed])
    return frozenset(collected)


def _build_context(records: Sequence[StepRecord], steps: frozenset[int] | None = None) -> str:
    """Returns the accepted results (of ``steps``, if given) in the order of the plan."""
    accepted = list_accepted(records)
    return append_entries(
        "", [format_entry(record) for record in accepted if steps is None or record["step_index"] in steps]
    )


def read_branch_end(state: OrchestratorState) -> BranchEnd:
    """Returns the parts of a branch's last state that the join needs."""
    return BranchEnd(
        step_index=current_index(state),
        results=current_records(state),
        usage=state["usage"],
        retries=state["retries"],
        judge_calls=state["judge_calls"],
        warnings=state["warnings"],
        status=state["status"],
        failure=state["failure"],
        replan=state["underway"]["replan"],
        attempts=state["attempts"],
    )


def join_branches(state: OrchestratorState, ends: Sequence[BranchEnd]) -> StateUpdate:
    """Returns the update after parallel steps.

    The results of all of them are kept, also if one failed. The first failure in the order of the plan ends
    the run.
    """
    # Branches end in any order; sorted, two equal runs have equal results.
    ordered = sorted(ends, key=lambda end: end["step_index"])
    records = [record for end in ordered for record in end["results"]]
    retries, calls = state["retries"], state["judge_calls"]
    merged: OrchestratorState = {**state, "results": merge_records(state["results"], records)}
    return {
        "results": records,
        "context": _build_context(records),
        "warnings": [warning for end in ordered for warning in end["warnings"]],
        "usage": reduce(add_usage, (end["usage"] for end in ordered), state["usage"]),
        "retries": {
            **retries,
            "transport": retries["transport"] + sum(end["retries"]["transport"] for end in ends),
            "semantic": retries["semantic"] + sum(end["retries"]["semantic"] for end in ends),
        },
        "judge_calls": JudgeCalls(
            made=calls["made"] + sum(end["judge_calls"]["made"] for end in ends),
            saved=calls["saved"] + sum(end["judge_calls"]["saved"] for end in ends),
        ),
        **_decide_next(merged, ordered),
    }


def _decide_next(state: OrchestratorState, ends: Sequence[BranchEnd]) -> StateUpdate:
    # A branch that stopped because a sibling was halted or denied carries the sibling's failure.
    own = (end for end in ends if end["failure"] and end["failure"]["step_index"] == end["step_index"])
    failure = next(own, None)
    if failure is not None:
        return {
            "status": "failed",
            "failure": failure["failure"],
            "current_step_index": failure["step_index"],
            "attempts": failure["attempts"],
        }
    replan = next((end for end in ends if end["replan"] is not None), None)
    if replan is not None:
        return {
            "underway": {**state["underway"], "replan": replan["replan"]},
            "current_step_index": replan["step_index"],
            "attempts": replan["attempts"],
        }
    done, count = list_done_steps(state), len(state["plan"])
    index = next((step for step in range(count) if step not in done), count)
    return {
        "status": "success" if index == count else "executing",
        "current_step_index": index,
        "attempts": 0,
    }
