"""Stores runs in PostgreSQL. Needs the extra [postgres]."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
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
from orchestrator.runs.run_saver import RunSaver, SeparateText, convert_store_errors, lock_number
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
_HAS_TABLE: Final = "SELECT to_regclass(%s) IS NOT NULL AS done"
_KEEPALIVES: Final = """
    SELECT set_config('tcp_keepalives_idle', '20', false), set_config('tcp_keepalives_interval', '10', false),
    set_config('tcp_keepalives_count', '3', false)
"""
"""A machine that disappears keeps its locks for a minute at most."""


class SessionLocks:
    """The locks on the threads of a store in PostgreSQL. One connection holds all of them.

    If that connection is lost, its locks are lost, and another process can take over the threads: ``check``
    raises an error before the next checkpoint of such a thread is stored.
    """

    def __init__(self, url: str, connect_s: int, name: str) -> None:
        """Takes the URL, the connection timeout in seconds, and the name of the store for messages."""
        self._url, self._connect_s, self._name = url, connect_s, name
        self._connection: Connection[DictRow] | None = None
        self._locked: set[str] = set()
        self._lost: set[str] = set()
        self._mutex = threading.RLock()

    def acquire(self, thread_id: str, *, wait: bool) -> bool:
        """Locks a thread; see ``ThreadLocks``."""
        return poll(lambda: self._try_acquire(thread_id), _DEAD_SESSION_S if wait else 0)

    def release(self, thread_id: str) -> None:
        """Releases a lock that was acquired."""
        with self._mutex:
            self._lost.discard(thread_id)
            if thread_id in self._locked:
                self._locked.discard(thread_id)
                with suppress(StoreLostError):  # the connection is gone, and all locks with it
                    self._execute(_UNLOCK, thread_id)

    def is_locked(self, thread_id: str) -> bool:
        """Checks whether any process holds the lock; see ``ThreadLocks``."""
        with self._mutex:
            return thread_id in self._locked or self._execute(_IS_LOCKED, thread_id)

    def is_held(self, thread_id: str) -> bool:
        """Checks whether this process holds the lock."""
        return thread_id in self._locked

    def check(self, thread_id: str) -> None:
        """Checks that the lock of a thread was not lost since it was acquired.

        Raises:
            StoreLostError: It was, or the database cannot be reached.
        """
        with self._mutex:
            if thread_id in self._locked:
                self._execute(_IS_LOCKED, thread_id)
            if thread_id in self._lost:
                raise StoreLostError(
                    f"the connection to {self._name} was lost, and with it the lock of thread "
                    f"{format_repr(thread_id, 80)}; resume the run"
                )

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
            if is_free := self._execute(_LOCK, thread_id):
                self._locked.add(thread_id)
            return is_free

    def _execute(self, statement: str, thread_id: str) -> bool:
        """Executes a statement; if the connection is lost, with a new one."""
        if self._connection is not None:
            with suppress(psycopg.Error):
                return _is_true(self._connection, statement, lock_number(thread_id))
            self.close()
            self._lost, self._locked = self._lost | self._locked, set()
        with convert_store_errors(self._name, psycopg.Error):
            self._connection = psycopg.connect(
                self._url, autocommit=True, row_factory=dict_row, connect_timeout=self._connect_s
            )
            self._connection.execute(_KEEPALIVES)
            return _is_true(self._connection, statement, lock_number(thread_id))


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
_SETUP_S: Final = 60.0
_SETUP_LOCK: Final = 0x70656D
"""The number of the advisory lock that a process holds while it creates the tables."""


class StorePool(ConnectionPool[Connection[DictRow]]):
    """A connection pool that raises StoreLostError in place of the errors of the database."""

    @contextmanager
    def connection(self, timeout: float | None = None) -> Iterator[Connection[DictRow]]:
        """Lends a connection for the block."""
        with (
            convert_store_errors(self.name, psycopg.Error, PoolTimeout, PoolClosed),
            super().connection(timeout) as connection,
        ):
            yield connection


def _build_pool(url: str, connect_s: int, name: str) -> StorePool:
    values = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    return StorePool(
        url,
        connection_class=Connection[DictRow],
        kwargs={**values, "connect_timeout": connect_s},
        min_size=1,
        max_size=8,
        timeout=connect_s,
        check=StorePool.check_connection,
        open=False,
        name=name,
    )


class PostgresRunSaver(RunSaver, PostgresSaver):
    """LangGraph's saver with strict reading and short versions.

    PostgresSaver writes texts into the JSON of every checkpoint. There they could not be encrypted or hold
    NUL, and would be stored again with each checkpoint. Here they are stored like all other values.
    """

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

    def has_table(self, name: str) -> bool:
        """Checks whether the database has a table."""
        with self._pool.connection() as connection:
            return _is_true(connection, _HAS_TABLE, name)

    def setup(self) -> None:
        """Creates LangGraph's tables, or brings them up to date."""
        with self._pool.connection() as connection, _lock_setup(connection, self._pool.name):
            super().setup()

    def create_tables(self, name: str, script: str) -> None:
        """Executes the script that creates tables unless the database has the table of this name."""
        if self.has_table(name):
            return
        with (
            self._pool.connection() as connection,
            _lock_setup(connection, self._pool.name),
            connection.transaction(),
        ):
            if not _is_true(connection, _HAS_TABLE, name):  # another process was faster
                connection.execute(script.encode(), prepare=False)

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
    with closing(locks), _build_pool(url, connect_s, name) as pool:
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
def _lock_setup(connection: Connection[DictRow], name: str) -> Iterator[None]:
    """Excludes other processes that create tables at the same moment.

    Raises:
        StoreError: Another process does so for a minute.
    """
    # Polled: a session that waits inside the database blocks the CREATE INDEX CONCURRENTLY of the setup.
    if not poll(lambda: _is_true(connection, _LOCK, _SETUP_LOCK), _SETUP_S):
        raise StoreError(f"{name} is being set up by another process for more than {_SETUP_S:.0f} s")
    try:
        yield
    finally:
        connection.execute(_UNLOCK.encode(), (_SETUP_LOCK,))


def _is_true(connection: Connection[DictRow], statement: str, value: object) -> bool:
    row = connection.execute(statement.encode(), (value,)).fetchone()
    return row is not None and bool(row["done"])
