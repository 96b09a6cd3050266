"""The calls of an execution that the state of its executor's graph lacks, stored as they begin and end.

LangGraph stores a node's own writes when it ends, which is too late for a call in which the process dies.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, PendingWrite

from agents.loop.call_marks import CallMarks, Mark, add_mark, sum_marks
from agents.loop.effects import NOT_ENDED, utc_now
from agents.loop.langgraph_internals import find_checkpoint, read_config, read_task_id
from agents.loop.tool_arguments import is_watched
from agents.sync import Call, Conversation, find_running_loop, run_conversation
from orchestrator.errors import StoreError
from orchestrator.state.records import ToolCallRecord

CHANNEL: Final = "executor_calls"
"""The channel of the calls among the pending writes of a checkpoint. No node reads it."""
_EFFECTS: Final = "agent_effects"
"""The channel of the effects of agents within a tool or a node of the executor, which ask by themselves."""
_EXECUTION: Final = "execution"
"""The id of the marks of an execution, which is asked about like a call."""


def read_calls(writes: Sequence[PendingWrite], task_id: str) -> list[ToolCallRecord]:
    """Reads the calls of a task among the pending writes of its checkpoint; an open one has no latency."""
    return [*_read_channel(writes, task_id, CHANNEL), *_read_channel(writes, task_id, _EFFECTS)]


def _read_channel(writes: Sequence[PendingWrite], task_id: str, channel: str) -> list[ToolCallRecord]:
    own = [each for each in writes if each[0].startswith(task_id[:8]) and each[1] == channel]
    # Ids of calls begin with their time. The end of a call replaces its start, and a further start its end.
    calls = {writer.rpartition("-")[0]: call for writer, _, call in sorted(own, key=lambda each: each[0])}
    return [call for call in calls.values() if call is not None]


@dataclass(frozen=True, slots=True)
class CallJournal:
    """Writes the calls of an execution into the store of its run.

    Attributes:
        saver: The store.
        place: The checkpoint that the execution belongs to.
        config: The config of its node.
        complete: Completes the record of a call.
        calls: The calls that earlier starts of the execution have stored, in their order.
        effects: The effects of agents within the executor that they have stored.
        marks: The marks of these starts.
    """

    saver: BaseCheckpointSaver[str]
    place: RunnableConfig
    config: RunnableConfig
    complete: Callable[[ToolCallRecord], ToolCallRecord]
    calls: Sequence[ToolCallRecord]
    effects: Sequence[ToolCallRecord]
    marks: CallMarks

    def keep_call(self, run_id: UUID, record: ToolCallRecord | None) -> None:
        """Stores the start or the end of a call; None takes back a start, since the tool begins again.

        Raises:
            StoreError: The store cannot be written to.
        """
        if is_watched():
            return
        if (loop := find_running_loop()) is not None and getattr(self.saver, "loop", None) is loop:
            raise StoreError(
                "the call of a tool cannot be stored, since the executor blocks the event loop of the "
                f"{type(self.saver).__name__}; let it await the tool, as with ainvoke"
            )
        is_open = record is not None and record["latency_ms"] is None
        if record is not None and is_open:
            record = {**record, "error": NOT_ENDED, "outcome": "unknown"}
        writer = f"{read_task_id(self.config)}-{run_id}-{int(not is_open)}"
        self.saver.put_writes(self.place, [(CHANNEL, record and self.complete(record))], writer)

    def keep_effect(
        self, config: RunnableConfig, record: ToolCallRecord, asked_at: str
    ) -> Conversation[None]:
        """Stores the start or the end of a call of an agent, unless the state of the executor's graph has it.

        Args:
            config: The config of the call.
            record: The call.
            asked_at: When the model called.
        """
        place = _read_place(config).rpartition("|")[0]
        if place != _read_place(self.config):
            end = f"{place}|{record.get('id')}-{utc_now().timestamp():.6f}{int(record['error'] != NOT_ENDED)}"
            write = self.place, [(_EFFECTS, record)], f"{read_task_id(self.config)}-{asked_at}|{end}"
            yield Call(partial(self.saver.put_writes, *write), partial(self.saver.aput_writes, *write))

    def join_calls(self, made: Sequence[ToolCallRecord]) -> list[ToolCallRecord]:
        """Returns the calls of the execution with the stored effects.

        An agent that goes on has its earlier calls; of one that has ended, only the messages may be left.
        """
        left, joined = [*self.effects], list[ToolCallRecord]()
        for call in made:
            found = (at for at, each in enumerate(left) if _identify(each) == _identify(call))
            stored = call if (at := next(found, None)) is None else left.pop(at)
            joined.append(call if "outcome" in call else stored)
        return [*left, *joined]

    async def mark(self, mark: Mark, answers: int = 0) -> None:
        """Stores a mark of this start of the execution."""
        marking = add_mark(self.config, _EXECUTION, mark, utc_now().isoformat(), answers)
        await asyncio.to_thread(run_conversation, marking)


def _read_place(config: RunnableConfig) -> str:
    return str(config["configurable"].get("checkpoint_ns", ""))


def _identify(call: ToolCallRecord) -> tuple[object, str]:
    return call.get("id"), json.dumps([call["name"], call["args"]], sort_keys=True)


async def open_journal(
    complete: Callable[[ToolCallRecord], ToolCallRecord], *, is_new: bool
) -> CallJournal | None:
    """Opens the journal of the running node; None without a store, or one without blocking methods.

    Args:
        complete: Completes the record of a call.
        is_new: Whether no earlier start can have stored anything.
    """
    config = read_config()
    found = find_checkpoint(config)
    if found is None or getattr(found[0].put_writes, "__func__", None) is BaseCheckpointSaver.put_writes:
        return None
    stored = None if is_new else await asyncio.to_thread(found[0].get_tuple, found[1])
    writes, task_id = (stored and stored.pending_writes) or (), read_task_id(config)
    calls, effects = (_read_channel(writes, task_id, each) for each in (CHANNEL, _EFFECTS))
    return CallJournal(*found, config, complete, calls, effects, sum_marks(stored, config, _EXECUTION))
