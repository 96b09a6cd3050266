"""Follows the events of any run: one that this process executes, or one that another process stores."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, fields
from typing import Final, cast

from evaluation.values import as_object
from orchestrator.errors import StoreError
from orchestrator.persistence import History, StoredRun
from orchestrator.runtime.events import Event, RunFinished, RunResumed, RunStarted
from orchestrator.state.evaluation_report import checks_of
from orchestrator.state.graph_state import ENDED, OrchestratorState
from orchestrator.state.records import StepRecord

_OF_STATE: Final = ("status", "output", "basis", "evidence", "failure", "question", "usage", "warnings")
"""The fields of a state that an event has; ``GET /api/runs/{thread_id}`` has them all."""
_PLACE: Final = ("step_index", "attempt")


@dataclass(frozen=True, slots=True)
class EventRecord:
    """An event as clients get it.

    Attributes:
        name: Name of its class, such as "StepJudged".
        key: What it is about; a rebuilt event has the same key as the live one.
        text: Its fields as JSON on one line.
    """

    name: str
    key: str
    text: str


def record_event(event: Event) -> EventRecord:
    """Returns a live event as JSON."""
    values = {field.name: getattr(event, field.name) for field in fields(event)}
    return _build(type(event).__name__, values)


def rebuild_events(thread_id: str, state: OrchestratorState, *, is_stored: bool = True) -> list[EventRecord]:
    """Returns the events of a run as far as its state tells: without the calls of tools and the retries.

    Args:
        thread_id: The run.
        state: Its state.
        is_stored: Whether the state is the last one known; if not, the events after it will follow.
    """
    named: list[tuple[str, Mapping[str, object]]] = [("RunStarted", {"task": state["task"]})]
    named += _list_of_steps(state)
    if is_stored and state["question"] is not None and state["status"] == "executing":
        named.append(("RunPaused", {"question": state["question"], "state": state}))
    elif is_stored and state["status"] in ENDED:
        named.append(("RunFinished", {"status": state["status"], "state": state}))
    return [_build(name, {"thread_id": thread_id, **values}) for name, values in named]


def _list_of_steps(state: OrchestratorState) -> Iterator[tuple[str, dict[str, object]]]:
    if state["plan"]:
        yield "Planned", {"plan": state["plan"]}
    for record in (*state["results"], *state["synthesis"]):
        yield "StepStarted", {name: record[name] for name in ("step_index", "step", "attempt")}
        yield "StepExecuted", {"record": record}
        if record["verdict"] is not None and record["status"] != "pending_validation":
            yield "StepJudged", {"record": record, "verdict": record["verdict"]}


def _build(name: str, values: Mapping[str, object]) -> EventRecord:
    plain = {key: _shorten(key, value) for key, value in values.items()}
    # A store holds only finite numbers, but the usage of a live call may have any.
    text = json.dumps(plain, ensure_ascii=True, default=str)
    return EventRecord(name, _find_key(name, plain), text)


def _shorten(key: str, value: object) -> object:
    if key == "state":
        state = cast("Mapping[str, object]", value)
        return {name: state.get(name) for name in _OF_STATE}
    if key == "record":
        record = cast("StepRecord", value)
        checks = checks_of(record["report"] or {})
        kept: dict[str, object] = {name: each for name, each in record.items() if name != "report"}
        return {**kept, "checks": checks}
    return value


def _find_key(name: str, plain: Mapping[str, object]) -> str:
    """Tells an event from the others of its run; the calls of tools and repeated ends need not be told."""
    source = as_object(plain.get("record")) or as_object(plain.get("question")) or plain
    place = [str(source.get(part, "")) for part in (*_PLACE, "id")]
    plan = plain.get("plan")
    size = len(plan) if isinstance(plan, Sequence) else ""
    return f"{name}:{'.'.join(place)}:{size}"


@dataclass(slots=True)
class EventLog:
    """The events of a run, numbered from 1. All methods belong to the event loop of the server.

    Attributes:
        epoch: Distinguishes this log from others of the same run, such as those of an earlier process.
        entries: The events.
        is_running: Whether this process executes the run.
        is_over: Whether no event can follow.
        followers: Number of clients that follow.
    """

    epoch: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    entries: list[EventRecord] = field(default_factory=list)
    is_running: bool = False
    is_over: bool = False
    followers: int = 0
    _keys: set[str] = field(default_factory=set)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def append(self, entry: EventRecord) -> None:
        """Adds an event, and wakes the followers."""
        self.entries.append(entry)
        self._keys.add(entry.key)
        self._wake()

    def add_missing(self, entries: Iterable[EventRecord]) -> None:
        """Adds the events that the log does not have."""
        for entry in entries:
            if entry.key not in self._keys:
                self.append(entry)

    def end(self) -> None:
        """Lets the followers end after the last event."""
        self.is_over = True
        self._wake()

    def find_place(self, last_id: str | None) -> int:
        """Returns the number of events that a client has, by the id of its last one.

        A client with an id of another log gets all events: none is lost, and some may come twice.
        """
        epoch, _, number = (last_id or "").rpartition(".")
        is_known = epoch == self.epoch and number.isdecimal() and len(number) < len(str(2**63))
        return min(int(number), len(self.entries)) if is_known else 0

    def name_entry(self, number: int) -> str:
        """Returns the id of an event, by its number from 1."""
        return f"{self.epoch}.{number}"

    async def follow(self, place: int) -> AsyncGenerator[tuple[str, EventRecord], None]:
        """Yields the events after a number of them with their ids, and the later ones as they come."""
        self.followers += 1
        try:
            while True:
                changed = self._changed
                while place < len(self.entries):
                    place += 1
                    yield self.name_entry(place), self.entries[place - 1]
                if self.is_over:
                    return
                await changed.wait()
        finally:
            self.followers -= 1

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


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
