"""Runs that ended because an execution could not be judged: `resume` judges it again, executing nothing."""

from __future__ import annotations

from typing import Final, cast

from orchestrator.state.graph_state import (
    FailureKind,
    OrchestratorState,
    StateUpdate,
    apply_update,
    current_records,
    records_field,
)
from orchestrator.state.records import Attempt

_KINDS: Final[frozenset[FailureKind]] = frozenset(
    {"monitor_error", "supervisor_error", "contract_error", "evaluation_error", "needs_review", "timeout"}
)
_OF_VERDICT: Final = frozenset({"feedback", "basis_reason", "evidence", "problems", "decision"})
"""The optional fields of a record that its judging adds."""
_WAY_ON: Final = "; `resume` judges it again and executes nothing"


def find_rejudging(state: OrchestratorState) -> StateUpdate | None:
    """Returns the update by which a run goes on after the executor, so that it is judged again.

    None if it has not ended, or ended for another reason.
    """
    if not _lacks_verdict(state):
        return None
    records = current_records(state)
    return {
        "status": "executing",
        "failure": None,
        records_field(state): [_remove_verdict(records[-1])],
        "attempts": len(records) - 1,
    }


def name_way_on(state: OrchestratorState, update: StateUpdate) -> StateUpdate:
    """Returns the update that ends a run; its failure says so if the run can be judged again."""
    failure = update.get("failure")
    if failure is None or not _lacks_verdict(apply_update(state, update)):
        return update
    return {**update, "failure": {**failure, "message": f"{failure['message']}{_WAY_ON}"}}


def _lacks_verdict(state: OrchestratorState) -> bool:
    """Returns whether a run ended at an execution that only lacks a verdict."""
    failure, records = state["failure"], current_records(state)[-1:]
    if failure is None or failure["kind"] not in _KINDS:
        return False
    # An error in a record is the executor's; that of a judge is in the failure alone.
    return any(record["status"] == "needs_review" and record["error"] is None for record in records)


def _remove_verdict(record: Attempt) -> Attempt:
    kept = {name: value for name, value in record.items() if name not in _OF_VERDICT}
    supervision = record["supervision"]
    if supervision is not None:
        supervision = {**supervision, "triggers": [], "verdict": None}
    reset = {"status": "pending_validation", "verdict": None, "report": None, "basis": "unverified"}
    return cast("Attempt", {**kept, **reset, "warnings": [], "supervision": supervision})
