"""The file in which runs are kept."""

import sqlite3
import stat
import sys
from pathlib import Path

import pytest

from orchestrator.cli.options.run_options import RunOptions
from orchestrator.cli.session.stored_options import open_store, restore_options
from orchestrator.cli.view.questions import format_command
from orchestrator.errors import StoreError
from orchestrator.persistence.store import default_path


@pytest.fixture
def made(tmp_path):
    """A store that holds nothing."""
    path = tmp_path / "runs.sqlite"
    with open_store(str(path), RunOptions()):
        pass
    return path


def pragma(connection, name):
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def test_several_processes_can_use_it_and_what_was_written_outlives_a_power_cut(tmp_path):
    with open_store(str(tmp_path / "runs.sqlite"), RunOptions()) as store:
        connection = store.saver.conn

        assert pragma(connection, "journal_mode") == "wal"
        assert pragma(connection, "busy_timeout") == 60_000
        assert pragma(connection, "synchronous") == 2  # FULL


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
def test_only_its_user_can_read_it(environment):
    with open_store(None, RunOptions()) as store:
        assert stat.S_IMODE(Path(store.where).stat().st_mode) == 0o600
        assert stat.S_IMODE(Path(store.where).parent.stat().st_mode) == 0o700


def test_it_is_in_the_data_folder_unless_told_otherwise(environment, tmp_path):
    assert default_path() == tmp_path / "data" / "plan-execute-monitor" / "runs.sqlite"


@pytest.mark.parametrize("name", ["a b.sqlite", "what?.sqlite", "100%25.sqlite", "hash#.sqlite", ":memory:"])
def test_any_name_of_a_file_will_do(tmp_path, name):
    with open_store(str(tmp_path / name), RunOptions()):
        pass

    assert (tmp_path / name).read_bytes().startswith(b"SQLite format 3")


def test_the_command_that_goes_on_quotes_what_a_shell_would_take_apart(environment, tmp_path):
    path = tmp_path / "it's mine"

    assert (
        format_command("resume", "a;b", str(path))
        == f"orchestrator resume 'a;b' --db '{tmp_path}/it'\"'\"'s mine'"
    )


def test_an_empty_file_holds_nothing_to_resume(tmp_path):
    path = tmp_path / "runs.sqlite"
    path.touch()

    with pytest.raises(StoreError, match="holds no runs"), open_store(str(path)):
        pass

    assert path.read_bytes() == b""


def test_a_checkpoint_that_cannot_be_read_is_one_sentence(made):
    with sqlite3.connect(made) as connection:
        connection.execute("INSERT INTO checkpoints VALUES ('t', '', '1', NULL, 'msgpack', x'c1', '{}')")

    with open_store(str(made)) as store, pytest.raises(StoreError, match="holds a value that is broken"):
        restore_options(store, "t", {})


def test_a_store_that_fails_while_it_is_read_is_one_sentence(made):
    with open_store(str(made)) as store:
        store.saver.conn.execute("DROP TABLE checkpoints")
        with pytest.raises(StoreError, match=r"failed \(no such table: checkpoints\); fix that"):
            restore_options(store, "t", {})
