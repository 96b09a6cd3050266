"""Finds the same tool call before in a run, and keeps in the store which tool calls have started."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from agents.calls.journal import read_config
from agents.calls.planned_call import PlannedCall
from agents.calls.tool_gate import Ask, StandIn, refuse_denied
from orchestrator.errors import ConfigurationError
from orchestrator.runtime.langgraph_internals import find_checkpoint
from orchestrator.runtime.recording.call_recorder import read_recorder
from orchestrator.state.current_step import ACCEPTED
from orchestrator.state.plain_values import plain_json
from orchestrator.state.records import CallOrigin, StepRecord, ToolCallRecord

_NOT_ENDED: Final = "the call did not end"


@dataclass(frozen=True, slots=True)
class _MadeCall:
    """A call of the run; ``is_refused`` says that its execution was not accepted."""

    record: ToolCallRecord
    origin: CallOrigin
    is_refused: bool = False


@dataclass(frozen=True, slots=True)
class EarlierCalls:
    """Finds the same call before: ``agents.calls.tool_gate.FindEarlier``.

    Attributes:
        records: The executions of the run before this one.
        current: This execution.
        once: Names of the tools that make the same call once in a run.
        once_in_retries: Names of the tools that do not repeat the calls of a refused execution.
    """

    records: Sequence[StepRecord]
    current: CallOrigin
    once: Collection[str]
    once_in_retries: Collection[str]

    def __call__(self, call: PlannedCall) -> StandIn | Ask | None:
        """Returns the decision of the same call before; None if the call is new."""
        current = (_MadeCall(made, self.current) for made in read_recorder().list_tool_calls())
        same = _select_same(call, [*self._list_records(), *current])
        for earlier in same:
            answer = earlier.record.get("answer") if earlier.record.get("gate") == "denied" else None
            if answer is not None and earlier.origin["step_index"] == self.current["step_index"]:
                return refuse_denied(answer, is_repeated=True)
        if call.name in self.once:
            return _find_answer(same) or _find_doubt(same)
        if call.name in self.once_in_retries:
            return _find_answer([earlier for earlier in same if earlier.is_refused])
        return None

    def _list_records(self) -> Iterator[_MadeCall]:
        for record in self.records:
            origin = CallOrigin(step_index=record["step_index"], attempt=record["attempt"])
            is_refused = record["status"] not in ACCEPTED
            yield from (_MadeCall(call, origin, is_refused) for call in record["tool_calls"])


def _select_same(call: PlannedCall, earlier: Sequence[_MadeCall]) -> list[_MadeCall]:
    named = [each for each in earlier if each.record["name"] == call.name]
    # As a record holds them: a store has no form for infinity or a number of more than 64 bits.
    description = call.describe(plain_json(call.args)) if named else ""
    return [each for each in named if call.describe(each.record["args"]) == description]


def _find_answer(same: Sequence[_MadeCall]) -> StandIn | None:
    for earlier in same:
        if earlier.record["error"] is None and earlier.record["result"] is not None:
            origin = earlier.record.get("made_in", earlier.origin)
            return StandIn(earlier.record["result"], "reused", origin=dict(origin))
    return None


def _find_doubt(same: Sequence[_MadeCall]) -> Ask | None:
    """Returns why it is not known whether a call had its effect; None if it certainly had none."""
    records = [each.record for each in same if "gate" not in each.record and "effect" not in each.record]
    return Ask(records[-1]["error"] or _NOT_ENDED) if records else None


START_CHANNEL: Final = "tool_call_start"
"""The channel of the starts among the pending writes of a checkpoint. No node reads it."""


@dataclass(frozen=True, slots=True)
class StoredStarts:
    """The starts of tool calls since a checkpoint.

    LangGraph's own writes come too late: it stores them in the background, and a process can die before.

    Attributes:
        saver: The store.
        checkpoint: The checkpoint that the node belongs to.
        loop: The event loop of the node.
        counts: The starts before the run was resumed, by idempotency key.
    """

    saver: BaseCheckpointSaver[str]
    checkpoint: RunnableConfig
    loop: asyncio.AbstractEventLoop
    counts: Mapping[str, int]

    def count(self, key: str) -> int:
        """Counts the starts of a call before the run was resumed."""
        return self.counts.get(key, 0)

    def add(self, key: str, number: int) -> None:
        """Adds to the count of a call; returns after it is stored.

        Raises:
            ConfigurationError: It is called on the event loop, which it would block for ever.
        """
        with suppress(RuntimeError):  # no loop runs in this thread
            if asyncio.get_running_loop() is self.loop:
                raise ConfigurationError(
                    "an async tool calls an agent with execute_step; await aexecute_step"
                )
        # With a task id of its own: a store keeps the first write of a task, and LangGraph reads its tasks'.
        write = self.saver.aput_writes(self.checkpoint, [(START_CHANNEL, [key, number])], str(uuid4()))
        # On the loop of the node: an async saver works on no other.
        asyncio.run_coroutine_threadsafe(write, self.loop).result()


async def read_starts() -> StoredStarts | None:
    """Reads the starts of the running node before the run was resumed; None if there is no store."""
    place = find_checkpoint(read_config())
    if place is None:
        return None
    saver, checkpoint = place
    stored = await saver.aget_tuple(checkpoint)
    writes = [] if stored is None else stored.pending_writes or []
    loop = asyncio.get_running_loop()
    return StoredStarts(saver, checkpoint, loop, _count_starts(writes))


def _count_starts(writes: Sequence[tuple[str, str, object]]) -> dict[str, int]:
    """Counts the starts among the pending writes of a checkpoint."""
    counts = Counter[str]()
    for _, channel, value in writes:
        match value:
            case [str(key), int(number)] if channel == START_CHANNEL:
                counts[key] += number
    return dict(counts)
