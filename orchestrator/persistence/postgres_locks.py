"""Claims on the threads of a database: advisory locks of a session, which end with its connection."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import psycopg
from psycopg import Connection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool

from orchestrator.errors import StoreLostError
from orchestrator.runs.index import said
from orchestrator.runs.locks import number_of

_PATIENCE_S: Final = 2.0
"""How long it takes at most until a database has seen that a process is dead."""
_AGAIN_S: Final = 0.05
_TAKE: Final = "SELECT pg_try_advisory_lock(%s) AS done"
_LEAVE: Final = "SELECT pg_advisory_unlock(%s) AS done"
_DEAD_PEERS: Final = ("tcp_keepalives_idle = 20", "tcp_keepalives_interval = 10", "tcp_keepalives_count = 3")
"""A machine that is gone without a word holds its claims for no longer than a minute."""


class SessionClaims:
    """The claims on the threads of a store in PostgreSQL, all of them held by one connection."""

    def __init__(self, url: str, connect_s: int, name: str) -> None:
        """Take where the database is, how long it is waited for, and what it is called in messages."""
        self._url, self._connect_s, self._name = url, connect_s, name
        self._connection: Connection[DictRow] | None = None
        self._held: set[str] = set()
        self._lost: set[str] = set()
        self._doubted = False
        self._alone = threading.RLock()

    def take(self, thread_id: str, *, patient: bool) -> bool:
        """Claim a thread; see ``Claims``."""
        deadline = time.monotonic() + (_PATIENCE_S if patient else 0)
        while not self._took(thread_id):
            if time.monotonic() >= deadline:
                return False
            time.sleep(_AGAIN_S)
        return True

    def leave(self, thread_id: str) -> None:
        """Give up a claim that was taken."""
        with self._alone:
            self._held.discard(thread_id)
            self._lost.discard(thread_id)
            try:
                if self._connection is not None:
                    self._ask(_LEAVE, thread_id)
            except psycopg.Error:  # then the connection is gone, and with it all claims
                self.doubt()

    def doubt(self) -> None:
        """Look whether the claims still hold before anything more is stored: a connection was lost."""
        self._doubted = True

    def check(self, thread_id: str) -> None:
        """Refuse to go on with a thread that was claimed and may be run by another process by now.

        Raises:
            StoreLostError: It was taken over, or the database cannot be asked.
        """
        if not self._doubted and not self._lost:
            return
        with self._alone:
            if self._doubted and not self._is_alive():
                self._renew()
            self._doubted = False
            if thread_id in self._lost:
                raise StoreLostError(
                    f"the connection to {self._name} was lost, and another process took over thread "
                    f"{thread_id!r:.80}; look there for how it goes on"
                )

    def checking(self, connection: Connection[DictRow]) -> None:
        """Check a connection of a pool; one that was lost casts doubt on the claims."""
        try:
            ConnectionPool.check_connection(connection)
        except psycopg.Error:
            self.doubt()
            raise

    def close(self) -> None:
        """End all claims."""
        with self._alone:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _took(self, thread_id: str) -> bool:
        with self._alone:
            if thread_id in self._held:
                return False
            if got := self._asked_once_more(_TAKE, thread_id):
                self._held.add(thread_id)
            return got

    def _asked_once_more(self, statement: str, thread_id: str) -> bool:
        """Ask, over a new connection where the one there was is lost."""
        with suppress(psycopg.Error):
            return self._ask(statement, thread_id)
        self._renew()
        with self._telling():
            return self._ask(statement, thread_id)

    def _renew(self) -> None:
        """Take everything again that is held, over a new connection."""
        self.close()
        with self._telling():
            again = {thread_id: self._taken_again(thread_id) for thread_id in self._held}
        self._lost = {thread_id for thread_id, taken in again.items() if not taken}

    def _is_alive(self) -> bool:
        try:
            return self._connection is not None and bool(self._connection.execute("SELECT 1").fetchone())
        except psycopg.Error:
            return False

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise StoreLostError(f"{self._name} failed ({said(error)}); mend that, and resume") from error

    def _taken_again(self, thread_id: str) -> bool:
        deadline = time.monotonic() + _PATIENCE_S
        while not (taken := self._ask(_TAKE, thread_id)) and time.monotonic() < deadline:
            time.sleep(_AGAIN_S)
        return taken

    def _ask(self, statement: str, thread_id: str) -> bool:
        if self._connection is None:
            self._connection = self._connected()
            for setting in _DEAD_PEERS:
                self._connection.execute(f"SET {setting}".encode())
        row = self._connection.execute(statement.encode(), (number_of(thread_id),)).fetchone()
        return row is not None and bool(row["done"])

    def _connected(self) -> Connection[DictRow]:
        return psycopg.connect(
            self._url, autocommit=True, row_factory=dict_row, connect_timeout=self._connect_s
        )
