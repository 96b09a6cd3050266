"""Telling whoever watches what a node settled."""

from __future__ import annotations

from langgraph.types import StreamWriter

from orchestrator.judging.verdict import no_verdict
from orchestrator.runtime.events import StepJudged, StepRetried
from orchestrator.state.current_step import correction_of
from orchestrator.state.graph_state import StateUpdate, StepRecord


def announce(write: StreamWriter, thread_id: str, update: StateUpdate) -> None:
    """Emit what an update says: the verdict on each settled execution, and that one is tried again."""
    settled = [record for record in update.get("results", []) if record["status"] != "pending_validation"]
    for record in settled:
        verdict = record["verdict"] or no_verdict("none was recorded")
        write(StepJudged(thread_id=thread_id, record=record, verdict=verdict))
    if settled and update.get("status") is None and "underway" not in update:
        write(_retried(thread_id, settled[-1]))


def _retried(thread_id: str, record: StepRecord) -> StepRetried:
    feedback = record["verdict"]["feedback"] if record["verdict"] else ""
    return StepRetried(
        thread_id=thread_id,
        step_index=record["step_index"],
        attempt=record["attempt"] + 1,
        feedback=correction_of(record) or feedback,
    )
