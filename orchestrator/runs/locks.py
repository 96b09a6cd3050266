"""Locks a thread while it is run, so that one process at a time runs it."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from orchestrator.errors import ConfigurationError
from orchestrator.state.plain_values import format_repr


class ThreadLocks(Protocol):
    """The locks of a store. A lock ends with its process. May be used from any Python thread."""

    def acquire(self, thread_id: str, *, wait: bool) -> bool:
        """Locks a thread.

        Args:
            thread_id: The thread.
            wait: Wait a moment: some stores notice the death of a process late.

        Returns:
            False if this process or another one holds the lock.

        Raises:
            StoreError: The store cannot be reached.
        """
        ...

    def release(self, thread_id: str) -> None:
        """Releases a lock that was acquired."""
        ...

    def is_locked(self, thread_id: str) -> bool:
        """Checks whether any process holds the lock; also True if that cannot be found out."""
        ...


@runtime_checkable
class LockingSaver(Protocol):
    """A saver that can lock its threads."""

    locks: ThreadLocks


@asynccontextmanager
async def lock_thread(saver: object, thread_id: str, *, wait: bool) -> AsyncIterator[None]:
    """Holds the lock of a thread. Does nothing if the saver has no locks.

    Raises:
        ConfigurationError: Another process or orchestrator holds the lock.
        StoreError: The store cannot be reached.
    """
    if not isinstance(saver, LockingSaver):
        yield
        return
    lock = _CancellableLock(saver.locks, thread_id)
    try:
        if not await asyncio.to_thread(lock.acquire, wait=wait):
            raise ConfigurationError(
                f"thread {format_repr(thread_id, 80)} is being run elsewhere, by another process or "
                "orchestrator; wait for its end, or give another"
            )
        yield
    finally:
        await asyncio.to_thread(lock.release)


@contextmanager
def lock_for_delete(locks: ThreadLocks, thread_id: str, *, wait: bool) -> Iterator[bool]:
    """Holds the lock of a thread while it is deleted.

    Yields:
        False if the thread is being run.

    Raises:
        StoreError: The store cannot be reached.
    """
    is_locked = locks.acquire(thread_id, wait=wait)
    try:
        yield is_locked
    finally:
        if is_locked:
            locks.release(thread_id)


@dataclass(slots=True)
class _CancellableLock:
    """Never stays locked after ``release``.

    A cancelled task cannot stop the Python thread in which it acquires the lock. That thread may get the lock
    after the task has called ``release``.
    """

    locks: ThreadLocks
    thread_id: str
    _is_acquired: bool = False
    _is_released: bool = False
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def acquire(self, *, wait: bool) -> bool:
        with self._mutex:
            self._is_acquired = not self._is_released and self.locks.acquire(self.thread_id, wait=wait)
            return self._is_acquired

    def release(self) -> None:
        with self._mutex:
            self._is_released = True
            if self._is_acquired:
                self._is_acquired = False
                self.locks.release(self.thread_id)


def lock_number(thread_id: str) -> int:
    """Returns the number of a thread's lock, of 62 bits; the same in every process."""
    return int.from_bytes(hashlib.sha256(thread_id.encode()).digest()[:8]) >> 2
