"""A thread is run by one process at a time: the one that holds its claim, which ends with the process."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from orchestrator.errors import ConfigurationError


class Claims(Protocol):
    """The claims of a store; may be used from any thread."""

    def take(self, thread_id: str, *, patient: bool) -> bool:
        """Claim a thread.

        Args:
            thread_id: The thread.
            patient: Wait for a moment, where it takes one until the claim of a dead process ends.

        Returns:
            Whether nobody else has it, in this process or another.

        Raises:
            StoreError: The store cannot be asked.
        """
        ...

    def leave(self, thread_id: str) -> None:
        """Give up a claim that was taken."""
        ...


@runtime_checkable
class Claimed(Protocol):
    """A saver whose threads can be claimed."""

    claims: Claims


@asynccontextmanager
async def claimed(saver: object, thread_id: str, *, patient: bool) -> AsyncIterator[None]:
    """Hold the claim on a thread, where its saver knows of claims.

    Raises:
        ConfigurationError: Another process has it.
        StoreError: The store cannot be asked.
    """
    if not isinstance(saver, Claimed):
        yield
        return
    claim = _Claim(saver.claims, thread_id)
    try:
        if not await asyncio.to_thread(claim.take, patient=patient):
            raise ConfigurationError(
                f"thread {thread_id!r:.80} is being run elsewhere, by another process or orchestrator; "
                "wait for its end, or give another"
            )
        yield
    finally:
        await asyncio.to_thread(claim.leave)


@contextmanager
def kept_from_runs(saver: object, thread_id: str, *, patient: bool) -> Iterator[bool]:
    """Hold the claim on a thread while it is deleted, where its saver knows of claims.

    Yields:
        Whether nobody runs it.

    Raises:
        StoreError: The store cannot be asked.
    """
    if not isinstance(saver, Claimed):
        yield True
        return
    taken = saver.claims.take(thread_id, patient=patient)
    try:
        yield taken
    finally:
        if taken:
            saver.claims.leave(thread_id)


@dataclass(slots=True)
class _Claim:
    """One that is left for good, also where it is still being taken when whoever wanted it has gone."""

    claims: Claims
    thread_id: str
    _taken: bool = False
    _left: bool = False
    _alone: threading.Lock = field(default_factory=threading.Lock)

    def take(self, *, patient: bool) -> bool:
        with self._alone:
            self._taken = not self._left and self.claims.take(self.thread_id, patient=patient)
            return self._taken

    def leave(self) -> None:
        with self._alone:
            self._left = True
            if self._taken:
                self._taken = False
                self.claims.leave(self.thread_id)


def number_of(thread_id: str) -> int:
    """A thread as a number of 62 bits, by which the same thread is claimed by every process."""
    return int.from_bytes(hashlib.sha256(thread_id.encode()).digest()[:8]) >> 2
