"""The numbered events of one run, for every client that follows it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass, field

from orchestrator.serving.live.event_records import EventRecord


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
