"""Adds async methods to LangGraph savers that have none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from typing import Any, Final, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    Checkpoint,
    CheckpointTuple,
)

from orchestrator.errors import StoreError
from orchestrator.state.plain_values import format_repr

V = TypeVar("V", int, float, str)
_PLAIN_METHODS: Final = (
    "get_next_version",
    "get_tuple",
    "list",
    "put_writes",
    "delete_thread",
)
"""The methods that a ``ThreadedSaver`` takes from its saver as they are."""


def with_async_methods(saver: BaseCheckpointSaver[V]) -> BaseCheckpointSaver[V]:
    """Returns the saver itself if it has async methods, else a ``ThreadedSaver`` around it."""
    # Imported here: a run without a store does not need SQLite.
    from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: PLC0415

    # SqliteSaver overrides the async methods only to raise NotImplementedError with a hint.
    has_own_method = type(saver).aget_tuple is not BaseCheckpointSaver.aget_tuple
    return saver if has_own_method and not isinstance(saver, SqliteSaver) else ThreadedSaver(saver)


def check_order(config: RunnableConfig, checkpoint: Checkpoint) -> None:
    """Checks that a new checkpoint becomes the latest one of its thread.

    LangGraph takes the largest id of a thread for the latest checkpoint, and an id begins with the time. If
    the clock was set back, the new checkpoint would never be read, and the work would be done again.

    Raises:
        StoreError: The new id is not larger than the id of the checkpoint before. Nothing was stored.
    """
    thread = config["configurable"]
    previous_id = thread.get("checkpoint_id")
    if previous_id is not None and checkpoint["id"] <= previous_id:
        raise StoreError(
            f"thread {format_repr(thread['thread_id'], 80)} was stored at a later time than the clock "
            "of this machine shows; correct the clock, or wait until that time has passed, and resume"
        )


class ThreadedSaver(BaseCheckpointSaver[V]):
    """Wraps a saver; its plain methods run in threads when they are awaited.

    LangGraph calls a saver from several threads, so the saver must work from any thread (a ``sqlite3``
    connection: ``check_same_thread=False``).
    """

    def __init__(self, saver: BaseCheckpointSaver[V]) -> None:
        super().__init__(serde=saver.serde)
        self._saver: BaseCheckpointSaver[V] = saver
        for name in _PLAIN_METHODS:
            setattr(self, name, getattr(saver, name))

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> BaseCheckpointSaver[V]:
        """Wraps the saver with another allowlist."""
        return ThreadedSaver(self._saver.with_allowlist(extra_allowlist))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Reads a checkpoint."""
        return await asyncio.to_thread(self._saver.get_tuple, config)

    async def alist(self, *args: Any, **named: Any) -> AsyncIterator[CheckpointTuple]:  # noqa: ANN401
        """Reads checkpoints, the newest first."""
        # All at once: a database cursor may be bound to the thread that opened it.
        for stored in await asyncio.to_thread(lambda: [*self._saver.list(*args, **named)]):
            yield stored

    def put(self, config: RunnableConfig, checkpoint: Checkpoint, *args: Any) -> RunnableConfig:  # noqa: ANN401
        """Stores a checkpoint; raises StoreError if it would not become the latest one."""
        check_order(config, checkpoint)
        return self._saver.put(config, checkpoint, *args)

    async def aput(self, *args: Any) -> RunnableConfig:  # noqa: ANN401
        """Stores a checkpoint; raises StoreError if it would not become the latest one."""
        return await asyncio.to_thread(self.put, *args)

    async def aput_writes(self, *args: Any) -> None:  # noqa: ANN401
        """Stores the writes of a task."""
        await asyncio.to_thread(self._saver.put_writes, *args)

    async def adelete_thread(self, thread_id: str) -> None:
        """Deletes a thread with all its checkpoints."""
        await asyncio.to_thread(self._saver.delete_thread, thread_id)
