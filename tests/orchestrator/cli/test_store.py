"""The file in which runs are kept."""

import stat
import sys
from pathlib import Path

import pytest

from orchestrator.cli.options.run_options import RunOptions
from orchestrator.cli.session.stored_options import open_store, restore_options
from orchestrator.errors import StoreError


@pytest.fixture
def made(tmp_path):
    """A store that holds nothing."""
    path = tmp_path / "runs.sqlite"
    with open_store(str(path), RunOptions()):
        pass
    return path


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
def test_only_its_user_can_read_it(environment):
    with open_store(None, RunOptions()) as store:
        assert stat.S_IMODE(Path(store.where).stat().st_mode) == 0o600
        assert stat.S_IMODE(Path(store.where).parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("name", ["a b.sqlite", "what?.sqlite", "100%25.sqlite", "hash#.sqlite", ":memory:"])
def test_any_name_of_a_file_will_do(tmp_path, name):
    with open_store(str(tmp_path / name), RunOptions()):
        pass

    assert (tmp_path / name).read_bytes().startswith(b"SQLite format 3")


def test_an_empty_file_holds_nothing_to_resume(tmp_path):
    path = tmp_path / "runs.sqlite"
    path.touch()

    with pytest.raises(StoreError, match="holds no runs"), open_store(str(path)):
        pass

    assert path.read_bytes() == b""


def test_a_store_that_fails_while_it_is_read_is_one_sentence(made):
    with open_store(str(made)) as store:
        store.saver.conn.execute("DROP TABLE checkpoints")
        with pytest.raises(StoreError, match=r"failed \(no such table: checkpoints\); fix that"):
            restore_options(store, "t", {})
