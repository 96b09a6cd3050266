"""Keeps the calls of an agent in LangGraph's tasks, so that a resumed execution does not repeat them.

The agent may run in any thread. For each request it opens a slot on the event loop of the node. The slot says
whether to make the request, or has the entry of an earlier start of the node.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from functools import partial

from langchain_core.messages import BaseMessage
from langchain_core.runnables.config import RunnableConfig
from langgraph.errors import GraphInterrupt

from agents.calls.conversation import Request
from agents.calls.journal import CALL_JOURNAL, join_messages
from agents.sync import run_in_threads
from orchestrator.runtime.langgraph_internals import without_durability
from orchestrator.runtime.nested_graphs import read_node_config, use_node_config
from orchestrator.runtime.recording.active_recorder import read_recorder
from orchestrator.runtime.recording.journal_entry import JournalEntry, build_entry, read_messages
from orchestrator.runtime.recording.journal_slot import Slot, Turn
from orchestrator.runtime.recording.recorded_calls import collect_starts


class TaskJournal:
    """The journal of one execution of a step: ``agents.calls.journal.CallJournal``. Build it in the node.

    Args:
        now: Returns the current time.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._ended_at: str | None = None
        self._loop = asyncio.get_running_loop()
        self._node = contextvars.copy_context()
        self._slots: list[Slot] = []
        self._is_closed = False

    def read_time(self) -> str:
        """Returns when the last request ended, which is the same after a resume; else the time now."""
        return self._ended_at or self._now().isoformat()

    def close(self) -> None:
        """Ends the requests that are still open: the agent was left behind, or the run was interrupted."""
        self._is_closed = True
        for slot in self._slots:
            slot.abandon()

    def run(self, requests: Sequence[Request]) -> list[BaseMessage]:
        """Makes the requests at once; returns their messages in order."""
        slots = self._open_slots(len(requests))
        jobs = [partial(self._run_one, slot, request) for slot, request in zip(slots, requests, strict=True)]
        return join_messages(run_in_threads(jobs))

    async def arun(self, requests: Sequence[Request]) -> list[BaseMessage]:
        """Does the same without blocking the event loop."""
        slots = self._open_slots(len(requests))
        jobs = [self._arun_one(slot, request) for slot, request in zip(slots, requests, strict=True)]
        # All have to end before the first error is raised: their tools may have had an effect.
        return join_messages(await asyncio.gather(*jobs, return_exceptions=True))

    def _run_one(self, slot: Slot, request: Request) -> list[BaseMessage]:
        while not isinstance(start := slot.start.result(), Turn):
            if (messages := self._restore(start, request)) is not None:
                return messages
            [slot] = self._open_slots(1)
        with self._keep(slot, start, request) as messages:
            messages.extend(request.run())
        slot.completion.result()
        return messages

    async def _arun_one(self, slot: Slot, request: Request) -> list[BaseMessage]:
        while not isinstance(start := await asyncio.wrap_future(slot.start), Turn):
            if (messages := self._restore(start, request)) is not None:
                return messages
            [slot] = self._open_slots(1)
        with self._keep(slot, start, request) as messages:
            messages.extend(await request.arun())
        await asyncio.wrap_future(slot.completion)
        return messages

    def _open_slots(self, count: int) -> list[Slot]:
        slots = [Slot() for _ in range(count)]
        # All on the loop of the node, since the order of the tasks is their identity.
        self._loop.call_soon_threadsafe(self._start_tasks, slots, context=self._node)
        return slots

    def _start_tasks(self, slots: Sequence[Slot]) -> None:
        for slot in slots:
            if self._is_closed:
                slot.abandon()
            else:
                self._slots.append(slot)
                slot.open()

    @contextmanager
    def _keep(self, slot: Slot, turn: Turn, request: Request) -> Iterator[list[BaseMessage]]:
        """Makes a request in the block, which adds its messages to the list, and keeps what came of it."""
        messages: list[BaseMessage] = []
        try:
            with use_node_config(_build_config(turn)), collect_starts() as ids:
                yield messages
        except GraphInterrupt as question:
            slot.fail(question)
            raise
        except Exception:
            # The agent may ask again: after a resume, the next request is not this one, either.
            no_calls = read_recorder().export_calls(())
            slot.finish(build_entry(request, (), no_calls, self._note_end(), failed=True))
            raise
        except BaseException:
            slot.abandon()
            raise
        slot.finish(build_entry(request, messages, read_recorder().export_calls(ids), self._note_end()))

    def _note_end(self) -> str:
        self._ended_at = self._now().isoformat()
        return self._ended_at

    def _restore(self, entry: JournalEntry, request: Request) -> list[BaseMessage] | None:
        """Returns the messages of an entry, and records its calls; None if the request had failed."""
        messages = read_messages(entry, request)
        read_recorder().restore_calls(entry["calls"])
        self._ended_at = entry["ended_at"]
        return None if entry["failed"] else messages


@contextmanager
def open_journal(now: Callable[[], datetime], *, is_kept: bool) -> Iterator[TaskJournal | None]:
    """Opens the journal of an execution; None if the run cannot be resumed."""
    if not is_kept:
        yield None
        return
    with closing(TaskJournal(now)) as journal:
        yield journal


def _build_config(turn: Turn) -> RunnableConfig:
    """Returns the agent's config with the values of the task, so that an interrupt belongs to the task."""
    config = read_node_config() or RunnableConfig()
    values = {} if turn.config is None else turn.config.get("configurable", {})
    # Without the journal: what an agent within a tool asks is a part of this request.
    configurable = {**config.get("configurable", {}), **values, CALL_JOURNAL: None}
    return without_durability(RunnableConfig(**{**config, "configurable": configurable}))
