"""Parallel steps: which can run now, the state of each branch, and the update that joins them.

Also the state updates of a plan and of a re-plan, and the request for a re-plan; and runs that ended because
an execution could not be judged: `resume` judges it again, executing nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final, TypeAlias, cast

from agents.prompts import fence_text, find_boundary
from orchestrator.planning.plan import PlannedSteps, build_outline, find_ready_steps
from orchestrator.state.graph_state import (
    EXECUTOR,
    JOIN,
    MONITOR,
    NOTHING_UNDERWAY,
    Declared,
    DerivedContracts,
    FailureKind,
    JudgeCalls,
    OrchestratorState,
    Retries,
    StateUpdate,
    add_usage,
    append_entries,
    blank_state,
    current_index,
    current_records,
    format_entry,
    list_accepted,
    merge_records,
)
from orchestrator.state.records import Attempt, SupervisionMode

Modes: TypeAlias = list[SupervisionMode | None] | None
"""The supervision mode of each step, None for the orchestrator's; None if no step has one of its own."""


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
        **_build_nested(state, step, own),
        "plan": [state["plan"][step]],
        "declared": {
            **_select_declared(declared, [step]),
            "modes": None if declared["modes"] is None else [declared["modes"][step]],
            "outline": build_outline(state, step),
            "count": len(state["plan"]),
        },
        "results": merge_records(_without_reports(state["results"]) if knows_calls else [], [own]),
        "context": _build_context(state["results"], _collect_needs(declared["needs"] or [], step)),
        # Counters start at zero because the join adds them; "replans" tells apart the records of a re-plan.
        "retries": Retries(transport=0, semantic=0, replans=retries["replans"]),
    }


def build_synthesis(state: OrchestratorState) -> OrchestratorState:
    """Returns the state of the synthesis: a plan whose only step is the task, after all steps of the run.

    If the answer is to be judged again, the state has the attempts at it.
    """
    return {
        **_build_nested(state, len(state["plan"]), state["synthesis"]),
        "plan": [state["task"]],
        "declared": _select_declared(state["declared"], []),
        "context": state["context"],
        "results": [*_without_reports(state["results"]), *state["synthesis"]],
        "retries": state["retries"],
        "judge_calls": state["judge_calls"],
    }


def _build_nested(state: OrchestratorState, step: int, own: Sequence[Attempt]) -> OrchestratorState:
    """Returns the state of a nested graph that runs one step, which may have executions of its own."""
    return {
        **blank_state(state["task"], state["max_retries"]),
        "status": "executing",
        "current_step_index": step,
        "attempts": max(0, len(own) - 1),
        "usage": state["usage"],
        "underway": {**NOTHING_UNDERWAY, "branch": step},
    }


def _select_declared(declared: Declared, steps: Sequence[int]) -> Declared:
    """Returns the declarations of a state whose plan has only these steps, with their contracts alone."""
    own = Declared(run_id=declared["run_id"], needs=None, modes=None)
    derived = declared.get("derived")
    if derived is None:
        return own
    contracts = [derived["steps"][step] for step in steps]
    return {**own, "derived": DerivedContracts(output=derived["output"], steps=contracts)}


def _without_reports(records: Sequence[Attempt]) -> list[Attempt]:
    """Returns executions of other steps, whose calls alone are needed."""
    return [{**record, "report": None} for record in records]


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


def _build_context(records: Sequence[Attempt], steps: frozenset[int] | None = None) -> str:
    """Returns the accepted results (of ``steps``, if given) in the order of the plan."""
    accepted = list_accepted(records)
    return append_entries(
        "", [format_entry(record) for record in accepted if steps is None or record["step_index"] in steps]
    )


def join_branches(state: OrchestratorState) -> StateUpdate:
    """Returns the update after parallel steps, whose last states are in ``branches``.

    The results of all of them are kept, also if one failed. The first failure in the order of the plan ends
    the run.
    """
    # Branches end in any order; sorted, two equal runs have equal results.
    ends = sorted(cast("list[OrchestratorState]", state["branches"]), key=current_index)
    records = [record for end in ends for record in current_records(end)]
    retries, calls = state["retries"], state["judge_calls"]
    merged: OrchestratorState = {**state, "results": merge_records(state["results"], [records])}
    return {
        "results": records,
        "context": _build_context(records),
        "warnings": [warning for end in ends for warning in end["warnings"]],
        "usage": reduce(add_usage, (end["usage"] for end in ends), state["usage"]),
        "retries": {
            **retries,
            "transport": retries["transport"] + sum(end["retries"]["transport"] for end in ends),
            "semantic": retries["semantic"] + sum(end["retries"]["semantic"] for end in ends),
        },
        "judge_calls": JudgeCalls(
            made=calls["made"] + sum(end["judge_calls"]["made"] for end in ends),
            saved=calls["saved"] + sum(end["judge_calls"]["saved"] for end in ends),
        ),
        **_decide_next(merged, ends),
    }


def _decide_next(state: OrchestratorState, ends: Sequence[OrchestratorState]) -> StateUpdate:
    # A branch that stopped because a sibling was halted or denied carries the sibling's failure.
    own = (end for end in ends if end["failure"] and end["failure"]["step_index"] == current_index(end))
    replans = (end for end in ends if end["underway"]["replan"] is not None)
    if (end := next(own, None) or next(replans, None)) is not None:
        place: StateUpdate = {"current_step_index": current_index(end), "attempts": end["attempts"]}
        if end["failure"] is not None:
            return {**place, "status": "failed", "failure": end["failure"]}
        return {**place, "underway": {**state["underway"], "replan": end["underway"]["replan"]}}
    done, count = list_done_steps(state), len(state["plan"])
    index = next((step for step in range(count) if step not in done), count)
    return {
        "status": "success" if index == count else "executing",
        "current_step_index": index,
        "attempts": 0,
    }


