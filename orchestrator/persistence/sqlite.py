"""Keeps runs in a file of SQLite, which is found, made or refused before anything is written to it."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.sqlite import SqliteSaver

from orchestrator.errors import StoreError, StoreLostError
from orchestrator.persistence.deltas import COUNTS, Row, Write, histories, next_version
from orchestrator.persistence.serializer import StrictSerializer
from orchestrator.persistence.sqlite_locks import FileClaims
from orchestrator.runs.index import HEADS, Head, Labels, broken, said, whole

_HEADER: Final = b"SQLite format 3\0"


def make_empty(file: Path, *, folder: bool) -> None:
    """Make an empty file that only its user can read, since runs hold whatever their tasks are about."""
    try:
        if folder:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise StoreError(f"{file} cannot be written ({error.strerror}); give another path") from error


def check_kind(file: Path) -> None:
    """Refuse what is there and no file, before it is opened: a pipe would be waited for."""
    try:
        mode = file.stat().st_mode
    except OSError:  # missing; or what stands in the way is said once it is opened
        return
    except ValueError:
        raise StoreError(f"{str(file)!r:.80} names no file; give another path") from None
    if not stat.S_ISREG(mode):
        raise StoreError(f"{file} is no file; give another path")


def check_header(file: Path) -> None:
    """Refuse what is missing, and what is not empty and no database of SQLite."""
    try:
        with file.open("rb") as opened:
            head = opened.read(len(_HEADER))
    except FileNotFoundError:
        raise StoreError(f"there is no {file}; give the path of the run's store") from None
    except OSError as error:
        raise StoreError(f"{file} cannot be read ({error.strerror}); give another path") from error
    if head not in (b"", _HEADER):
        raise StoreError(f"{file} is no SQLite database; give another path")


_CHECKPOINT: Final = frozenset({"thread_id", "checkpoint_ns", "checkpoint_id"})
_TABLES: Final = {
    "checkpoints": _CHECKPOINT | {"parent_checkpoint_id", "type", "checkpoint", "metadata"},
    "writes": _CHECKPOINT | {"task_id", "idx", "channel", "type", "value"},
}
"""Their columns; another program may call a table of its own the same."""
_COLUMNS: Final = """
    SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'
"""
_BUSY_S: Final = 60.0
"""How long a write waits for those of other processes."""
_BEFORE: Final = """
    SELECT checkpoint_id, parent_checkpoint_id,
        CASE WHEN json_valid(metadata) THEN json_extract(metadata, ?) END
    FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?
"""
_ADDED: Final = """
    SELECT checkpoint_id, channel, task_id, idx, type, value, task_path FROM writes
    WHERE thread_id = ? AND checkpoint_ns = ? AND channel IN (SELECT value FROM json_each(?))
"""
_IS_HEAD: Final = """
    SELECT 1 WHERE ? = (SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = '')
