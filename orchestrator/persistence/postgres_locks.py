"""Locks threads of a PostgreSQL store with advisory locks of one session."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

import psycopg
from psycopg import Connection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool

from orchestrator.errors import StoreLostError
from orchestrator.runs.run_saver import convert_store_errors, lock_number
from orchestrator.state.plain_values import format_repr

_DEAD_SESSION_S: Final = 2.0
"""How long PostgreSQL may take to notice that the process of a session is dead."""
_POLL_S: Final = 0.05
_LOCK: Final = "SELECT pg_try_advisory_lock(%s) AS done"
_UNLOCK: Final = "SELECT pg_advisory_unlock(%s) AS done"
_IS_LOCKED: Final = """
    SELECT count(*) > 0 AS done FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND ((classid::bigint << 32) | objid::bigint) = %s
"""
_KEEPALIVES: Final = """
    SELECT set_config('tcp_keepalives_idle', '20', false), set_config('tcp_keepalives_interval', '10', false),
    set_config('tcp_keepalives_count', '3', false)
"""
"""A machine that disappears keeps its locks for a minute at most."""


class SessionLocks:
    """The locks on the threads of a store in PostgreSQL. One connection holds all of them.

    If that connection is lost, its locks are lost, and another process can take over the threads. ``check``
    detects this before the next checkpoint is stored.
    """

    def __init__(self, url: str, connect_s: int, name: str) -> None:
        """Takes the URL, the connection timeout in seconds, and the name of the store for messages."""
        self._url, self._connect_s, self._name = url, connect_s, name
        self._connection: Connection[DictRow] | None = None
        self._locked: set[str] = set()
        self._taken_over: set[str] = set()
        self._is_suspect = False
        self._mutex = threading.RLock()

    def acquire(self, thread_id: str, *, wait: bool) -> bool:
        """Locks a thread; see ``ThreadLocks``."""
        return poll(lambda: self._try_acquire(thread_id), _DEAD_SESSION_S if wait else 0)

    def release(self, thread_id: str) -> None:
        """Releases a lock that was acquired."""
        with self._mutex:
            self._locked.discard(thread_id)
            self._taken_over.discard(thread_id)
            try:
                if self._connection is not None:
                    self._execute(_UNLOCK, thread_id)
            except psycopg.Error:  # the connection is gone, and all locks with it
                self._is_suspect = True

    def is_locked(self, thread_id: str) -> bool:
        """Checks whether any process holds the lock; see ``ThreadLocks``."""
        with self._mutex:
            return thread_id in self._locked or self._execute_reconnecting(_IS_LOCKED, thread_id)

    def check(self, thread_id: str) -> None:
        """Checks that no other process has taken over a locked thread.

        Raises:
            StoreLostError: One has, or the database cannot be reached.
        """
        if not self._is_suspect and not self._taken_over:
            return
        with self._mutex:
            if self._is_suspect and not self._is_connected():
                self._reconnect()
            self._is_suspect = False
            if thread_id in self._taken_over:
                raise StoreLostError(
                    f"the connection to {self._name} was lost, and another process took over thread "
                    f"{format_repr(thread_id, 80)}; look there for how it goes on"
                )

    def check_connection(self, connection: Connection[DictRow]) -> None:
        """Checks a connection of the pool. If it is lost, ``check`` looks at the locks' connection, too."""
        try:
            ConnectionPool.check_connection(connection)
        except psycopg.Error:
            self._is_suspect = True
            raise

    def close(self) -> None:
        """Releases all locks."""
        with self._mutex:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _try_acquire(self, thread_id: str) -> bool:
        with self._mutex:
            # A session is granted the same lock twice, so the locks of this process are kept, too.
            if thread_id in self._locked:
                return False
            if is_free := self._execute_reconnecting(_LOCK, thread_id):
                self._locked.add(thread_id)
            return is_free

    def _execute_reconnecting(self, statement: str, thread_id: str) -> bool:
        """Executes the statement; tries it once more with a new connection."""
        with suppress(psycopg.Error):
            return self._execute(statement, thread_id)
        self._reconnect()
        with convert_store_errors(self._name, psycopg.Error):
            return self._execute(statement, thread_id)

    def _reconnect(self) -> None:
        """Acquires all locks again with a new connection."""
        self.close()
        with convert_store_errors(self._name, psycopg.Error):
            # The session that was cut holds its locks until the server has noticed.
            self._taken_over = {
                thread_id
                for thread_id in self._locked
                if not poll(partial(self._execute, _LOCK, thread_id), _DEAD_SESSION_S)
            }

    def _is_connected(self) -> bool:
        try:
            return self._connection is not None and bool(self._connection.execute("SELECT 1").fetchone())
        except psycopg.Error:
            return False

    def _execute(self, statement: str, thread_id: str) -> bool:
        if self._connection is None:
            self._connection = psycopg.connect(
                self._url, autocommit=True, row_factory=dict_row, connect_timeout=self._connect_s
            )
            self._connection.execute(_KEEPALIVES)
        row = self._connection.execute(statement.encode(), (lock_number(thread_id),)).fetchone()
        return row is not None and bool(row["done"])


def poll(attempt: Callable[[], bool], seconds: float) -> bool:
    """Repeats an attempt until it succeeds or the time is over. Returns whether it succeeded."""
    deadline = time.monotonic() + seconds
    while not (is_done := attempt()) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    return is_done
