"""Where faults happen."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.killing import Places, sqlite_places
from tests.faults.servers import Disk, NoDiskError, Postgres, disk_at, postgres_in

_LONG = ("test_kill.py", "test_store.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what takes minutes, unless it is asked for."""
    long = [item for item in items if item.path.parent == Path(__file__).parent and item.path.name in _LONG]
    for item in [] if os.environ.get("FAULTS") else long:
        item.add_marker(pytest.mark.skip("takes minutes; set FAULTS=1"))


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """Places in SQLite."""
    return sqlite_places(tmp_path)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """A real PostgreSQL."""
    with postgres_in(tmp_path_factory.mktemp("postgres")) as server:
        yield server


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """A small file system."""
    try:
        with disk_at(tmp_path) as disk:
            yield disk
    except NoDiskError as error:
        pytest.skip(str(error))
