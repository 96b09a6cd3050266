"""Where faults happen."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.faults.children import Place, Places
from tests.faults.servers import Disk, NoDiskError, Postgres, disk_at, postgres_in


@pytest.fixture
def places(tmp_path: Path) -> Places:
    numbers = count()

    def place() -> Place:
        own = tmp_path / f"run{next(numbers)}"
        own.mkdir()
        return Place(str(own / "runs.sqlite"), own)

    return place


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
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


@pytest.fixture(params=["sqlite", "postgres"])
def make_place(request: pytest.FixtureRequest) -> Places:
    """Makes empty places in either kind of store."""
    sqlite = request.param == "sqlite"
    return request.getfixturevalue("places") if sqlite else request.getfixturevalue("postgres").place
