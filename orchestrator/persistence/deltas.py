"""What was added to channels of a thread, from its rows, all of it at once.

A run is stored as what each step added, so that reading its state reads all of its checkpoints.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias, cast

from langgraph.checkpoint.base import DeltaChannelHistory, writes_sort_key

Loads: TypeAlias = Callable[[tuple[str, bytes]], object]
Ancestor: TypeAlias = tuple[str, str, bytes]
"""The id of a checkpoint, its kind and its bytes."""
Write: TypeAlias = tuple[str, str, str, int, str, bytes, str]
"""The checkpoint that was written to, the channel, task, number, kind, bytes and path of the task."""

# Crossed, so that each ancestor is found by its key, not by reading the thread from its beginning.
BEFORE: Final = """
    WITH RECURSIVE before(id, parent, type, checkpoint) AS (
        SELECT checkpoint_id, parent_checkpoint_id, type, checkpoint FROM checkpoints
        WHERE thread_id = :thread AND checkpoint_ns = :namespace AND checkpoint_id = :id
        UNION ALL
        SELECT one.checkpoint_id, one.parent_checkpoint_id, one.type, one.checkpoint
        FROM before CROSS JOIN checkpoints one ON one.checkpoint_id = before.parent
        WHERE one.thread_id = :thread AND one.checkpoint_ns = :namespace
    ) SELECT id, type, checkpoint FROM before
"""
"""In SQLite, a checkpoint and those before it, nearest first."""
ADDED: Final = """
    SELECT checkpoint_id, channel, task_id, idx, type, value, task_path FROM writes
    WHERE thread_id = ? AND checkpoint_ns = ? AND channel IN (SELECT value FROM json_each(?))
"""
"""In SQLite, what was ever written to channels of a thread."""


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the garbage collector.

    Of the many small values that are read at once none is garbage, and it would look through all of them
    again and again, for half of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@dataclass(frozen=True, slots=True)
class Lineage:
    """The checkpoints before one.

    Attributes:
        places: Of each, how far away it is.
        seeds: The latest whole value of a channel that has one, and the place where it is.
    """

    places: Mapping[str, int]
    seeds: Mapping[str, tuple[int, object]]

    def histories(
        self, channels: Sequence[str], writes: Iterable[Write], loads: Loads
    ) -> dict[str, DeltaChannelHistory]:
        """What was added to each channel since its whole value, the oldest first."""
        found: dict[str, list[tuple[str, str, object]]] = {name: [] for name in channels}
        for _, channel, task, _, kind, data, _ in sorted(filter(self._counts, writes), key=self._order):
            found[channel].append((task, channel, loads((kind, data))))
        return {name: self._history(name, added) for name, added in found.items()}

    def _history(self, channel: str, added: list[tuple[str, str, object]]) -> DeltaChannelHistory:
        if channel not in self.seeds:
            return {"writes": added}
        return {"writes": added, "seed": self.seeds[channel][1]}

    def _counts(self, write: Write) -> bool:
        at, channel, *_ = write
        reach, _ = self.seeds.get(channel, (len(self.places), None))
        return self.places.get(at, reach + 1) <= reach

    def _order(self, write: Write) -> tuple[object, ...]:
        at, _, task, number, _, _, path = write
        return (-self.places[at], *writes_sort_key(path, task, number))


def lineage(rows: Iterable[Ancestor], channels: Sequence[str], loads: Loads) -> Lineage:
    """Walk back until every channel has a whole value, or there is nothing before.

    Args:
        rows: The checkpoint itself, and those before it, nearest first.
        channels: Their names.
        loads: Makes values of bytes.
    """
    walk = iter(rows)
    names, wanted = {name for name, *_ in islice(walk, 1)}, {*channels}
    places: dict[str, int] = {}
    seeds: dict[str, tuple[int, object]] = {}
    for name, kind, data in walk:
        if name in names or not wanted:  # in a circle, or there is no need
            break
        names.add(name)
        places[name] = len(places)
        whole = _values(loads((kind, data)))
        seeds.update((one, (places[name], whole[one])) for one in wanted & whole.keys())
        wanted -= whole.keys()
    return Lineage(places, seeds)


def _values(checkpoint: object) -> Mapping[str, object]:
    values = checkpoint.get("channel_values") if isinstance(checkpoint, dict) else None
    return cast("Mapping[str, object]", values or {})
