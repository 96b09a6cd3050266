"""Checks that the claims of a stored run agree with its own records: pure functions."""

from __future__ import annotations

from typing import Final

from orchestrator.state.current_step import list_accepted, read_evidence
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import StepRecord

DEADLINE: Final = "deadline"
"""``answered_by`` of an answer that a deadline gave."""
_ACCEPTING: Final = ("passed", "warning")


def check_claims(state: OrchestratorState) -> OrchestratorState:
    """Checks that the success of a run and its basis rest on its records.

    Raises:
        ValueError: The run or a record claims more than its records have.
    """
    if state["status"] == "success" and state["failure"] is not None:
        raise ValueError("status: success, with a failure")
    accepted = list_accepted([*state["results"], *state["synthesis"]])
    # A parallel branch sees the records of the steps that it needs without their reports.
    branch = state["underway"]["branch"]
    own = [record for record in accepted if branch is None or record["step_index"] == branch]
    if wrong := next(filter(_claims_too_much, own), None):
        raise ValueError(
            f"step {wrong['step_index'] + 1}: {wrong.get('basis')}, which its record does not say"
        )
    # A run of an earlier version has no basis, and a summary is read without the records.
    last = accepted[-1].get("basis", "unverified") if accepted else state["basis"]
    if state["basis"] not in {None, last}:
        raise ValueError(f"basis: {state['basis']}, and its output is {last}")
    known = read_evidence(accepted[-1]) if accepted else state.get("evidence")
    if state.get("evidence") not in (None, known):
        raise ValueError("evidence: the run claims another one than its output has")
    return state


def _claims_too_much(record: StepRecord) -> bool:
    basis, report, supervision = record.get("basis"), record["report"], record["supervision"]
    if basis in {None, "unverified"}:
        return False
    if basis == "approved":
        answer = None if supervision is None else supervision["answer"]
        return answer is None or answer["answer"] != "approve" or answer["answered_by"] == DEADLINE
    if report is None or report.get("status") not in _ACCEPTING:
        return True
    return basis == "checked" and any(outcome is not True for outcome in _list_outcomes(report.get("checks")))


def _list_outcomes(checks: object) -> list[object]:
    # The form of a stored report is not validated: reports are large.
    if not isinstance(checks, list):
        return [None]
    return [check.get("passed") if isinstance(check, dict) else None for check in checks]
