"""Marks in the store of calls that began again after a crash or paused for a person.

LangGraph stores a node's own writes when it ends, which is too late for a call in which the process dies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple

from agents.loop.langgraph_internals import RESUME_CHANNEL, find_checkpoint, read_task_id

CHANNEL: Final = "tool_call_marks"
"""The channel of the marks among the pending writes of a checkpoint. No node reads it."""
Mark = Literal["begun", "paused", "asked"]


@dataclass(frozen=True, slots=True)
class CallMarks:
    """What the store knows of a call since its intent was stored.

    Attributes:
        starts: Number of starts that neither ended nor paused, the first included.
        asked: When a person was asked whether it may begin again, for each start.
        was_answered: Whether any question of its task was answered.
    """

    starts: int = 1
    asked: tuple[str, ...] = ()
    was_answered: bool = False


def read_marks(config: RunnableConfig, call_id: str) -> CallMarks:
    """Reads the marks of a call; those of a call without any if there is no store."""
    place = find_checkpoint(config)
    return CallMarks() if place is None else _sum_marks(place[0].get_tuple(place[1]), config, call_id)


async def aread_marks(config: RunnableConfig, call_id: str) -> CallMarks:
    """Like ``read_marks``, without blocking the event loop."""
    place = find_checkpoint(config)
    return CallMarks() if place is None else _sum_marks(await place[0].aget_tuple(place[1]), config, call_id)


def add_mark(config: RunnableConfig, call_id: str, mark: Mark, time: str) -> None:
    """Stores a mark with its time, if there is a store; returns after it is stored."""
    if (place := find_checkpoint(config)) is not None:
        place[0].put_writes(place[1], [(CHANNEL, [call_id, mark, time])], _build_id())


async def aadd_mark(config: RunnableConfig, call_id: str, mark: Mark, time: str) -> None:
    """Like ``add_mark``, without blocking the event loop."""
    if (place := find_checkpoint(config)) is not None:
        await place[0].aput_writes(place[1], [(CHANNEL, [call_id, mark, time])], _build_id())


def _build_id() -> str:
    """Returns a new task id: a store keeps the first write of a task, and LangGraph reads its own tasks'."""
    return str(uuid4())


def _sum_marks(stored: CheckpointTuple | None, config: RunnableConfig, call_id: str) -> CallMarks:
    writes: Sequence[tuple[str, str, object]] = (stored.pending_writes or []) if stored else []
    marks = [
        (mark, time) for _, channel, value in writes for mark, time in _read_mark(channel, value, call_id)
    ]
    names, task = [mark for mark, _ in marks], read_task_id(config)
    answered = any(writer.startswith(task) for writer, channel, _ in writes if channel == RESUME_CHANNEL)
    asked = tuple(sorted(time for mark, time in marks if mark == "asked"))
    return CallMarks(1 + names.count("begun") - names.count("paused"), asked, answered)


def _read_mark(channel: str, value: object, call_id: str) -> Iterator[tuple[str, str]]:
    match value:
        case [str(owner), str(mark), str(time)] if channel == CHANNEL and owner == call_id:
            yield mark, time
