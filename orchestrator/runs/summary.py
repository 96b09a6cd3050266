"""A stored run, and its summary from its latest checkpoint alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, get_args

from langgraph.checkpoint.base import CheckpointTuple

from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import Question
from orchestrator.state.stored_form import STARTED, parse_time
from orchestrator.state.usage import Usage

StoredStatus = Literal["planning", "executing", "interrupted", "waiting", "success", "failed", "unreadable"]

STATUSES: Final[tuple[StoredStatus, ...]] = get_args(StoredStatus)
ENDED: Final[frozenset[StoredStatus]] = frozenset({"success", "failed"})


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line about a stored run.

    Attributes:
        thread_id: The thread.
        status: "waiting" if a question waits for a person; "planning" or "executing" if the run is under way;
            "interrupted" if no process runs it any more, so that ``resume`` continues it; "unreadable" if
            another version of this program stored it or it is broken.
        task: The task; empty if the run is unreadable.
        steps_done: Number of steps that were validated or passed over.
        steps_planned: Number of steps in the plan; 0 before there is a plan.
        started: Start time in UTC; None if it was not stored.
        updated: Time of the latest checkpoint in UTC; the year 1 if it cannot be read.
        question: The question for a person.
        usage: The usage of the run; None before there is a plan.
    """

    thread_id: str
    status: StoredStatus
    task: str
    steps_done: int
    steps_planned: int
    started: datetime | None
    updated: datetime
    question: Question | None
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A stored run with its state.

    Attributes:
        summary: The run in one line.
        state: As ``run`` returns it. For parallel steps under way, ``results`` has their results so far; for
            an answer under way, ``synthesis`` has its attempts. Other fields change when these have ended.
    """

    summary: RunSummary
    state: OrchestratorState


def build_summary(
    thread_id: str, checkpoint: CheckpointTuple, state: OrchestratorState, question: Question | None
) -> RunSummary:
    """Builds the summary of a readable run."""
    status = state["status"]
    return RunSummary(
        thread_id=thread_id,
        status="waiting" if question is not None and status not in ENDED else status,
        task=state["task"],
        steps_done=state["current_step_index"],
        steps_planned=len(state["plan"]),
        started=parse_time(checkpoint.metadata.get(STARTED)),
        updated=_update_time(checkpoint),
        question=question if status not in ENDED else None,
        usage=None if status == "planning" else state["usage"],
    )


def unreadable_summary(thread_id: str, checkpoint: CheckpointTuple | None) -> RunSummary:
    """Builds the summary of a run that another version stored, or of a broken one (None)."""
    started = None if checkpoint is None else parse_time(checkpoint.metadata.get(STARTED))
    updated = datetime.min.replace(tzinfo=UTC) if checkpoint is None else _update_time(checkpoint)
    return RunSummary(thread_id, "unreadable", "", 0, 0, started, updated, None, None)


def _update_time(checkpoint: CheckpointTuple) -> datetime:
    return parse_time(checkpoint.checkpoint["ts"]) or datetime.min.replace(tzinfo=UTC)
