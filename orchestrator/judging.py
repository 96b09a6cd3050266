"""From the monitor's answer to the next state: pure functions."""

from __future__ import annotations

from collections.abc import Mapping

from agents.contracts import UNREADABLE_PREFIX
from orchestrator.foreign_values import plain_text, read_text
from orchestrator.retry import Outcome, RetryPolicy
from orchestrator.state import (
    Failure,
    FailureKind,
    OrchestratorState,
    RecordStatus,
    StateUpdate,
    StepRecord,
    VerdictRecord,
    with_result,
)

_STATUS: Mapping[Outcome, RecordStatus] = {
    "validated": "validated",
    "refused": "failed",
    "needs_review": "needs_review",
}


def read_verdict(answer: object) -> VerdictRecord | None:
    """A monitor's answer as a verdict; None where it holds none, however it says so."""
    success, feedback = _fields(answer)
    if feedback is None or (success is not True and success is not False):
        return None
    if not success and feedback.startswith(UNREADABLE_PREFIX):
        return None
    return VerdictRecord(success=success is True, feedback=feedback)


def _fields(answer: object) -> tuple[object, str | None]:
    try:
        if isinstance(answer, Mapping):
            return answer.get("success"), read_text(answer.get("feedback"))
    except Exception:  # noqa: BLE001 - a foreign mapping's own code: what cannot be read is no verdict
        return None, None
    return None, None


def no_verdict(reason: str) -> VerdictRecord:
    """What stands in the record where the monitor gave no verdict: never a success."""
    return VerdictRecord(success=False, feedback=f"The monitor gave no verdict: {reason}")


def outcome_of(verdict: VerdictRecord | None) -> Outcome:
    """How an execution was judged."""
    if verdict is None:
        return "needs_review"
    return "validated" if verdict["success"] else "refused"


def settle(
    state: OrchestratorState, record: StepRecord, outcome: Outcome, policy: RetryPolicy
) -> StateUpdate:
    """The update that follows from a judged execution.

    Args:
        state: Before it.
        record: The execution, with its verdict.
        outcome: How it was judged.
        policy: Decides on what was not validated.
    """
    settled: StepRecord = {**record, "status": _STATUS[outcome]}
    if outcome == "validated":
        return {"results": [settled], **_advanced(state, record)}
    attempts = state["attempts"] + 1
    decision = policy.decide(outcome, attempts, state["max_retries"])
    update: StateUpdate = {"results": [settled], "attempts": attempts}
    if decision.again:
        return update
    unjudged = outcome == "needs_review" and policy.needs_review == "fail"
    kind: FailureKind = "needs_review" if unjudged else "attempts_exhausted"
    feedback = record["verdict"]["feedback"] if record["verdict"] else ""
    return {**update, **failed(kind, f"{decision.reason}: {feedback}", record["step_index"])}


def failed(
    kind: FailureKind, message: str, step_index: int | None = None, error: BaseException | None = None
) -> StateUpdate:
    """The update that ends a run as failed."""
    where = "" if step_index is None else f"step {step_index + 1}: "
    return {
        "status": "failed",
        "failure": Failure(
            kind=kind,
            message=plain_text(f"{where}{message}"),
            step_index=step_index,
            error_type=plain_text(type(error).__name__) if error is not None else None,
        ),
    }


def _advanced(state: OrchestratorState, record: StepRecord) -> StateUpdate:
    index = record["step_index"] + 1
    return {
        "context": with_result(state["context"], record["step_index"], record["step"], record["result"]),
        "current_step_index": index,
        "attempts": 0,
        "status": "success" if index == len(state["plan"]) else "executing",
    }
