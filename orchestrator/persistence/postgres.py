"""Keeps runs in PostgreSQL, by the extra [postgres]."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Final, cast

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.base import PRUNE_DELETE_THREADS_SQL
from psycopg import Connection, Cursor
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row, tuple_row
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from orchestrator.errors import StoreError, StoreLostError
from orchestrator.persistence.deltas import COUNTS, Row, Write, histories, next_version
from orchestrator.persistence.postgres_locks import SessionClaims
from orchestrator.persistence.serializer import StrictSerializer
from orchestrator.runs.index import HEADS, Head, Labels, said, whole

Pool = ConnectionPool[Connection[DictRow]]

_PATIENCE_S: Final = 10
"""How long a connection is waited for, unless the URL says ``connect_timeout``."""
_CONNECTIONS: Final = 8
_SETUP_S: Final = 60.0
_SETUP_LOCK: Final = 0x70656D
"""Names the lock under which tables are made: two processes that begin at once would clash."""
_BEFORE: Final = """
    SELECT checkpoint_id, parent_checkpoint_id, replace(metadata ->> %s, ' ', '') FROM checkpoints
    WHERE thread_id = %s AND checkpoint_ns = %s
"""
_ADDED: Final = """
    SELECT checkpoint_id, channel, task_id, idx, type, blob, task_path FROM checkpoint_writes
    WHERE thread_id = %s AND checkpoint_ns = %s AND channel = ANY(%s)
"""
_IS_HEAD: Final = """
    SELECT 1 WHERE %s = (
        SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = %s AND checkpoint_ns = ''
    )
"""


@dataclass(frozen=True, slots=True)
class _Apart:
    """A text that is stored beside the checkpoint."""

    text: str


class PostgresRunSaver(PostgresSaver):
    """LangGraph's saver with strict reading and short versions.

    Texts are stored as all else, not in the checkpoint's JSON, where they could not be encrypted, could hold
    no NUL, and would be written with every checkpoint.
    """

    def __init__(self, pool: Pool, claims: SessionClaims, name: str, serde: StrictSerializer) -> None:
        """Take an open pool, claims in the same database, and what the store is called in messages."""
        super().__init__(pool, serde=serde)
        self.labels = Labels()
        self.claims = claims
        self._name = name
        # Of a pool, everyone has a connection of their own.
        self.lock = nullcontext()  # type: ignore[assignment]

    @contextmanager
    def _cursor(self, *, pipeline: bool = False) -> Iterator[Cursor[DictRow]]:
        """A cursor; raises StoreLostError in place of what the database raises."""
        try:
            with super()._cursor(pipeline=pipeline) as cursor:
                yield cursor
        except (psycopg.Error, PoolTimeout, PoolClosed) as error:
            raise StoreLostError(f"{self._name} failed ({said(error)}); mend that, and resume") from error

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read a checkpoint; raises StoreError where something else is in its place."""
        found = super().get_tuple(config)
        return None if found is None else whole(found)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint."""
        self.claims.check(config["configurable"]["thread_id"])
        values = checkpoint["channel_values"]
        texts = {name: _Apart(value) for name, value in values.items() if isinstance(value, str)}
        # All of them: a thread that another saver began has them in its JSON until now.
        versions = {name: checkpoint["channel_versions"][name] for name in texts}
        apart = Checkpoint(**{**checkpoint, "channel_values": {**values, **texts}})
        return super().put(config, apart, self.labels.on(metadata), {**new_versions, **versions})

    def _dump_blobs(
        self, thread_id: str, checkpoint_ns: str, values: dict[str, object], versions: ChannelVersions
    ) -> list[tuple[str, str, str, str, str, bytes | None]]:
        plain = {name: value.text if isinstance(value, _Apart) else value for name, value in values.items()}
        return super()._dump_blobs(thread_id, checkpoint_ns, plain, versions)

    def get_next_version(self, current: str | None, channel: None) -> str:  # noqa: ARG002 - LangGraph's
        """A short one."""
        return next_version(current)

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Read what was added to channels, in two searches where LangGraph's own makes some for each step."""

        def read(*here: str) -> tuple[list[Row], list[Write]]:
            with self._cursor() as cursor:
                rows = cursor.connection.cursor(row_factory=tuple_row)
                counted = rows.execute(_BEFORE, (COUNTS, *here)).fetchall()
                return counted, rows.execute(_ADDED, (*here, list(channels))).fetchall()

        return histories(self, config, channels, read)

    def heads(self) -> list[Head]:
        """The latest checkpoint of every thread, the newest first."""
        with self._cursor() as cursor:
            return [Head(row["thread_id"], row["checkpoint_id"]) for row in cursor.execute(HEADS)]

    def remove(self, head: Head) -> bool:
        """Delete a thread, unless something was added to it since."""
        with self._cursor() as cursor, cursor.connection.transaction():
            if cursor.execute(_IS_HEAD, (head.checkpoint_id, head.thread_id)).fetchone() is None:
                return False
            for statement in PRUNE_DELETE_THREADS_SQL:
                cursor.execute(statement, ([head.thread_id],))
        return True


