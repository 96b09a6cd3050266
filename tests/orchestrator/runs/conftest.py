"""Stores of every kind, each empty at the beginning of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from orchestrator.persistence import History, open_store


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
