"""Where faults happen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.killing import Places, sqlite_places
from tests.faults.servers import Disk, NoDiskError, Postgres, disk_at, postgres_in


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
