"""The instruction and the context of a step that is executed again."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.judging.feedback import report_score
from orchestrator.retry.attempts import best_attempt, read_attempts
from orchestrator.state.current_step import (
    current_records,
    current_step,
    last_refused_record,
    list_corrections,
    read_correction,
)
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import StepRecord
from orchestrator.state.supervision_records import CommitKind


def build_instruction(state: OrchestratorState) -> str:
    """Returns the text of the current step with all corrections by supervisors and people."""
    _, step = current_step(state)
    items = [f"- {text}" for text in list_corrections(current_records(state))]
    return "\n".join([step, "", "Keep to these corrections:", *items]) if items else step


def find_best_record(executions: Sequence[StepRecord]) -> StepRecord | None:
    """Returns the record of the best execution of a step so far; None if none has a score."""
    best = best_attempt(read_attempts(executions))
    return None if best is None else next(r for r in executions if r["attempt"] == best.number)


def find_best_answer(state: OrchestratorState) -> StepRecord | None:
    """Returns the best attempt at the answer of a run: by its report, and of equal ones the earliest.

    An execution of the whole task is such an attempt; if there is none, so are those of the last step that
    was begun. Returns None if no attempt has a text.
    """
    written = [record for record in (*state["results"], *state["synthesis"]) if record["result"]]
    last = written[-1]["step_index"] if written else None
    attempts = [record for record in written if record["step"] == state["task"]]
    # The earliest, because the refusals of a judge that was not measured say little.
    return max(
        attempts or [record for record in written if record["step_index"] == last],
        key=_score_record,
        default=None,
    )


def _score_record(record: StepRecord) -> float:
    score = None if record["report"] is None else report_score(record["report"])
    return -1.0 if score is None else score


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
