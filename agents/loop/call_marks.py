"""Marks in the store of the calls that began again, paused, or were asked about.

LangGraph stores a node's own writes when it ends, which is too late for a call in which the process dies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, PendingWrite

from agents.loop.langgraph_internals import (
    INTERRUPT_CHANNEL,
    NO_TASK,
    RESUME_CHANNEL,
    find_checkpoint,
    read_task_id,
)
from agents.sync import Conversation, call_either

CHANNEL: Final = "tool_call_marks"
"""The channel of the marks among the pending writes of a checkpoint. No node reads it."""
Mark = Literal["begun", "paused", "asked"]


@dataclass(frozen=True, slots=True)
class CallMarks:
    """The marks of a call in the store since its intent was stored.

    Attributes:
        starts: Number of starts that neither ended nor paused, the first included.
        asked: When a person was asked whether it may begin again, and the number of answers that its task had
            then, for each start.
        answers: Number of answers to questions of its task that are stored.
        has_question: Whether a question of its task is stored.
    """

    starts: int = 1
    asked: tuple[tuple[str, int], ...] = ()
    answers: int = 0
    has_question: bool = False

    @property
    def is_unasked(self) -> bool:
        """Whether nobody was asked about the last start."""
        return len(self.asked) < self.starts


def read_marks(config: RunnableConfig, call_id: str) -> Conversation[CallMarks]:
    """Reads the marks of a call; without a store, a call has none."""
    if (place := find_checkpoint(config)) is None:
        return CallMarks()
    saver, checkpoint = place
    stored = yield call_either(saver.get_tuple, saver.aget_tuple, checkpoint)
    return sum_marks(stored, config, call_id)


def add_mark(
    config: RunnableConfig, call_id: str, mark: Mark, time: str, answers: int = 0
) -> Conversation[None]:
    """Stores a mark with its time, if there is a store; returns after it is stored."""
    yield from forget_answer(config)
    writes = [(CHANNEL, [call_id, mark, time, answers])]
    # A store keeps the first write of an id, and LangGraph reads those of its own tasks.
    yield from _put_writes(find_checkpoint(config), writes, f"{read_task_id(config)}-{uuid4()}")


def forget_answer(config: RunnableConfig) -> Conversation[None]:
    """Removes the stored answer that names no question, which LangGraph has read: it is for one question.

    LangGraph gives it to each question of a checkpoint, again whenever the graph goes on.
    """
    yield from _put_writes(find_checkpoint(config, is_outermost=True), [(RESUME_CHANNEL, None)], NO_TASK)


def _put_writes(
    place: tuple[BaseCheckpointSaver[str], RunnableConfig] | None,
    writes: Sequence[tuple[str, object]],
    writer: str,
) -> Conversation[None]:
    if place is not None:
        saver, checkpoint = place
        yield call_either(saver.put_writes, saver.aput_writes, checkpoint, writes, writer)


def is_under_way(writes: Sequence[PendingWrite], task_id: str) -> bool:
    """Returns whether the call of a task was begun and neither paused nor was asked about since."""
    task = task_id[:8]
    values = [value for writer, channel, value in writes if channel == CHANNEL and writer.startswith(task)]
    marks = [mark for _, mark, *_ in values]
    return bool(marks) and 1 + marks.count("begun") - marks.count("paused") > marks.count("asked")


def count_starts(writes: Sequence[PendingWrite], call_id: str) -> int:
    """Returns the number of starts of a call that neither ended nor paused, the first included."""
    marks = [value[1] for _, channel, value in writes if channel == CHANNEL and value[0] == call_id]
    return 1 + marks.count("begun") - marks.count("paused")


def sum_marks(stored: CheckpointTuple | None, config: RunnableConfig, call_id: str) -> CallMarks:
    """Returns the marks of a call in the checkpoint of the running node."""
    writes: Sequence[PendingWrite] = (stored.pending_writes or []) if stored else []
    own = read_task_id(config)
    marks = [value[1:] for _, channel, value in writes if channel == CHANNEL and value[0] == call_id]
    asked = tuple(sorted((time, before) for mark, time, before in marks if mark == "asked"))
    written = [(name, value) for task, name, value in writes if task.startswith(own)]
    answers = sum(len(value) for name, value in written if name == RESUME_CHANNEL)
    starts = count_starts(writes, call_id)
    return CallMarks(starts, asked, answers, any(name == INTERRUPT_CHANNEL for name, _ in written))