"""


class SqliteRunSaver(SqliteSaver):
    """LangGraph's saver with strict reading, short versions, and nothing kept of a write that failed."""

    def __init__(self, connection: sqlite3.Connection, file: Path, serde: StrictSerializer) -> None:
        """Take a connection to a file that works from any thread."""
        super().__init__(connection, serde=serde)
        self.labels = Labels()
        self.claims = FileClaims(file)
        self._name = str(file)

    @contextmanager
    def cursor(self, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        """A cursor, in a transaction that is kept as a whole or not at all: half a step's writes are none.

        Raises:
            StoreLostError: In place of SQLite's errors.
        """
        with self.lock, closing(self._opened()) as cursor:
            try:
                yield cursor
                if transaction:
                    self.conn.commit()
            except BaseException as error:
                self._roll_back()
                if isinstance(error, sqlite3.Error):
                    raise self._lost(error) from error
                raise

    def _opened(self) -> sqlite3.Cursor:
        try:
            self.setup()
            return self.conn.cursor()
        except sqlite3.Error as error:
            raise self._lost(error) from error

    def _lost(self, error: sqlite3.Error) -> StoreLostError:
        return StoreLostError(f"{self._name} failed ({said(error)}); mend that, and resume")

    def _roll_back(self) -> None:
        try:
            self.conn.rollback()
        except sqlite3.Error:  # the connection is gone, and with it what it had not committed
            return

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read a checkpoint; raises StoreError where something else is in its place."""
        try:
            found = super().get_tuple(config)
        except (json.JSONDecodeError, UnicodeDecodeError) as error:  # of its metadata
            raise broken(config["configurable"]["thread_id"]) from error
        return None if found is None else whole(found)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint."""
        return super().put(config, checkpoint, self.labels.on(metadata), new_versions)

    def get_next_version(self, current: str | None, channel: None) -> str:  # noqa: ARG002 - LangGraph's
        """A short one."""
        return next_version(current)

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Read what was added to channels, in two searches where LangGraph's own makes one for each step."""

        def read(*here: str) -> tuple[list[Row], list[Write]]:
            with self.cursor(transaction=False) as cursor:
                rows = cursor.execute(_BEFORE, (f"$.{COUNTS}", *here)).fetchall()
                return rows, cursor.execute(_ADDED, (*here, json.dumps(channels))).fetchall()

        return histories(self, config, channels, read)

    def heads(self) -> list[Head]:
        """The latest checkpoint of every thread, the newest first."""
        with self.cursor(transaction=False) as cursor:
            return [Head(*row) for row in cursor.execute(HEADS)]

    def remove(self, head: Head) -> bool:
        """Delete a thread, unless something was added to it since."""
        with self.cursor() as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            if cursor.execute(_IS_HEAD, (head.checkpoint_id, head.thread_id)).fetchone() is None:
                return False
            for table in ("checkpoints", "writes"):
                cursor.execute(f"DELETE FROM {table} WHERE thread_id = ?", (head.thread_id,))  # noqa: S608
        return True


@contextmanager
def open_sqlite(
    file: Path, serde: StrictSerializer, *, make: bool, private: bool
) -> Iterator[SqliteRunSaver]:
    """Open a file.

    Args:
        file: Where.
        serde: How values are stored.
        make: Whether a missing file is made, and an empty one filled.
        private: Whether its folder is made, too.

    Raises:
        StoreError: The file is missing, cannot be opened or holds something else; it is as it was.
    """
    check_kind(file)
    if make:
        make_empty(file, folder=private)
    check_header(file)
    with closing(_connected(file)) as connection:
        _check_tables(connection, file, make=make)
        saver = SqliteRunSaver(connection, file, serde)
        with _reading(file):
            connection.execute("PRAGMA synchronous=FULL")
            if make:
                _set_up(saver)
            saver.is_setup = True  # or else a store that is only read would be changed
        yield saver


def _set_up(saver: SqliteRunSaver) -> None:
    """Make the tables; of several that begin together, all but one are refused without waiting."""
    deadline = time.monotonic() + _BUSY_S
    while True:
        try:
            return saver.setup()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"{file} cannot be used as a store ({said(error)}); give another path") from error


def _connected(file: Path) -> sqlite3.Connection:
    # One that begins with the lock on writing waits for it; one that comes to it later is refused at once.
    with _reading(file):
        return sqlite3.connect(
            f"{file.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=_BUSY_S,
            isolation_level="IMMEDIATE",
            check_same_thread=False,
        )


def _check_tables(connection: sqlite3.Connection, file: Path, *, make: bool) -> None:
    with _reading(file):
        found: frozenset[tuple[str, str]] = frozenset(connection.execute(_COLUMNS))
    names = {table for table, _ in found}
    ours = all((name, column) in found for name in names & _TABLES.keys() for column in _TABLES[name])
    # Some of them: another process makes them right now.
    if ours and (names >= _TABLES.keys() or (make and names < _TABLES.keys())):
        return
    what = "is a database of another program" if found else "holds no runs"
    raise StoreError(f"{file} {what}; give another path")
