"""Checkpoints stay in order when a clock is set back.

LangGraph takes the largest id of a thread for its latest checkpoint, and an id begins with the time. Within a
process its ids only grow; a process that goes on with a thread may have an earlier clock than the one before.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.utils import ConfigurableFieldSpec
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.base import id as ids

from orchestrator.errors import StoreError

_TIMED: Final = 6
"""The version of UUID that begins with the time."""
_ROOM: Final = 2**60 - 2**50
"""Times from here on leave too few ids to come; no clock ever shows them."""
_COME: Final = "_last_v6_timestamp"
"""How far LangGraph's ids have come; there is no other way to tell it."""
_ALONE: Final = threading.Lock()


def followed(found: CheckpointTuple | None) -> CheckpointTuple | None:
    """A checkpoint that was read; every id that LangGraph makes from now on is larger than its own."""
    at = None if found is None else _time_of(found.config["configurable"])
    if at is not None and at < _ROOM:
        with _ALONE:
            vars(ids)[_COME] = max(vars(ids)[_COME] or 0, at)
    return found


def check_order(config: RunnableConfig, checkpoint: Checkpoint) -> None:
    """Refuse to store a checkpoint that would not be found as the latest.

    Raises:
        StoreError: Its id is not larger than that of the one it follows; nothing was stored.
    """
    place = config["configurable"]
    before = place.get("checkpoint_id")
    if before is not None and not before < checkpoint["id"]:
        raise StoreError(
            f"thread {place['thread_id']!r:.80} was stored at a later time than the clock shows; "
            "set the clock right, and resume"
        )


def _time_of(place: Mapping[str, object]) -> int | None:
    """The time in an id, in units of 100 ns since 1582; None in one that was made otherwise."""
    try:
        found = ids.UUID(str(place.get("checkpoint_id")))
    except ValueError:
        return None
    return found.time if found.version == _TIMED else None


V = TypeVar("V", int, float, str)


def awaitable_saver(saver: BaseCheckpointSaver[V]) -> BaseCheckpointSaver[V]:
    """The saver itself, or, where it has plain methods only, those awaited in threads."""
    return ThreadedSaver(saver) if _refuses(type(saver).aget_tuple) else saver


def _refuses(method: object) -> bool:
    """Whether a method is there only to say that it is not: SqliteSaver overrides the base's with its own."""
    code = getattr(inspect.unwrap(method) if callable(method) else method, "__code__", None)
    return code is not None and "NotImplementedError" in code.co_names


class ThreadedSaver(BaseCheckpointSaver[V]):
    """Another saver, whose plain methods run in threads where they are awaited.

    That other one must work from any thread (a ``sqlite3`` connection: ``check_same_thread=False``),
    as LangGraph's own engine asks of it, too.
    """

    def __init__(self, saver: BaseCheckpointSaver[V]) -> None:
        super().__init__(serde=saver.serde)
        self._saver: BaseCheckpointSaver[V] = saver

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """Those of the other saver."""
        specs: Sequence[ConfigurableFieldSpec] = self._saver.config_specs
        return [*specs]

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> BaseCheckpointSaver[V]:
        """The same over the other saver with that allowlist."""
        return ThreadedSaver(self._saver.with_allowlist(extra_allowlist))

    def get_next_version(self, current: V | None, channel: None) -> V:
        """As the other saver counts."""
        return self._saver.get_next_version(current, channel)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read a checkpoint; those to come are after it."""
        return followed(self._saver.get_tuple(config))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read a checkpoint; those to come are after it."""
        return followed(await asyncio.to_thread(self._saver.get_tuple, config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, object] | None = None,  # noqa: A002 - named by LangGraph
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Read checkpoints, the newest first."""
        return self._saver.list(config, filter=filter, before=before, limit=limit)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, object] | None = None,  # noqa: A002 - named by LangGraph
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Read checkpoints, the newest first; all at once, since a cursor may be bound to its thread."""

        def read() -> tuple[CheckpointTuple, ...]:
            return tuple(self._saver.list(config, filter=filter, before=before, limit=limit))

        for found in await asyncio.to_thread(read):
            yield found

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint; raises StoreError where it would not be the latest."""
        check_order(config, checkpoint)
        return self._saver.put(config, checkpoint, metadata, new_versions)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint; raises StoreError where it would not be the latest."""
        check_order(config, checkpoint)
        return await asyncio.to_thread(self._saver.put, config, checkpoint, metadata, new_versions)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, object]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote."""
        self._saver.put_writes(config, writes, task_id, task_path)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, object]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote."""
        await asyncio.to_thread(self._saver.put_writes, config, writes, task_id, task_path)

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Read what was added to channels since they were last stored whole."""
        return self._saver.get_delta_channel_history(config=config, channels=channels)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Read what was added to channels since they were last stored whole."""
        return await asyncio.to_thread(
            self._saver.get_delta_channel_history, config=config, channels=channels
        )

    def delete_thread(self, thread_id: str) -> None:
        """Delete all that is stored of a thread."""
        self._saver.delete_thread(thread_id)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete all that is stored of a thread."""
        await asyncio.to_thread(self._saver.delete_thread, thread_id)
