"""Asks the monitor for its verdict, reads it, and builds the update of a failed run."""

from __future__ import annotations

from collections.abc import Mapping

from agents.contracts import UNREADABLE_PREFIX
from agents.parsing.denials import find_denial
from evaluation import JudgeRequest
from orchestrator.judging.plain_contracts import is_plain
from orchestrator.state.graph_state import Failure, FailureKind, StateUpdate
from orchestrator.state.plain_values import plain_text, read_text
from orchestrator.state.records import VerdictRecord


def read_verdict(answer: object) -> VerdictRecord | None:
    """Read a verdict from an answer of the monitor; None if it contains none or contradicts itself."""
    if not isinstance(answer, Mapping):
        return None
    # Checked by identity below, because 1 equals True and is no verdict.
    success, feedback = answer.get("success"), read_text(answer.get("feedback"))
    if feedback is None or (success is not True and success is not False):
        return None
    if success and find_denial(answer) is not None:
        return None
    if not success and feedback.startswith(UNREADABLE_PREFIX):
        return None
    return VerdictRecord(success=success is True, feedback=feedback)


def objective_of(step: str, request: JudgeRequest) -> str:
    """Return the text of the step with the further criteria of the contract."""
    criteria = [each for each in request.rubric.criteria if not is_plain(each.name, each.description)]
    lines = [f"- {each.name}: {each.description}".removesuffix(": ") for each in criteria]
    parts = (
        step,
        request.rubric.instructions,
        "\n".join(["The result also has to meet each of these criteria:", *lines]) if lines else "",
        f"A good answer would be:\n{request.reference}" if request.reference is not None else "",
    )
    return "\n\n".join(part for part in parts if part)


def score_verdict(verdict: VerdictRecord, request: JudgeRequest) -> dict[str, object]:
    """Convert success or failure to the highest or lowest score of the scale."""
    scale, names = request.rubric.scale, [each.name for each in request.rubric.criteria]
    score = scale.max if verdict["success"] else scale.min
    rationale = verdict["feedback"]
    if not any(character.isalnum() for character in rationale):
        rationale = f"{'approved' if verdict['success'] else 'refused'} without a reason"
    # The objective names each criterion, so an approval holds for all of them.
    criteria = {"criteria": dict.fromkeys(names, score)} if verdict["success"] else {}
    return {"score": score, "rationale": rationale, **criteria}


def no_verdict(reason: str) -> VerdictRecord:
    """Build the verdict of a monitor that gave none: never a success."""
    return VerdictRecord(success=False, feedback=f"The monitor gave no verdict: {reason}")


def build_failure(
    kind: FailureKind, message: str, step_index: int | None = None, error: BaseException | None = None
) -> StateUpdate:
    """Build the update that ends a run as failed."""
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
