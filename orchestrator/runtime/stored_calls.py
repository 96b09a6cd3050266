"""The calls of an executor that is no graph, in the store of its run: as they begin, and as they end.

LangGraph stores a node's own writes when it ends, which is too late for a call in which the process dies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Final, Literal, NamedTuple, TypeAlias
from uuid import UUID, uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, PendingWrite

from agents.loop.effects import NOT_ENDED
from agents.loop.langgraph_internals import RESUME_CHANNEL, find_checkpoint, read_config, read_task_id
from orchestrator.errors import StoreError
from orchestrator.state.records import ToolCallRecord

CHANNEL: Final = "executor_calls"
"""The channel of the calls among the pending writes of a checkpoint. No node reads it."""
STORED_BY_AGENT: Final[ContextVar[bool]] = ContextVar("stored_by_agent", default=False)
"""Whether a call is under way that its agent has stored, with all calls within it."""
Note: TypeAlias = Literal["call", "asked", "answered", "paused"]
"""The kinds of writes: a call; a question about the calls before; its answer; a question of a tool."""


class Asked(NamedTuple):
    """A question whether the step is executed again.

    Attributes:
        time: Time of the question, as ISO 8601 in UTC.
        answers: Number of answers that its task had then.
        keys: The keys of the calls that it is about.
    """

    time: str
    answers: int
    keys: Sequence[str]

    def name(self, task_id: str) -> str:
        """Returns the end of its id, which tells it from the other questions of the execution."""
        return f"{task_id[:8]}-{self.keys[-1][-8:]}"


@dataclass(frozen=True, slots=True)
class StoredCalls:
    """The calls of an execution that its earlier starts have stored.

    Attributes:
        calls: The calls by their keys, in the order of their starts. One without an end has no latency.
        settled: The keys of the calls before the last question, of the run about them or of a tool.
        asked: The last question about them; None if there is none.
        is_answered: Whether it has an answer.
        answers: Number of stored answers to questions of the task.
        size: Number of writes.
    """

    calls: Mapping[str, ToolCallRecord] = field(default_factory=dict)
    settled: frozenset[str] = frozenset()
    asked: Asked | None = None
    is_answered: bool = False
    answers: int = 0
    size: int = 0

    def list_unsettled(self) -> list[str]:
        """Lists the keys of the calls since the last question: the execution has gone on after its answer."""
        return [key for key in self.calls if key not in self.settled]

    def is_question(self, task_id: str, value: object) -> bool:
        """Returns whether the value of an interrupt is the last question."""
        named = str(value.get("id")) if isinstance(value, Mapping) else ""
        return self.asked is not None and named.endswith(self.asked.name(task_id))

    def add(self, kind: Note, value: Any) -> StoredCalls:  # noqa: ANN401 - as the kind of note says
        """Returns the calls after a further note."""
        if kind == "call":
            key, call = value
            return replace(self, calls={**self.calls, key: call})
        settled = replace(self, settled=frozenset(self.calls))
        if kind == "asked":
            return replace(settled, asked=Asked(*value), is_answered=False)
        if kind == "paused" or self.asked is None:
            return settled
        asked = {key: ToolCallRecord(**{**self.calls[key], "answer": value}) for key in self.asked.keys}
        return replace(settled, calls={**self.calls, **asked}, is_answered=True)


def read_calls(writes: Sequence[PendingWrite], task_id: str) -> StoredCalls:
    """Reads the calls of a task among the pending writes of its checkpoint."""
    own = [each for each in writes if each[0].startswith(task_id[:8])]
    answers = sum(len(value) for _, name, value in own if name == RESUME_CHANNEL)
    # Stores list the writes by their writers, which count them.
    noted = sorted((writer, *value) for writer, name, value in own if name == CHANNEL)
    stored = StoredCalls(answers=answers, size=len(noted))
    for _, kind, value in noted:
        stored = stored.add(kind, value)
    return replace(stored, calls={key: call for key, call in stored.calls.items() if call})


@dataclass(frozen=True, slots=True)
class CallJournal:
    """Writes the calls of an execution into the store of its run.

    Attributes:
        saver: The store.
        place: The checkpoint that the execution belongs to.
        task_id: The start of the id of its task.
        complete: Completes the record of a call.
        stored: The calls of its earlier starts.
    """

    saver: BaseCheckpointSaver[str]
    place: RunnableConfig
    task_id: str
    complete: Callable[[ToolCallRecord], ToolCallRecord]
    stored: StoredCalls
    _numbers: Iterator[int]

    def keep_call(self, run_id: UUID, record: ToolCallRecord | None) -> None:
        """Stores the start or the end of a call; None takes back a start, since the tool begins again.

        Raises:
            StoreError: The store cannot be written to.
        """
        if STORED_BY_AGENT.get():
            return
        if record is not None and record["latency_ms"] is None:
            record = {**record, "error": NOT_ENDED, "outcome": "unknown"}
        self._put("call", [str(run_id), record and self.complete(record)])

    async def settle(self, kind: Note, value: object = None) -> None:
        """Stores why the calls so far are not asked about any more."""
        await asyncio.to_thread(self._put, kind, value)

    def _put(self, kind: Note, value: object) -> None:
        if (loop := _find_loop()) is not None and getattr(self.saver, "loop", None) is loop:
            raise StoreError(
                "the call of a tool cannot be stored, since the executor blocks the event loop of the "
                f"{type(self.saver).__name__}; let it await the tool, as with ainvoke"
            )
        # The number orders the writes. A thread that an earlier start left behind may use it, too.
        writer = f"{self.task_id}-{next(self._numbers):06}-{uuid4().hex}"
        self.saver.put_writes(self.place, [(CHANNEL, [kind, value])], writer)


def _find_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


async def open_journal(complete: Callable[[ToolCallRecord], ToolCallRecord]) -> CallJournal | None:
    """Opens the journal of the running node; None without a store, or one without blocking methods."""
    config = read_config()
    if (found := find_checkpoint(config)) is None:
        return None
    try:
        stored = await asyncio.to_thread(found[0].get_tuple, found[1])
    except NotImplementedError:
        return None
    task_id = read_task_id(config)
    calls = read_calls((stored and stored.pending_writes) or (), task_id)
    return CallJournal(*found, task_id, complete, calls, count(calls.size))
