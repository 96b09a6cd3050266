"""Stores of every kind, each empty at the beginning of a test."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from orchestrator.persistence import Store, open_store


@dataclass(frozen=True)
class Backend:
    """A store that can be opened several times, also at once."""

    kind: str
    open: Callable[[], AbstractContextManager[Any]]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.thorough)])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    """Each kind of store in turn."""
    sqlite = request.param == "sqlite"
    where = tmp_path / "runs.sqlite" if sqlite else request.getfixturevalue("postgres_url")
    return Backend(request.param, lambda: open_store(where))


@pytest.fixture
def opened(backend: Backend) -> Iterator[Store]:
    with backend.open() as store:
        yield store
