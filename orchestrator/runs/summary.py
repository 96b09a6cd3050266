"""Summarises a run from its latest checkpoint alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, cast, get_args

from langgraph.checkpoint.base import WRITES_IDX_MAP, CheckpointTuple
from langgraph.constants import START
from langgraph.types import Interrupt

from orchestrator.runs.resume import PLANNER, as_planning
from orchestrator.runtime.langgraph_internals import INTERRUPT_CHANNEL, trigger_channel
from orchestrator.state.graph_state import ADDED_TO, OrchestratorState
from orchestrator.state.records import Question
from orchestrator.state.stored_form import STARTED, parse_time, schema_problem
from orchestrator.state.usage import Usage
from orchestrator.supervision.human import read_tool_question

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


def small_values(checkpoint: CheckpointTuple) -> Mapping[str, object]:
    """Returns the values of a checkpoint, without the fields that grow with the run."""
    values = checkpoint.checkpoint["channel_values"].items()
    small = {name: value for name, value in values if name not in ADDED_TO}
    return current_values(checkpoint, small)


def current_values(checkpoint: CheckpointTuple, values: Mapping[str, object]) -> Mapping[str, object]:
    """Returns the values with the input of a run that has not been planned yet."""
    stored = checkpoint.checkpoint["channel_values"].keys()
    with_input = {**values, **pending_input(checkpoint)}
    is_planner_next = START in stored or trigger_channel(PLANNER) in stored
    return as_planning(with_input) if is_planner_next else with_input


def pending_input(checkpoint: CheckpointTuple) -> Mapping[str, object]:
    """Returns the input of a run of which only the input was stored, or nothing."""
    values: object = checkpoint.checkpoint["channel_values"].get(START)
    return values if isinstance(values, Mapping) else {}


def is_run(checkpoint: CheckpointTuple) -> bool:
    """Checks whether a checkpoint belongs to a run of this program."""
    values = small_values(checkpoint)
    return isinstance(values.get("task"), str) and values.get("status") in STATUSES


def version_problem(thread_id: str, checkpoint: CheckpointTuple) -> str | None:
    """Returns why this version cannot read a checkpoint, or None if it can."""
    return schema_problem(thread_id, cast("Mapping[str, object]", checkpoint.metadata))


def open_interrupts(
    checkpoint: CheckpointTuple, answered: Collection[str]
) -> Iterator[tuple[str, Interrupt]]:
    """Yields each interrupt that waits for an answer, with the id of its task; none of ``answered``."""
    # A task that was answered has other writes, too; its old interrupt stays among them.
    ended = _list_ended(checkpoint)
    for task, interrupt in _list_interrupts(checkpoint):
        if task not in ended and read_tool_question_id(interrupt) not in answered:
            yield task, interrupt


def list_answered(checkpoint: CheckpointTuple) -> frozenset[str]:
    """Lists the ids of the questions about tool calls that were answered.

    Such a question is a task of its own within its node. It ends with the answer, before the tool runs; the
    interrupt of the node stays until the node has ended.
    """
    ended = _list_ended(checkpoint)
    ids = (read_tool_question_id(each) for task, each in _list_interrupts(checkpoint) if task in ended)
    return frozenset(each for each in ids if each is not None)


def read_tool_question_id(interrupt: Interrupt) -> str | None:
    """Reads the id of a question about a tool call; None for another interrupt."""
    question = read_tool_question(interrupt.value)
    return None if question is None else question["id"]


def _list_ended(checkpoint: CheckpointTuple) -> set[str]:
    return {task for task, channel, _ in checkpoint.pending_writes or [] if channel not in WRITES_IDX_MAP}


def _list_interrupts(checkpoint: CheckpointTuple) -> Iterator[tuple[str, Interrupt]]:
    for task, channel, value in checkpoint.pending_writes or []:
        if channel == INTERRUPT_CHANNEL:
            interrupts: Sequence[object] = value if isinstance(value, Sequence) else (value,)
            yield from ((task, each) for each in interrupts if isinstance(each, Interrupt))


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
