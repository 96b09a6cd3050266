"""The monitor's answer as a verdict, and a failure as an update: pure functions."""

from __future__ import annotations

from collections.abc import Mapping

from agents.contracts import UNREADABLE_PREFIX
from orchestrator.state.graph_state import Failure, FailureKind, StateUpdate, VerdictRecord
from orchestrator.state.plain_values import plain_text, read_text


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
