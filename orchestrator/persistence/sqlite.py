"""Stores runs in a SQLite file. A file that holds anything else is refused before it is written to."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite import SqliteSaver
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed

from orchestrator.errors import StoreError
from orchestrator.runs.run_saver import RunSaver, convert_store_errors, lock_number
from orchestrator.state.plain_values import format_one_line

# Windows has no fcntl; there, only the orchestrators of one process exclude each other.
_HAS_FCNTL: Final = find_spec("fcntl") is not None
if _HAS_FCNTL:
    import fcntl

_MUTEX: Final = threading.RLock()
_HELD: Final[dict[tuple[int, Path], int]] = {}
"""The open files of held locks, by process (a forked process inherits no locks) and path."""


class FileLocks:
    """The locks on the threads of a store in a file."""

    def __init__(self, store: Path) -> None:
        """Takes the path of an existing store."""
        self._store = store.resolve()

    def acquire(self, thread_id: str, *, wait: bool) -> bool:  # noqa: ARG002 - a dead process holds no lock
        """Locks a thread; see ``ThreadLocks``."""
        # A listing in another process holds the lock for a moment.
        return any(self._try_acquire(thread_id, pause) for pause in (0.0, 0.002, 0.01))

    def release(self, thread_id: str) -> None:
        """Releases a lock that was acquired."""
        path = self._find_path(thread_id)
        with _MUTEX:
            with suppress(OSError):  # the file of another user, or Windows
                path.unlink()
            os.close(_HELD.pop((os.getpid(), path)))

    def is_locked(self, thread_id: str) -> bool:
        """Checks whether any process holds the lock; see ``ThreadLocks``."""
        if not _HAS_FCNTL:
            return True
        path = self._find_path(thread_id)
        if not path.exists():
            return False
        with _MUTEX, suppress(StoreError):  # no other thread takes the try for a run
            # POSIX has no question that Python can ask on every system, so the lock is tried.
            if (os.getpid(), path) not in _HELD and self.acquire(thread_id, wait=False):
                self.release(thread_id)
                return False
        return True

    def is_held(self, thread_id: str) -> bool:
        """Checks whether this process holds the lock."""
        return (os.getpid(), self._find_path(thread_id)) in _HELD

    def _find_path(self, thread_id: str) -> Path:
        return self._store.with_name(f"{self._store.name}-run-{lock_number(thread_id):016x}")

    def _try_acquire(self, thread_id: str, pause_s: float) -> bool:
        time.sleep(pause_s)
        path = self._find_path(thread_id)
        key = os.getpid(), path
        try:
            with _MUTEX:
                if key in _HELD:
                    return False
                mode = stat.S_IMODE(self._store.stat().st_mode)
                file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), mode)
                if is_free := _lock_file(file, path):
                    _HELD[key] = file
                else:
                    os.close(file)
                return is_free
        except OSError as error:
            raise StoreError(
                f"{path} cannot be locked ({error.strerror}); put the store on a file system with locks"
            ) from error


def _lock_file(file: int, path: Path) -> bool:
    if not _HAS_FCNTL:
        return True
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever held the lock before may have removed the file since it was opened.
        return os.path.samestat(os.fstat(file), path.stat())
    except (BlockingIOError, PermissionError, FileNotFoundError):  # POSIX allows EACCES as well as EAGAIN
        return False


_TABLES: Final = frozenset({"checkpoints", "writes"})
_BUSY_S: Final = 60.0
"""How long a write waits for the writes of other processes."""


class SqliteRunSaver(RunSaver, SqliteSaver):
    """LangGraph's saver with strict reading, short versions, and a rollback of writes that fail."""

    def __init__(self, connection: sqlite3.Connection, file: Path, serde: SerializerProtocol) -> None:
        """Takes a connection that works from any thread."""
        super().__init__(connection, serde=serde)
        self.locks = FileLocks(file)
        self._name = str(file)

    @contextmanager
    def cursor(self, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        """Opens a cursor. A transaction is committed as a whole or rolled back.

        SqliteSaver commits after an error, too, and would keep half of a step's writes.

        Raises:
            StoreLostError: In place of SQLite's errors.
        """
        with (
            self.lock,
            convert_store_errors(self._name, sqlite3.Error),
            closing(self.conn.cursor()) as cursor,
        ):
            try:
                yield cursor
                if transaction:
                    self.conn.commit()
            except BaseException:
                with suppress(sqlite3.Error):  # a lost connection has already dropped what was not committed
                    self.conn.rollback()
                raise

    def has_table(self, name: str) -> bool:
        """Checks whether the file has a table."""
        return bool(self.select("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)))

    def create_tables(self, name: str, script: str) -> None:
        """Executes the script that creates tables unless the file has the table of this name."""
        if not self.has_table(name):
            with self.cursor(transaction=False) as cursor:
                cursor.executescript(f"BEGIN IMMEDIATE; {script} COMMIT;")

    def select(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        """Returns the rows of a query."""
        with self.cursor(transaction=False) as cursor:
            return [*cursor.execute(statement, values)]

    def change(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Executes a statement with the values of each row, in one transaction."""
        if rows:
            with self.cursor() as cursor:
                cursor.executemany(statement, rows)


@contextmanager
def open_sqlite(
    file: Path, serde: SerializerProtocol, *, make: bool, private: bool
) -> Iterator[SqliteRunSaver]:
    """Opens a file.

    Args:
        file: The path.
        serde: Serialises values.
        make: Whether a missing file is created, and an empty one gets tables.
        private: Whether a missing folder is created, too.

    Raises:
        StoreError: The file is missing, cannot be opened, or holds something else. It was not changed.
    """
    if not make and not file.exists():
        raise StoreError(f"there is no {file}; give the path of the run's store")
    with _convert_open_errors(file):
        if make and private:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _MUTEX, suppress(FileExistsError):
            _make_file(file, make=make)
        connection = sqlite3.connect(
            f"{file.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=_BUSY_S,
            # BEGIN IMMEDIATE waits for the write lock; upgrading later fails at once with SQLITE_BUSY.
            isolation_level="IMMEDIATE",
            check_same_thread=False,
        )
    with closing(connection):
        with _convert_open_errors(file):
            _check_tables(connection, file, make=make)
            saver = SqliteRunSaver(connection, file, serde)
            connection.execute("PRAGMA synchronous=FULL")
            if make:
                _UNTIL_FREE(saver.setup)
            saver.create_index()
            saver.is_setup = True  # without it, reading a store would create tables and change its mode
        try:
            yield saver
        finally:
            # A thread that a run left behind may write: SQLite crashes if its connection is closed meanwhile.
            with saver.lock:
                connection.close()


def _make_file(file: Path, *, make: bool) -> None:
    """Makes a missing file. Only SQLite opens a file that exists.

    POSIX drops all locks of a process on a file as soon as the process closes any handle on it. Another
    process could then delete the write-ahead log that the connections of this one use.
    """
    if make and not file.exists():
        # 0600: runs hold private data, such as their tasks and the output of tools.
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    if not os.access(file, os.R_OK | os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


# Changing to WAL mode does not wait for other processes that do the same: it fails at once.
_UNTIL_FREE: Final = Retrying(
    retry=retry_if_exception(lambda error: getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY),
    stop=stop_after_delay(_BUSY_S),
    wait=wait_fixed(0.02),
    reraise=True,
)


@contextmanager
def _convert_open_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"{file} cannot be used as a store ({format_one_line(error)}); give another path"
        ) from None


def _check_tables(connection: sqlite3.Connection, file: Path, *, make: bool) -> None:
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    # With some of the tables only, another process is creating them at this moment.
    if names >= _TABLES or (make and names < _TABLES):
        return
    problem = "is a database of another program" if names else "holds no runs"
    raise StoreError(f"{file} {problem}; give another path")
