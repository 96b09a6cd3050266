"""Stores runs in PostgreSQL. Needs the extra [postgres]."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from functools import partial
from typing import Any, Final
from urllib.parse import quote, urlencode

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row, tuple_row
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from orchestrator.errors import StoreError, StoreLostError
from orchestrator.persistence.serializer import SeparateText
from orchestrator.runs.run_saver import CREATE_INDEX, RunSaver, convert_store_errors, lock_number
from orchestrator.state.plain_values import format_one_line, format_repr

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

    def is_held(self, thread_id: str) -> bool:
        """Checks whether this process holds the lock."""
        return thread_id in self._locked

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


_CONNECT_S: Final = 10
"""Seconds to wait for a connection, unless the URL sets ``connect_timeout``."""
_SHOWN: Final = frozenset({"host", "port", "dbname", "user"})
"""The parts of a URL that messages show."""
_POOL_SIZE: Final = 8
_SETUP_S: Final = 60.0
_SETUP_LOCK: Final = 0x70656D
"""The number of the advisory lock that a process holds while it creates the tables."""

_HAS_STORE: Final = "SELECT to_regclass('checkpoint_migrations') IS NOT NULL AS done"
_HAS_INDEX: Final = "SELECT to_regclass('orchestrator_runs') IS NOT NULL AS done"


class StorePool(ConnectionPool[Connection[DictRow]]):
    """A connection pool that raises StoreLostError in place of the errors of the database."""

    def __init__(self, url: str, connect_s: int, locks: SessionLocks, store_name: str) -> None:
        """Takes the URL, the timeout in seconds, the locks, and the name of the store for messages."""
        self._locks = locks
        self.store_name = store_name
        super().__init__(
            url,
            connection_class=Connection[DictRow],
            kwargs={
                "autocommit": True,
                "prepare_threshold": 0,
                "row_factory": dict_row,
                "connect_timeout": connect_s,
            },
            min_size=1,
            max_size=_POOL_SIZE,
            timeout=connect_s,
            check=self._check_or_replace,
            open=False,
        )

    @contextmanager
    def connection(self, timeout: float | None = None) -> Iterator[Connection[DictRow]]:
        """Lends a connection for the block."""
        with (
            convert_store_errors(self.store_name, psycopg.Error, PoolTimeout, PoolClosed),
            super().connection(timeout) as connection,
        ):
            yield connection

    def _check_or_replace(self, connection: Connection[DictRow]) -> None:
        try:
            self._locks.check_connection(connection)
        except psycopg.Error:
            # The others were probably cut, too. The pool finds lost connections one by one, and waits longer
            # after each.
            self.check()
            raise


class PostgresRunSaver(RunSaver, PostgresSaver):
    """LangGraph's saver with strict reading and short versions.

    PostgresSaver writes texts into the JSON of every checkpoint. There they could not be encrypted or hold
    NUL, and would be stored again with each checkpoint. Here they are stored like all other values.
    """

    HOLDS_QUEUES = True

    def __init__(self, pool: StorePool, locks: SessionLocks, serde: SerializerProtocol) -> None:
        """Takes an open pool and the locks of the same database."""
        super().__init__(pool, serde=serde)
        self.locks: SessionLocks = locks
        self._pool = pool
        # PostgresSaver lends its one connection to one caller at a time; a pool lends one to each.
        self.lock = nullcontext()  # type: ignore[assignment]

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Stores a checkpoint."""
        self.locks.check(config["configurable"]["thread_id"])
        values = checkpoint["channel_values"]
        texts = {name: SeparateText(value) for name, value in values.items() if isinstance(value, str)}
        # The versions of all texts: a thread that another saver began has its texts in the JSON until now.
        versions = {name: checkpoint["channel_versions"][name] for name in texts}
        separated = Checkpoint(**{**checkpoint, "channel_values": {**values, **texts}})
        return super().put(config, separated, metadata, {**new_versions, **versions})

    def connection(self) -> AbstractContextManager[Connection[DictRow]]:
        """Lends a connection for the block."""
        return self._pool.connection()

    def has_tables(self) -> bool:
        """Checks whether the database holds a store."""
        with self._pool.connection() as connection:
            return _is_true(connection, _HAS_STORE)

    def create_tables(self) -> None:
        """Creates the tables of a store, or brings them up to date."""
        with self._pool.connection() as connection, setup_lock(connection, self._pool.store_name):
            self.setup()
        self.create_index()

    def create_index(self) -> None:
        """Creates the index of the runs if the store has none."""
        with self._pool.connection() as connection:
            if not _is_true(connection, _HAS_INDEX):
                with setup_lock(connection, self._pool.store_name), connection.transaction():
                    if not _is_true(connection, _HAS_INDEX):
                        connection.execute(CREATE_INDEX, prepare=False)

    def select(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        """Returns the rows of a query."""
        with self._pool.connection() as connection, connection.cursor(row_factory=tuple_row) as cursor:
            return cursor.execute(statement.replace("?", "%s").encode(), values).fetchall()

    def change(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Executes a statement with the values of each row, in one transaction."""
        if rows:
            with self._pool.connection() as connection, connection.transaction():
                connection.cursor().executemany(statement.replace("?", "%s").encode(), rows)


@contextmanager
def open_postgres(url: str, serde: SerializerProtocol) -> Iterator[tuple[str, PostgresRunSaver]]:
    """Opens a database, with or without the tables of a store.

    Args:
        url: The URL, with a password if it needs one.
        serde: Serialises values.

    Yields:
        The URL without its password, and the saver.

    Raises:
        StoreError: The database cannot be reached.
    """
    name, connect_s = _read_url(url)
    try:  # a pool would retry for long, and hide the reason
        psycopg.connect(url, connect_timeout=connect_s).close()
    except psycopg.Error as error:
        raise StoreError(
            f"{name} cannot be reached ({format_one_line(error)}); start it, or give another URL"
        ) from None
    locks = SessionLocks(url, connect_s, name)
    with closing(locks), StorePool(url, connect_s, locks, name) as pool:
        yield name, PostgresRunSaver(pool, locks, serde)


def _read_url(url: str) -> tuple[str, int]:
    """Returns the URL without its password, and the seconds to wait for a connection."""
    try:
        parts = conninfo_to_dict(url)
        connect_s = int(parts.get("connect_timeout") or 0) or _CONNECT_S
    except (psycopg.Error, ValueError):  # their messages quote the URL, with its password
        parts, connect_s = {"host": "@"}, 0
    shown = {name: str(value) for name, value in parts.items() if name in _SHOWN}
    # The host or the name has an @ if the password has an @ or a / that is not encoded.
    if "@" in shown.get("host", "") + shown.get("dbname", ""):
        raise StoreError(
            "the store is no URL of a database; give postgresql://USER:PASSWORD@HOST/NAME, "
            "with %40 for each @ in the password and %2F for each /"
        )
    return f"postgresql:///?{urlencode(shown, quote_via=quote, safe='/')}", connect_s


@contextmanager
def setup_lock(connection: Connection[DictRow], name: str) -> Iterator[None]:
    """Excludes other processes that create tables at the same moment.

    Raises:
        StoreError: Another process does so for a minute.
    """
    # Polled: a session that waits inside the database blocks the CREATE INDEX CONCURRENTLY of the setup.
    if not poll(
        partial(_is_true, connection, f"SELECT pg_try_advisory_lock({_SETUP_LOCK}) AS done"), _SETUP_S
    ):
        raise StoreError(f"{name} is being set up by another process for more than {_SETUP_S:.0f} s")
    try:
        yield
    finally:
        connection.execute("SELECT pg_advisory_unlock(%s)", (_SETUP_LOCK,))


def _is_true(connection: Connection[DictRow], statement: str) -> bool:
    row = connection.execute(statement.encode()).fetchone()
    return row is not None and bool(row["done"])
