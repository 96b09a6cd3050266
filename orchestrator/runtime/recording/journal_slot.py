"""The place of one request in a journal: a task of LangGraph that waits while the agent makes the request.

LangGraph stores the result of a task, and runs no task again that has returned. The order in which the tasks
of a node start is their identity.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field

from langchain_core.runnables.config import RunnableConfig
from langgraph.func import task

from agents.sync import resolve_future
from orchestrator.runtime.nested_graphs import read_node_config
from orchestrator.runtime.recording.journal_entry import JournalEntry


@dataclass(frozen=True, slots=True)
class Turn:
    """Permission to make a request; ``config`` belongs to its task; None if nothing stores the result."""

    config: RunnableConfig | None


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """The place of one request.

    Attributes:
        start: What to do: make the request, or take the entry that is there.
        result: The entry of a request that was made.
        completion: Ends when LangGraph has the entry.
    """

    start: Future[Turn | JournalEntry] = field(default_factory=Future)
    result: Future[JournalEntry] = field(default_factory=Future)
    completion: Future[None] = field(default_factory=Future)

    def open(self) -> None:
        """Starts the task. Call it on the event loop of the node."""
        try:
            future: asyncio.Future[JournalEntry] = journaled_call(self)  # type: ignore[assignment]
        except RuntimeError:
            # A graph that is not awaited has no async tasks; then nothing is kept.
            self.start.set_result(Turn(None))
            self.completion.set_result(None)
        else:
            future.add_done_callback(self._end)

    async def make(self, config: RunnableConfig) -> JournalEntry:
        """Lets the agent make the request, and returns its entry."""
        self.start.set_result(Turn(config))
        return await asyncio.wrap_future(self.result)

    def finish(self, entry: JournalEntry) -> None:
        """Hands the entry to the task, unless the run went on without the agent."""
        with suppress(InvalidStateError):
            self.result.set_result(entry)

    def fail(self, question: BaseException) -> None:
        """Lets the task ask a person."""
        with suppress(InvalidStateError):
            self.result.set_exception(question)

    def abandon(self) -> None:
        """Ends a request that was not made, or has not ended."""
        self.start.cancel()
        self.result.cancel()

    def _end(self, future: asyncio.Future[JournalEntry]) -> None:
        if not self.start.done():
            # The task did not run: LangGraph has its entry from before.
            resolve_future(self.start, future.result)
        self.completion.set_result(None)


@task
async def journaled_call(slot: Slot) -> JournalEntry:
    """Waits for the entry. LangGraph runs this only if it has none from an earlier start of the node."""
    return await slot.make(read_node_config() or RunnableConfig())
