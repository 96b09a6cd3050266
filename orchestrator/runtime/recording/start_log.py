"""Keeps in the store which tool calls have started: ``agents.calls.tool_gate.StartLog``."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from agents.calls.journal import read_config
from orchestrator.errors import ConfigurationError
from orchestrator.runtime.langgraph_internals import find_checkpoint

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
        self._start_write(key, number).result()

    async def aadd(self, key: str, number: int) -> None:
        """Does the same without blocking the event loop."""
        await asyncio.wrap_future(self._start_write(key, number))

    def _start_write(self, key: str, number: int) -> Future[None]:
        # With a task id of its own: a store keeps the first write of a task, and LangGraph reads its tasks'.
        write = self.saver.aput_writes(self.checkpoint, [(START_CHANNEL, [key, number])], str(uuid4()))
        # On the loop of the node: an async saver works on no other.
        return asyncio.run_coroutine_threadsafe(write, self.loop)


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