def build_replan_update(state: OrchestratorState, steps: PlannedSteps, modes: Modes) -> StateUpdate:
    """Returns the fields after a re-plan: the new steps come after the old ones, the open ones are given up.

    Args:
        state: The state before the re-plan, with the contracts that were derived for the new steps.
        steps: The new steps. Their needs are indices among themselves; each also needs all accepted steps.
        modes: The mode of each new step, None for the orchestrator's; None if no step has one of its own.
    """
    count, declared, retries = len(state["plan"]), state["declared"], state["retries"]
    done = list_done_steps(state)
    return {
        "retries": {**retries, "replans": retries["replans"] + 1},
        # The old steps keep their indices, by which their records are stored.
        "plan": [*state["plan"], *steps.texts],
        "declared": {
            **declared,
            "needs": _merge_needs(declared["needs"], steps, count, sorted(done - {*state["replaced"]})),
            "modes": None
            if declared["modes"] is None and modes is None
            else [*(declared["modes"] or [None] * count), *(modes or [None] * len(steps.texts))],
        },
        "replaced": sorted([*state["replaced"], *(step for step in range(count) if step not in done)]),
        "current_step_index": count,
        "attempts": 0,
        "underway": NOTHING_UNDERWAY,
        "status": "executing",
    }


def build_replan_request(state: OrchestratorState) -> str:
    """Returns the planner's input for a re-plan: the task, the accepted results and the failure.

    A step that the retry policy splits is planned as several, before the steps that come after it.
    """
    task, failure = state["task"], state["underway"]["replan"] or ""
    # Results and failure may quote foreign text, so they are fenced as data.
    mark = find_boundary(task, state["context"], failure)
    parts = [
        task,
        fence_text("done already", state["context"], mark) if state["context"] else "",
        fence_text("tried, and failed", failure, mark),
        "Plan only what is left to do, in another way than the one that failed.",
    ]
    return "\n\n".join(part for part in parts if part)


def _merge_needs(
    before: list[list[int]] | None, steps: PlannedSteps, count: int, accepted: Sequence[int]
) -> list[list[int]] | None:
    """Returns the needs of all steps: a new step needs every accepted step and its own needs."""
    if before is None and steps.needs is None:
        return None
    # A sequential part of the plan says the same as needs that name the step before.
    sequence = [[index - 1] if index else [] for index in range(len(steps.texts))]
    new = [[*accepted, *(step + count for step in needed)] for needed in steps.needs or sequence]
    return [*([[]] * count if before is None else before), *new]


_KINDS: Final[frozenset[FailureKind]] = frozenset(
    {"monitor_error", "supervisor_error", "contract_error", "evaluation_error", "needs_review", "timeout"}
)
_OF_VERDICT: Final = frozenset({"feedback", "basis_reason", "evidence", "problems", "decision", "probes"})
"""The optional fields of a record that its judging adds."""
_WAY_ON: Final = "; `resume` judges it again and executes nothing"


@dataclass(frozen=True, slots=True)
class Rejudging:
    """How an ended run is judged again.

    Attributes:
        update: The update of its last state.
        after: The node after which the run continues.
    """

    update: StateUpdate
    after: str


def find_rejudging(state: OrchestratorState) -> Rejudging | None:
    """Returns how a run is judged again; None if it has not ended, or ended for another reason."""
    records = _list_unjudged(state)
    if not records:
        return None
    again = [_remove_verdict(record) for record in records]
    update: StateUpdate = {"status": "executing", "failure": None}
    if state["synthesis"]:
        return Rejudging({**update, "synthesis": again}, MONITOR)
    number = sum(record["step_index"] == records[0]["step_index"] for record in state["results"])
    after = EXECUTOR if state["declared"]["needs"] is None else JOIN
    return Rejudging({**update, "results": again, "attempts": number - 1}, after)


def name_way_on(state: OrchestratorState, update: StateUpdate) -> StateUpdate:
    """Returns the update that ends a run; its failure says so if the run can be judged again."""
    failure = update.get("failure")
    if failure is None or not _list_unjudged(apply_update(state, update)):
        return update
    return {**update, "failure": {**failure, "message": f"{failure['message']}{_WAY_ON}"}}


def _list_unjudged(state: OrchestratorState) -> Sequence[Attempt]:
    """Returns the executions at which the run ended if all of them only lack a verdict; else nothing."""
    failure = state["failure"]
    if failure is None or failure["kind"] not in _KINDS:
        return []
    done = list_done_steps(state)
    latest = {record["step_index"]: record for record in state["results"]}
    steps = [record for index, record in latest.items() if index not in done]
    records = state["synthesis"][-1:] or steps
    # An error in a record is the executor's; that of a judge is in the failure alone.
    can_judge = all(record["status"] == "needs_review" and record["error"] is None for record in records)
    return records if can_judge else []


def _remove_verdict(record: Attempt) -> Attempt:
    kept = {name: value for name, value in record.items() if name not in _OF_VERDICT}
    supervision = record["supervision"]
    if supervision is not None:
        supervision = {**supervision, "triggers": [], "verdict": None}
    reset = {"status": "pending_validation", "verdict": None, "report": None, "basis": "unverified"}
    return cast("Attempt", {**kept, **reset, "warnings": [], "supervision": supervision})


def apply_update(state: OrchestratorState, update: StateUpdate) -> OrchestratorState:
    """Returns the state after an update with further executions."""
    results = merge_records(state["results"], [update.get("results", [])])
    synthesis = merge_records(state["synthesis"], [update.get("synthesis", [])])
    return cast("OrchestratorState", {**state, **update, "results": results, "synthesis": synthesis})
