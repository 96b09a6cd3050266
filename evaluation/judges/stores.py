"""Where cached answers are kept: in memory, or in a file that processes share."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import Final, Protocol

from evaluation.errors import ContractError

_WAIT_S: Final = 30.0
_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID"
)


class AnswerStore(Protocol):
    """Keeps texts by key. It may forget any of them, and be asked by several threads at once."""

    def get(self, key: str) -> str | None:
        """Give the text; None where there is none."""
        ...

    def set(self, key: str, value: str) -> None:
        """Keep the text, in place of an earlier one."""
        ...


class MemoryStore:
    """Keeps the texts that were used last, in this process.

    Args:
        max_entries: How many, at least 1.

    Raises:
        ContractError: ``max_entries`` is less than 1.
    """

    def __init__(self, max_entries: int = 1024) -> None:
        if max_entries < 1:
            raise ContractError(f"max_entries is {max_entries}; give at least 1")
        self._max_entries = max_entries
        self._kept: OrderedDict[str, str] = OrderedDict()
        self._lock = Lock()

    def get(self, key: str) -> str | None:
        """Give the text, and count it as used."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def set(self, key: str, value: str) -> None:
        """Keep the text; the one that was not used for the longest goes, where there are too many."""
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            if len(self._kept) > self._max_entries:
                self._kept.popitem(last=False)


class FileStore:
    """Keeps texts in an SQLite file, for any number of threads and processes at once.

    The file holds judges' answers as they were given, which may quote what they judged; it is made readable
    for its owner only.

    Args:
        path: The file; it and its folders are made when they are missing.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    def get(self, key: str) -> str | None:
        """Give the text.

        Raises:
            OSError, sqlite3.Error: The file cannot be used.
        """
        with self._opened() as database:
            row = database.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def set(self, key: str, value: str) -> None:
        """Keep the text; raises as ``get`` does."""
        with self._opened() as database:
            database.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, value))

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Connect anew each time: a connection belongs to one thread of one process."""
        if not self._path.exists():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.touch(mode=0o600)
        with closing(sqlite3.connect(self._path, timeout=_WAIT_S)) as database, database:
            database.execute(_TABLE)
            yield database
