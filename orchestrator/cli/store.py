"""The file in which runs are kept: found, made or refused before anything is written to it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final

from orchestrator.cli.errors import StoreError, StoreLostError
from orchestrator.cli.text import one_line

if TYPE_CHECKING:
    from orchestrator.cli.saver import RunSaver

_APPLICATION: Final = "plan-execute-monitor"
_FILE: Final = "runs.sqlite"
_HEADER: Final = b"SQLite format 3\0"
_TABLES: Final = frozenset({"checkpoints", "writes"})
_BUSY_S: Final = 60.0
"""How long a write waits for those of other processes."""


@dataclass(frozen=True, slots=True)
class Store:
    """An open store.

    Attributes:
        path: Its file.
        saver: Keeps runs in it.
    """

    path: Path
    saver: RunSaver

    def command_of(self, thread_id: str) -> Mapping[str, object]:
        """The options with which ``orchestrator run`` began a thread.

        Raises:
            StoreError: There is no such thread, it was begun otherwise, or it cannot be read.
        """
        with reading(self.path):
            kept = self.saver.get_tuple({"configurable": {"thread_id": thread_id}})
        if kept is None:
            raise StoreError(
                f"thread {thread_id!r:.80} is not in {shown(self.path)}; "
                "give the thread, and the --db, of a run"
            )
        command = self.saver.command_in(kept.metadata)
        if command is None:
            raise StoreError(
                f"thread {thread_id!r:.80} was not begun by `orchestrator run`; "
                "resume it in the program that began it"
            )
        return command


def default_path() -> Path:
    """The file in the user's data folder; nothing is made."""
    from platformdirs import user_data_path  # noqa: PLC0415 - by need

    return user_data_path(_APPLICATION, appauthor=False) / _FILE


@contextmanager
def open_store(path: str | None, command: Mapping[str, object] | None = None) -> Iterator[Store]:
    """Open the store at a path, or at the default one.

    Args:
        path: Of the file; None for the default.
        command: The options of the command that begins a run, which are kept with it, and for which the
            file is made where it is missing; None to go on with a run that is there.

    Raises:
        StoreError: The file is missing, cannot be opened or holds something else; it is as it was.
    """
    file = default_path() if path is None else Path(path)
    if command is not None:
        _make(file, folder=path is None)
    _check_header(file)
    with closing(_connected(file)) as connection:
        _check_tables(connection, file, new=command is not None)
        yield Store(file, _saver(connection, file, command or {}))


@contextmanager
def kept_in(path: Path, thread_id: str) -> Iterator[None]:
    """Say which file failed in the middle of a run.

    Raises:
        StoreLostError: In place of SQLite's error.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise StoreLostError(
            f"the run cannot be kept in {shown(path)} ({one_line(str(error))}); mend that, "
            f"then `{resume_command(thread_id, path)}` goes on from what is kept"
        ) from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Say which file cannot be read.

    Raises:
        StoreError: In place of what reading it raised.
    """
    try:
        yield
    except (sqlite3.Error, ValueError, NotImplementedError) as error:  # the last two: what is kept is broken
        said = one_line(str(error), 200)
        raise StoreError(
            f"{shown(path)} cannot be used as a store of runs ({said}); give another with --db"
        ) from error


def resume_command(thread_id: str, path: Path) -> str:
    """What is typed to go on with a run."""
    elsewhere = "" if path == default_path() else f" --db {quote(str(path))}"
    return one_line(f"orchestrator resume {quote(thread_id)}{elsewhere}", 5000)


def shown(path: Path) -> str:
    """A path as it is printed."""
    return one_line(str(path))


def _make(file: Path, *, folder: bool) -> None:
    """Make an empty file that only its user can read, since runs hold whatever their tasks are about."""
    try:
        if folder:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise StoreError(
            f"{shown(file)} cannot be written ({error.strerror}); give another file with --db, or --no-db"
        ) from error


def _check_header(file: Path) -> None:
    try:
        with file.open("rb") as opened:
            head = opened.read(len(_HEADER))
    except FileNotFoundError:
        raise StoreError(
            f"there is no {shown(file)}; give the file in which the run is kept with --db"
        ) from None
    except OSError as error:
        raise StoreError(
            f"{shown(file)} cannot be read ({error.strerror}); give another file with --db"
        ) from error
    if head not in (b"", _HEADER):
        raise StoreError(f"{shown(file)} is no SQLite database; give another file with --db")


def _connected(file: Path) -> sqlite3.Connection:
    # One that begins with the lock on writing waits for it; one that comes to it later is refused at once.
    with reading(file):
        return sqlite3.connect(
            f"{file.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=_BUSY_S,
            isolation_level="IMMEDIATE",
            check_same_thread=False,
        )


def _check_tables(connection: sqlite3.Connection, file: Path, *, new: bool) -> None:
    with reading(file):
        found = {
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
    if found >= _TABLES or (new and not found):
        return
    what = "is a database of another program" if found else "holds no runs"
    raise StoreError(f"{shown(file)} {what}; give another file with --db")


def _saver(connection: sqlite3.Connection, file: Path, command: Mapping[str, object]) -> RunSaver:
    from orchestrator.cli.saver import RunSaver  # noqa: PLC0415 - by need

    saver = RunSaver(connection, command)
    with reading(file):
        connection.execute("PRAGMA synchronous=FULL")
        saver.setup()
    return saver
