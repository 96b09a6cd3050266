"""The instruction and the context of a step that is executed again."""

from __future__ import annotations

from agents.prompts import fence_text, find_boundary
from orchestrator.state.current_step import (
    current_records,
    current_step,
    last_refused_record,
    list_corrections,
    read_correction,
)
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import CommitKind, StepRecord


def build_instruction(state: OrchestratorState) -> str:
    """Returns the text of the current step with all corrections by supervisors and people."""
    _, step = current_step(state)
    items = [f"- {text}" for text in list_corrections(current_records(state))]
    return "\n".join([step, "", "Keep to these corrections:", *items]) if items else step


def add_refusal(context: str, refused: StepRecord) -> str:
    """Returns the context with the refused output and the reason."""
    reason = read_reason(refused)
    # A boundary that occurs in none of the texts, so that an output cannot pass for instructions.
    mark = find_boundary(context, refused["result"], reason)
    parts = [
        context,
        fence_text("your last output", refused["result"], mark),
        fence_text("why it was refused; correct that", reason, mark),
    ]
    return "\n\n".join(part for part in parts if part)


def read_reason(refused: StepRecord) -> str:
    """Returns what an agent is told of a refusal: the correction that came with it, else the feedback."""
    verdict = refused["verdict"]
    return read_correction(refused) or refused.get("feedback") or (verdict["feedback"] if verdict else "")


def find_commit_kind(state: OrchestratorState) -> CommitKind:
    """Returns which execution the next commitment is for."""
    refused = last_refused_record(state)
    if refused is None:
        return "first"
    return "reorient" if read_correction(refused) else "retry"


def shows_feedback(refused: StepRecord) -> bool:
    """Returns whether the next execution is told of this one. A correction always is."""
    decision = refused.get("decision")
    return read_correction(refused) is not None or decision is None or decision["use"] == "feedback"
