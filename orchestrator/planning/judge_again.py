"""Runs that ended because an execution could not be judged: `resume` judges it again, executing nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from orchestrator.planning.parallel import list_done_steps
from orchestrator.state.graph_state import (
    EXECUTOR,
    JOIN,
    MONITOR,
    FailureKind,
    OrchestratorState,
    StateUpdate,
)
from orchestrator.state.records import StepRecord
from orchestrator.state.reducers import merge_records

_KINDS: Final[frozenset[FailureKind]] = frozenset(
    {"monitor_error", "supervisor_error", "contract_error", "evaluation_error", "needs_review", "timeout"}
)
_OF_VERDICT: Final = frozenset(
    {"feedback", "basis_reason", "evidence", "verification", "problems", "decision", "probes"}
)
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


def _list_unjudged(state: OrchestratorState) -> Sequence[StepRecord]:
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


def _remove_verdict(record: StepRecord) -> StepRecord:
    kept = {name: value for name, value in record.items() if name not in _OF_VERDICT}
    supervision = record["supervision"]
    if supervision is not None:
        supervision = {**supervision, "triggers": [], "verdict": None}
    reset = {"status": "pending_validation", "verdict": None, "report": None, "basis": "unverified"}
    return cast("StepRecord", {**kept, **reset, "warnings": [], "supervision": supervision})


def apply_update(state: OrchestratorState, update: StateUpdate) -> OrchestratorState:
    """Returns the state after an update with further executions."""
    results = merge_records(state["results"], update.get("results", []))
    synthesis = merge_records(state["synthesis"], update.get("synthesis", []))
    return cast("OrchestratorState", {**state, **update, "results": results, "synthesis": synthesis})
