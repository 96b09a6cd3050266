"""The file in which runs are kept."""

import os
import sqlite3
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver

from orchestrator.cli.store import command_of, open_store
from orchestrator.cli.view.question import resume_command
from orchestrator.errors import StoreError
from orchestrator.persistence.store import default_path


@pytest.fixture
def made(tmp_path):
    """A store that holds nothing."""
    path = tmp_path / "runs.sqlite"
    with open_store(str(path), {}):
        pass
    return path


def pragma(connection, name):
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def test_several_processes_can_use_it_and_what_was_written_outlives_a_power_cut(tmp_path):
    with open_store(str(tmp_path / "runs.sqlite"), {}) as store:
        connection = store.saver.conn

        assert pragma(connection, "journal_mode") == "wal"
        assert pragma(connection, "busy_timeout") == 60_000
        assert pragma(connection, "synchronous") == 2  # FULL


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
def test_only_its_user_can_read_it(environment):
    with open_store(None, {}) as store:
        assert stat.S_IMODE(Path(store.where).stat().st_mode) == 0o600
        assert stat.S_IMODE(Path(store.where).parent.stat().st_mode) == 0o700


def test_it_is_in_the_data_folder_unless_told_otherwise(environment, tmp_path):
    assert default_path() == tmp_path / "data" / "plan-execute-monitor" / "runs.sqlite"


@pytest.mark.parametrize("name", ["a b.sqlite", "what?.sqlite", "100%25.sqlite", "hash#.sqlite", ":memory:"])
def test_any_name_of_a_file_will_do(tmp_path, name):
    with open_store(str(tmp_path / name), {}):
        pass

    assert (tmp_path / name).read_bytes().startswith(b"SQLite format 3")


def test_a_store_that_langgraph_made_is_taken(tmp_path):
    path = tmp_path / "runs.sqlite"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        saver.setup()

    with open_store(str(path)) as store:
        assert store.where == str(path)


def test_the_command_that_goes_on_quotes_what_a_shell_would_take_apart(environment, tmp_path):
    path = tmp_path / "it's mine"

    assert resume_command("a;b", str(path)) == f"orchestrator resume 'a;b' --db '{tmp_path}/it'\"'\"'s mine'"


def other_program(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE accounts (name TEXT)")


def broken(path):
    with open_store(str(path), {}):
        pass
    content = bytearray(path.read_bytes())
    content[100:4096] = b"\xff" * (4096 - 100)
    path.write_bytes(content)


REFUSED = {
    "no database": (lambda path: path.write_text("a text"), "is no SQLite database"),
    "another program's": (other_program, "is a database of another program"),
    "broken": (broken, "cannot be used as a store"),
}


@pytest.mark.parametrize("new", [True, False], ids=["run", "resume"])
@pytest.mark.parametrize("content", REFUSED)
def test_a_file_that_holds_something_else_is_refused_and_stays_as_it_was(tmp_path, content, new):
    path = tmp_path / "file"
    fill, sentence = REFUSED[content]
    fill(path)
    before = path.read_bytes()

    with pytest.raises(StoreError, match=sentence), open_store(str(path), {} if new else None):
        pass

    assert path.read_bytes() == before


def test_a_file_that_is_missing_is_not_made_to_resume_from(tmp_path):
    path = tmp_path / "runs.sqlite"

    with pytest.raises(StoreError, match=f"there is no {path}; give the path"), open_store(str(path)):
        pass

    assert not path.exists()


def test_an_empty_file_holds_nothing_to_resume(tmp_path):
    path = tmp_path / "runs.sqlite"
    path.touch()

    with pytest.raises(StoreError, match="holds no runs"), open_store(str(path)):
        pass

    assert path.read_bytes() == b""


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("folder/runs.sqlite", r"cannot be written \(No such file or directory\)"), (".", "is no file")],
)
def test_a_file_that_cannot_be_made_is_one_sentence(tmp_path, name, sentence):
    with pytest.raises(StoreError, match=sentence), open_store(str(tmp_path / name), {}):
        pass


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written_is_one_sentence(made):
    made.chmod(0o400)

    with pytest.raises(StoreError, match="Permission denied"), open_store(str(made), {}):
        pass


def test_a_checkpoint_that_cannot_be_read_is_one_sentence(made):
    with sqlite3.connect(made) as connection:
        connection.execute("INSERT INTO checkpoints VALUES ('t', '', '1', NULL, 'msgpack', x'c1', '{}')")

    with open_store(str(made)) as store, pytest.raises(StoreError, match="holds a value that is broken"):
        command_of(store, "t")


def test_a_store_that_fails_while_it_is_read_is_one_sentence(made):
    with open_store(str(made)) as store:
        store.saver.conn.execute("DROP TABLE checkpoints")
        with pytest.raises(
            StoreError, match=r"failed \(no such table: checkpoints\); mend that, or give another path"
        ):
            command_of(store, "t")


@dataclass
class Crafted:
    """Stands for any class that a crafted file may name."""

    name: str


def test_what_is_read_builds_nothing_but_plain_values(made):
    with open_store(str(made)) as store:
        kept = store.saver.serde.dumps_typed(Crafted("touched"))

        assert store.saver.serde.loads_typed(kept) == {"name": "touched"}
