"""What was added to channels of a thread, from its rows, all of it at once.

A run is stored as what each step added, so that reading its state reads all that was written to it.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, DeltaChannelHistory, writes_sort_key

from orchestrator.runs.index import place

_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def next_version(current: str | int | None) -> str:
    """The version after another one: a counter in eight digits, and eight characters by chance.

    LangGraph compares versions as text. Its own savers write 32 digits, of which the first 24 are zeros, so
    that one of these sorts after every one of those; a thread that was stored by them can go on here. The
    other way it cannot.
    """
    counter = current if isinstance(current, int) else int((current or "0").split(".", 1)[0])
    # Two branches of one thread may count alike; what tells them apart is no secret.
    chance = "".join(random.choices(_DIGITS, k=8))  # noqa: S311
    return f"{counter + 1:08}.{chance}"


Loads: TypeAlias = Callable[[tuple[str, bytes]], object]
Row: TypeAlias = tuple[str, str | None, str | None]
"""The id of a checkpoint, that of the one before it, and what LangGraph counted since the last whole values.

The latter as JSON without spaces: none of it is read but names and zeros, thousands of times.
"""
Write: TypeAlias = tuple[str, str, str, int, str, bytes, str]
"""The checkpoint that was written to, the channel, task, number, kind, bytes and path of the task."""

COUNTS: Final = "counters_since_delta_snapshot"
"""Where the metadata of a checkpoint has them."""


Reads: TypeAlias = Callable[[str, str], tuple[Iterable[Row], Iterable[Write]]]
"""Of a thread and a namespace, its checkpoints and what was written to the channels."""


def histories(
    saver: BaseCheckpointSaver[str], config: RunnableConfig, channels: Sequence[str], read: Reads
) -> Mapping[str, DeltaChannelHistory]:
    """What was added to each channel, as LangGraph asks a saver for it.

    Args:
        saver: Reads a checkpoint that may hold whole values.
        config: Names the checkpoint to begin with.
        channels: Their names.
        read: Reads all that is needed else.
    """
    found = saver.get_tuple(config)
    if found is None:
        return {name: DeltaChannelHistory(writes=[]) for name in channels}
    at = found.config["configurable"]
    here = at["thread_id"], at["checkpoint_ns"]

    def values_at(checkpoint_id: str) -> Mapping[str, object]:
        one = saver.get_tuple(place(*here, checkpoint_id))
        return {} if one is None else one.checkpoint["channel_values"]

    with uncollected():
        rows, writes = read(*here)
        return lineage(rows, at["checkpoint_id"], channels, values_at).histories(
            channels, writes, saver.serde.loads_typed
        )


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


def lineage(
    rows: Iterable[Row],
    checkpoint_id: str,
    channels: Sequence[str],
    values_at: Callable[[str], Mapping[str, object]],
) -> Lineage:
    """Walk back until every channel has a whole value, or there is nothing before.

    Args:
        rows: The thread's checkpoints, in any order.
        checkpoint_id: Where to begin; what was written to that one itself does not count.
        channels: Their names.
        values_at: Reads the values of a checkpoint; asked where a whole one may be among them.
    """
    places: dict[str, int] = {}
    seeds: dict[str, tuple[int, object]] = {}
    left = tuple(channels)
    for name, counts in _before(rows, checkpoint_id):
        places[name] = len(places)
        if not _are_partial(left, counts):
            values = values_at(name)
            seeds.update((channel, (places[name], values[channel])) for channel in left if channel in values)
            left = tuple(channel for channel in left if channel not in values)
        if not left:
            break
    return Lineage(places, seeds)


def _before(rows: Iterable[Row], checkpoint_id: str) -> Iterator[tuple[str, str]]:
    """Each once, although what is stored may go round in a circle."""
    found = {name: (parent, counts) for name, parent, counts in rows}
    seen = {checkpoint_id}
    name, _ = found.get(checkpoint_id, (None, None))
    while name is not None and name in found and name not in seen:
        seen.add(name)
        parent, counts = found[name]
        yield name, counts or ""
        name = parent


def _are_partial(channels: tuple[str, ...], counts: str) -> bool:
    """Whether it was counted what came since the whole value of each: then that is elsewhere."""
    return "[0,0]" not in counts and all(map(counts.__contains__, _counted(channels)))


@lru_cache(maxsize=8)
def _counted(channels: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f'"{channel}":[' for channel in channels)
