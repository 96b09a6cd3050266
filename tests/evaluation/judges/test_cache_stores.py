"""Where answers are kept."""

from __future__ import annotations

import pickle
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from evaluation.errors import ContractError
from evaluation.judges.cache import FileStore, MemoryStore

WRITER = """
import sys
from evaluation.judges.cache import FileStore
store = FileStore(sys.argv[1])
for at in range(100):
    store.set(f"{sys.argv[2]}-{at}", "x" * 100)
    store.set("shared", sys.argv[2])
"""


@pytest.fixture(params=["memory", "file"])
def store(request, tmp_path):
    return MemoryStore() if request.param == "memory" else FileStore(tmp_path / "deep" / "answers.sqlite")


def test_what_was_not_kept_is_not_there(store):
    assert store.get("a") is None


def test_the_last_text_of_a_key_is_kept(store):
    store.set("a", "one")
    store.set("b", "other")
    store.set("a", "two \N{SNOWMAN}")
    assert (store.get("a"), store.get("b")) == ("two \N{SNOWMAN}", "other")


def test_threads_may_use_it_at_once(store):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda at: store.set(str(at), str(at)), range(100)))
    assert [store.get(str(at)) for at in range(100)] == [str(at) for at in range(100)]


def test_memory_forgets_what_was_not_used_for_the_longest():
    store = MemoryStore(max_entries=2)
    store.set("a", "1")
    store.set("b", "2")
    store.get("a")
    store.set("c", "3")
    assert [store.get(key) for key in "abc"] == ["1", None, "3"]


def test_writing_counts_as_use():
    store = MemoryStore(max_entries=2)
    store.set("a", "1")
    store.set("b", "2")
    store.set("a", "3")
    store.set("c", "4")
    assert [store.get(key) for key in "abc"] == ["3", None, "4"]


def test_memory_for_nothing_is_refused():
    with pytest.raises(ContractError, match="at least 1"):
        MemoryStore(max_entries=0)


def test_a_file_outlives_who_wrote_it(tmp_path):
    FileStore(tmp_path / "answers").set("a", "one")
    assert FileStore(str(tmp_path / "answers")).get("a") == "one"


def test_processes_may_write_to_a_file_at_once(tmp_path):
    path = tmp_path / "answers.sqlite"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in "ab"]
    assert [writer.wait(120) for writer in writers] == [0, 0]
    store = FileStore(path)
    assert all(store.get(f"{name}-{at}") == "x" * 100 for name in "ab" for at in range(100))
    assert store.get("shared") in {"a", "b"}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_a_file_is_for_its_owner_only(tmp_path):
    FileStore(tmp_path / "answers").set("a", "one")
    assert stat.S_IMODE((tmp_path / "answers").stat().st_mode) == 0o600


def test_a_file_store_goes_to_other_processes(tmp_path):
    store = pickle.loads(pickle.dumps(FileStore(tmp_path / "answers")))
    store.set("a", "one")
    assert store.get("a") == "one"


def test_a_file_that_is_something_else_is_told(tmp_path):
    (tmp_path / "answers").write_text("this is no database, and it is long enough to be seen as none")
    with pytest.raises(sqlite3.DatabaseError):
        FileStore(tmp_path / "answers").get("a")
