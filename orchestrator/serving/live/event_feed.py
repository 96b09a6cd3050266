"""Follows the events of any run: one that this process executes, or one that another process stores."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

from orchestrator.errors import StoreError
from orchestrator.persistence import History, StoredRun
from orchestrator.runs.run_selection import ENDED
from orchestrator.runtime.events import Event, RunFinished, RunResumed, RunStarted
from orchestrator.serving.live.event_log import EventLog
from orchestrator.serving.live.event_records import EventRecord, rebuild_events, record_event

_POLL_S: Final = 1.0
"""How often the store is read for a run that another process executes."""
_MOST_LOGS: Final = 200


@dataclass(slots=True)
class EventFeed:
    """The logs of the runs that are executed here, or that a client follows.

    Attributes:
        history: The stored runs.
        is_closed: Whether the server ends, so that clients have to connect again.
    """

    history: History
    is_closed: bool = False
    _logs: dict[str, EventLog] = field(default_factory=dict)
    _polls: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    def begin(self, first: Event) -> None:
        """Opens the log of a run that begins or continues here, with its first event."""
        log = self._logs.get(first.thread_id)
        if log is None or isinstance(first, RunStarted) or log.is_over:
            if log is not None:
                log.end()
            log = self._keep(first.thread_id, EventLog())
        if isinstance(first, RunResumed):
            log.add_missing(rebuild_events(first.thread_id, first.state, is_stored=False))
        log.is_running = True
        log.append(record_event(first))

    def add(self, event: Event) -> None:
        """Adds an event of a run that is executed here."""
        log = self._logs[event.thread_id]
        log.append(record_event(event))
        if isinstance(event, RunFinished):
            log.end()

    def stop(self, thread_id: str) -> None:
        """Says that a run is no longer executed here."""
        self._logs[thread_id].is_running = False

    def drop(self, thread_id: str) -> None:
        """Ends the log of a run that was deleted."""
        if (log := self._logs.pop(thread_id, None)) is not None:
            log.end()

    async def follow(
        self, thread_id: str, last_id: str | None
    ) -> AsyncGenerator[tuple[str, EventRecord], None]:
        """Yields the events of a run with their ids, those after ``last_id``, until the run has ended."""
        log = self._logs.get(thread_id) or self._keep(thread_id, EventLog())
        if not log.is_running:
            await self.refresh(thread_id)
        if thread_id not in self._polls:
            self._polls[thread_id] = asyncio.create_task(self._poll(thread_id))
        async with aclosing(log.follow(log.find_place(last_id))) as items:
            async for item in items:
                yield item

    async def close(self) -> None:
        """Ends every stream, so that its client connects again."""
        self.is_closed = True
        for log in self._logs.values():
            log.end()
        polls = [*self._polls.values()]
        for task in polls:
            task.cancel()
        await asyncio.gather(*polls, return_exceptions=True)

    async def refresh(self, thread_id: str) -> None:
        """Adds the stored events of a run that clients follow and that is not executed here."""
        log = self._logs.get(thread_id)
        if log is None or log.is_running or log.is_over:
            return
        try:
            run = await asyncio.to_thread(self.history.show, thread_id)
        except StoreError:  # deleted, or of another version
            log.end()
            return
        _add_stored(log, run)

    async def _poll(self, thread_id: str) -> None:
        """Reads a run again and again while a client follows it: another process may execute it."""
        try:
            while (log := self._logs.get(thread_id)) is not None and not log.is_over:
                await asyncio.sleep(_POLL_S)
                if not log.followers:
                    return
                await self.refresh(thread_id)
        finally:
            self._polls.pop(thread_id, None)

    def _keep(self, thread_id: str, log: EventLog) -> EventLog:
        """Keeps a log, and drops the oldest ones that nobody follows."""
        self._logs.pop(thread_id, None)
        self._logs[thread_id] = log
        idle = [name for name, each in self._logs.items() if not each.is_running and not each.followers]
        for name in idle[: max(0, len(self._logs) - _MOST_LOGS)]:
            del self._logs[name]
        return log


def _add_stored(log: EventLog, run: StoredRun) -> None:
    """Adds the events of a stored run, unless this process has begun to execute it meanwhile."""
    if log.is_running:
        return
    log.add_missing(rebuild_events(run.summary.thread_id, run.state))
    if run.summary.status in ENDED:
        log.end()