@contextmanager
def open_postgres(url: str, name: str, serde: StrictSerializer, *, make: bool) -> Iterator[PostgresRunSaver]:
    """Open a database.

    Args:
        url: Where, with a password if it needs one.
        name: The same without a password, for messages.
        serde: How values are stored.
        make: Whether its tables are made where they are missing.

    Raises:
        StoreError: It cannot be reached, or holds no runs.
    """
    patience = _check_reachable(url, name)
    claims = SessionClaims(url, patience, name)

    def check(connection: Connection[DictRow]) -> None:
        try:
            claims.checking(connection)
        except psycopg.Error:
            pool.check()  # others were cut with it; found one by one, each is waited for longer than the last
            raise

    pool = Pool(
        url,
        connection_class=Connection[DictRow],
        kwargs={
            "autocommit": True,
            "prepare_threshold": 0,
            "row_factory": dict_row,
            "connect_timeout": patience,
        },
        min_size=1,
        max_size=_CONNECTIONS,
        timeout=patience,
        check=check,
        open=False,
    )
    with closing(claims), pool:
        saver = PostgresRunSaver(pool, claims, name, serde)
        _set_up(pool, saver, name, make=make)
        yield saver


def _check_reachable(url: str, name: str) -> int:
    """At once and with its reason, where a pool would try for long and say nothing.

    Returns:
        For how many seconds a connection is waited for.
    """
    try:
        patience = int(conninfo_to_dict(url).get("connect_timeout") or 0) or _PATIENCE_S
        psycopg.connect(url, connect_timeout=patience).close()
    except psycopg.OperationalError as error:
        raise StoreError(f"{name} cannot be reached ({said(error)}); start it, or give another URL") from None
    except (psycopg.Error, ValueError):  # which repeat the URL that they could not read
        raise StoreError("the store is no URL of a database; give postgresql://USER@HOST/NAME") from None
    return patience


def _set_up(pool: Pool, saver: PostgresRunSaver, name: str, *, make: bool) -> None:
    with pool.connection() as connection:
        if _stored_version(connection) == len(saver.MIGRATIONS) - 1:
            return
        if not make:
            raise StoreError(f"{name} holds no runs; give the URL of the store in which the run is kept")
        with _alone(connection, name):
            saver.setup()


def _stored_version(connection: Connection[DictRow]) -> int | None:
    table = connection.execute("SELECT to_regclass('checkpoint_migrations') AS name").fetchone()
    if table is None or table["name"] is None:
        return None
    row = connection.execute("SELECT max(v) AS version FROM checkpoint_migrations").fetchone()
    return None if row is None else cast("int | None", row["version"])


@contextmanager
def _alone(connection: Connection[DictRow], name: str) -> Iterator[None]:
    """Hold the lock; asked for again and again, since waiting within the database would stop the setup."""
    deadline = time.monotonic() + _SETUP_S
    while not _locked(connection):
        if time.monotonic() > deadline:
            raise StoreError(f"{name} is being set up by another process for more than {_SETUP_S:.0f} s")
        time.sleep(0.05)
    try:
        yield
    finally:
        connection.execute("SELECT pg_advisory_unlock(%s)", (_SETUP_LOCK,))


def _locked(connection: Connection[DictRow]) -> bool:
    row = connection.execute("SELECT pg_try_advisory_lock(%s) AS got", (_SETUP_LOCK,)).fetchone()
    return row is not None and bool(row["got"])
