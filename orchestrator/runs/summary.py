"""What a stored run can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, cast

from langgraph.checkpoint.base import WRITES_IDX_MAP, CheckpointTuple
from langgraph.types import Interrupt

from orchestrator.runs.resume import PLANNER, begun
from orchestrator.state.graph_state import ADDED_TO, OrchestratorState, Question, Usage
from orchestrator.state.stored_form import moment, schema_problem, started_in

StoredStatus = Literal["planning", "executing", "waiting", "success", "failed", "unreadable"]

STATUSES: Final[tuple[StoredStatus, ...]] = (
    "planning",
    "executing",
    "waiting",
    "success",
    "failed",
    "unreadable",
)
ENDED: Final[frozenset[StoredStatus]] = frozenset({"success", "failed"})


_INTERRUPT: Final = "__interrupt__"
_INPUT: Final = "__start__"


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A stored run in a line.

    Attributes:
        thread_id: Names it.
        status: "waiting" where a question waits for a person; "planning" or "executing" where it is under way
            or was cut off; "unreadable" where another version of this program stored it or it is broken.
        task: What is to be done; empty where the run is unreadable.
        steps_done: Steps that stand, or were passed.
        steps_planned: Steps of the plan; 0 before there is one.
        started: When it began, in UTC; None where that was not noted.
        updated: When it was stored last, in UTC; long ago where that cannot be told.
        question: What a person is asked.
        usage: What was spent; None before the plan.
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


def values_in(found: CheckpointTuple) -> Mapping[str, object]:
    """The small values of the state, with the input of a run that has only just begun."""
    values = found.checkpoint["channel_values"].items()
    small = {name: value for name, value in values if name not in ADDED_TO}
    return begun_in(found, {**small, **input_in(found)})


def begun_in(found: CheckpointTuple, values: Mapping[str, object]) -> Mapping[str, object]:
    """The values, as those of a run that is only beginning where its planner is what comes next."""
    coming = {_INPUT, f"branch:to:{PLANNER}"} & found.checkpoint["channel_values"].keys()
    return begun(values) if coming else values


def input_in(found: CheckpointTuple) -> Mapping[str, object]:
    """What a run was begun with that has not come further than that."""
    begun: object = found.checkpoint["channel_values"].get(_INPUT)
    return begun if isinstance(begun, Mapping) else {}


def is_run(found: CheckpointTuple) -> bool:
    """Whether it is a run of this program."""
    values = values_in(found)
    return isinstance(values.get("task"), str) and values.get("status") in STATUSES


def problem_in(thread_id: str, found: CheckpointTuple) -> str | None:
    """Why it cannot be read; None where it can."""
    return schema_problem(thread_id, cast("Mapping[str, object]", found.metadata))


def open_interrupts(found: CheckpointTuple) -> Iterator[tuple[str, Interrupt]]:
    """What waits for an answer, with the id of the graph's task that asks; those that ended since do not."""
    writes = found.pending_writes or []
    ended = {task for task, channel, _ in writes if channel not in WRITES_IDX_MAP}
    for task, channel, value in writes:
        if channel == _INTERRUPT and task not in ended:
            asked: Sequence[object] = value if isinstance(value, Sequence) else (value,)
            yield from ((task, one) for one in asked if isinstance(one, Interrupt))


def summary(
    thread_id: str, found: CheckpointTuple, state: OrchestratorState, question: Question | None
) -> RunSummary:
    """The line of a readable run."""
    status = state["status"]
    return RunSummary(
        thread_id=thread_id,
        status="waiting" if question is not None and status not in ENDED else status,
        task=state["task"],
        steps_done=state["current_step_index"],
        steps_planned=len(state["plan"]),
        started=_started(found),
        updated=_updated(found),
        question=question if status not in ENDED else None,
        usage=None if status == "planning" else state["usage"],
    )


def unreadable(thread_id: str, found: CheckpointTuple | None) -> RunSummary:
    """The line of a run that another version stored, or that is broken (None)."""
    started = None if found is None else _started(found)
    updated = datetime.min.replace(tzinfo=UTC) if found is None else _updated(found)
    return RunSummary(thread_id, "unreadable", "", 0, 0, started, updated, None, None)


def _started(found: CheckpointTuple) -> datetime | None:
    started = started_in(cast("Mapping[str, object]", found.metadata))
    return None if started is None else moment(started)


def _updated(found: CheckpointTuple) -> datetime:
    return moment(found.checkpoint["ts"]) or datetime.min.replace(tzinfo=UTC)
