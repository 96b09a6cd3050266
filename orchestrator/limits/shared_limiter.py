"""A rate limiter that counts its calls in PostgreSQL, so that all processes share it."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from tenacity import Retrying, retry_if_exception_type, sleep_using_event, wait_fixed
from tenacity.stop import stop_after_delay, stop_when_event_set

from agents.models.call_limits import ModelLimit, PausingRateLimiter
from orchestrator.errors import StoreError, StoreLostError
from orchestrator.limits.limit_tables import LOCK, TAKE

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.rows import DictRow

    from orchestrator.persistence.postgres import PostgresRunSaver

_MARGIN: Final = timedelta(milliseconds=50)
"""A call may begin so much later than it was granted without passing the limit."""
_LONGEST_WAIT_S: Final = 1.0
_SHORTEST_WAIT_S: Final = 0.01
_PATIENCE: Final = timedelta(seconds=2 * _LONGEST_WAIT_S)
"""A worker that waits asks at least twice in this time, so one that does not ask has stopped."""
_LONGEST_PAUSE_S: Final = 300.0
"""An endpoint that wants a longer pause is asked again after this one."""


class SharedRateLimiter(PausingRateLimiter):
    """Grants at most a number of calls in any period to all processes together, with equal shares.

    One thread of this process asks the database, for one call after another.

    Args:
        limit: The limit.
        saver: The saver of a store in PostgreSQL, which has the tables and this limit.
        lost_s: Seconds that the database may be away before a call fails.

    Attributes:
        limit: The limit.
        worker: The name of this process in the database.
    """

    def __init__(self, limit: ModelLimit, saver: PostgresRunSaver, lost_s: float) -> None:
        self.limit = limit
        self.worker = str(uuid.uuid4())
        self._saver = saver
        self._asking = ThreadPoolExecutor(1, thread_name_prefix="limit")
        self._closed, self._woken = threading.Event(), threading.Event()
        self._pauses = deque[float]()
        self._waiting = set[Future[bool]]()
        self._values: dict[str, Any] = {
            "name": limit.name,
            "worker": self.worker,
            "calls": limit.calls,
            "period": timedelta(seconds=limit.period_s) + _MARGIN,
            "patience": _PATIENCE,
        }
        self._retrying = Retrying(
            retry=retry_if_exception_type(StoreLostError),
            stop=stop_after_delay(lost_s) | stop_when_event_set(self._closed),
            wait=wait_fixed(0.5),
            sleep=sleep_using_event(self._closed),
            reraise=True,
        )

    def acquire(self, *, blocking: bool = True) -> bool:
        """Waits until a call is granted; without ``blocking``, returns whether one is granted now.

        Raises:
            StoreLostError: The database cannot be reached for ``lost_s``. Without it, no call is granted.
            StoreError: The database has no such limit.
        """
        return self._start_wait().result() if blocking else self._ask() is None

    async def aacquire(self, *, blocking: bool = True) -> bool:
        """Does the same without blocking the event loop."""
        if not blocking:
            return await asyncio.to_thread(self.acquire, blocking=False)
        return await asyncio.wrap_future(self._start_wait())

    def pause(self, seconds: float) -> None:
        """Grants no call to any process for this time, at most 300 s. Does not block."""
        self._pauses.append(min(seconds, _LONGEST_PAUSE_S))
        self._woken.set()
        self._asking.submit(self._retrying, self._send_pauses)

    def close(self) -> None:
        """Ends all waits with an error."""
        self._closed.set()
        self._woken.set()
        self._asking.shutdown(cancel_futures=True)
        with suppress(StoreLostError):
            self._send_pauses()

    def _start_wait(self) -> Future[bool]:
        wait = self._asking.submit(self._wait_for_grant)
        self._waiting.add(wait)
        wait.add_done_callback(self._waiting.discard)
        return wait

    def _wait_for_grant(self) -> bool:
        while (seconds := self._retrying(self._ask)) is not None:
            self._woken.wait(min(max(seconds, _SHORTEST_WAIT_S), _LONGEST_WAIT_S))
            if self._closed.is_set():
                raise RuntimeError("the limits were closed while a call waited")
            self._woken.clear()
        return True

    def _ask(self) -> float | None:
        """Returns None if a call is granted, else the seconds until it may be."""
        with self._saver.connection() as connection, connection.transaction():
            paused_s = self._lock(connection)
            if paused_s > 0:
                return paused_s
            values = {**self._values, "waiting": len(self._waiting)}
            [answer] = connection.execute(TAKE, values).fetchall()
        return None if answer["is_granted"] else float(answer["wait_s"])

    def _send_pauses(self) -> None:
        if self._pauses:
            with self._saver.connection() as connection, connection.transaction():
                self._lock(connection)

    def _lock(self, connection: Connection[DictRow]) -> float:
        """Locks the limit, and stores the pauses; returns how many seconds it is paused."""
        sent = [*self._pauses]
        row = connection.execute(LOCK, {**self._values, "pause_s": max(sent, default=0)}).fetchone()
        if row is None:
            raise StoreError(
                f"the database has no limit {self.limit.name} any more; start this process again"
            )
        for each in sent:
            with suppress(ValueError):  # another call of this process sent it, too
                self._pauses.remove(each)
        return float(row["pause_s"])
