import shutil
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from orchestrator import BrokenRunError, StoreError, StoreLostError
from orchestrator.persistence import open_store
from orchestrator.state.graph_state import SCHEMA_VERSION
from orchestrator.study.recorded_trials import read_trials
from tests.fakes.executor import FakeExecutor
from tests.fakes.runs import build as build_run
from tests.fakes.supervision import SpeakingExecutor

APPROVE = {"answer": "approve"}


def build(saver, executor=None, **options):
    return build_run(executor, checkpointer=saver, **options)


def asking(saver):
    return build(saver, SpeakingExecutor(), supervision="human")


def other_program(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()


def corrupt(path):
    path.write_bytes(b"SQLite format 3\0" + b"broken" * 200)


def test_without_a_path_the_store_is_in_the_users_data_folder_and_only_the_user_can_read_it(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with open_store() as store:
        state = build(store.saver).run("x", "thread")
    path = Path(store.where)
    with open_store(store.where) as store:
        assert store.history.show("thread").state == state

    assert path == tmp_path / "plan-execute-monitor" / "runs.sqlite"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_store_in_memory_is_refused_and_makes_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(StoreError, match="names no file"), open_store(":memory:"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("fill", "sentence"),
    [
        (lambda path: path.write_text("dear diary"), r"cannot be used as a store \(file is not a database\)"),
        (other_program, "is a database of another program"),
        (corrupt, "cannot be used as a store"),
    ],
)
@pytest.mark.parametrize("make", [True, False])
def test_a_file_of_another_kind_is_refused_and_stays_as_it_was(tmp_path, fill, sentence, make):
    path = tmp_path / "file"
    fill(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=sentence), open_store(path, make=make):
        pass

    assert (path.read_bytes(), list(tmp_path.iterdir())) == (before, [path])


def test_reading_leaves_a_store_as_it_was(tmp_path):
    path = tmp_path / "runs.sqlite"
    with open_store(path) as store:
        asking(store.saver).run("x", "thread")
    before = path.read_bytes(), set(tmp_path.iterdir())
    with open_store(path, make=False) as store:
        store.history.runs()
        store.history.show("thread")
        with pytest.raises(StoreError):
            store.history.show("nothing")

    assert (path.read_bytes(), set(tmp_path.iterdir())) == before


def test_several_that_make_a_store_at_once_make_one(tmp_path):
    def run(number):
        with open_store(tmp_path / "runs.sqlite") as store:
            return build(store.saver).run("x", f"thread {number}")["status"]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, range(8))) == ["success"] * 8
    with open_store(tmp_path / "runs.sqlite") as store:
        assert len(store.history.runs()) == 8


def test_a_second_connection_of_a_process_leaves_the_file_locked_for_other_processes(tmp_path):
    path = tmp_path / "runs.sqlite"
    script = f"import sqlite3; sqlite3.connect({str(path)!r}).execute('SELECT count(*) FROM writes').close()"
    with open_store(path) as store:
        build(store.saver).run("x", "thread")
        with open_store(path):
            pass
        [*read_trials([path])]
        # The last process that closes a database deletes its log.
        subprocess.run([sys.executable, "-c", script], check=True)
        assert path.with_name("runs.sqlite-wal").exists()
        build(store.saver).run("y", "later")
    with open_store(path) as store:
        assert {each.thread_id for each in store.history.runs()} == {"thread", "later"}


# PostgreSQL


def test_a_database_without_runs_is_not_changed_by_reading(postgres_url):
    with pytest.raises(StoreError, match="holds no runs"), open_store(postgres_url, make=False):
        pass
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT * FROM pg_tables WHERE schemaname = 'public'").fetchall() == []


def test_a_database_that_cannot_be_reached_is_one_sentence_without_its_password(subtests):
    for url in [
        "postgresql://ada:s3cret@127.0.0.1:1/runs",
        "postgresql://127.0.0.1:1/runs?user=ada&password=s3cret",
        "postgresql://ada:s3cret%zz@127.0.0.1/runs",
        "postgresql://ada:s3cret@127.0.0.1:port/runs",
        "postgresql://ada:s3cret@127.0.0.1/runs?nonsense=s3cret",
        "postgres://ada:x@s3cret@127.0.0.1:1/runs",
        "postgresql://ada:s3cret?x@127.0.0.1:1/runs",
        "postgresql://ada:x/s3cret@127.0.0.1:1/runs",
        "mysql://ada:s3cret@127.0.0.1:1/runs",
        "host=127.0.0.1 dbname=runs user=ada password=s3cret",
    ]:
        with subtests.test(url=url):
            with pytest.raises(StoreError) as raised, open_store(url):
                pass
            said = str(raised.value)

            assert ("s3c" not in said, "\n" not in said, "; " in said) == (True, True, True)
            assert raised.value.__cause__ is None


def test_the_url_that_is_shown_names_the_same_database(postgres_url):
    bare = postgres_url.replace("postgres:@", "")
    with open_store(f"{bare}&user=postgres&password=s3cret") as store:
        build(store).run("x", "thread")
        shown = store.where
    with open_store(shown) as store:
        assert store.history.find("thread") is not None
    assert "s3cret" not in shown


def test_a_run_goes_on_after_its_connections_were_cut(postgres_url):
    with open_store(postgres_url) as store:
        orchestrator = asking(store.saver)
        orchestrator.run("x", "thread")
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        orchestrator.resume("thread", APPROVE)

        assert orchestrator.resume("thread", APPROVE)["status"] == "success"


# What fails


def test_of_a_write_that_fails_nothing_is_kept(tmp_path):
    path = tmp_path / "runs.sqlite"
    with open_store(path) as store:
        saver = store.saver
        saver.conn.execute(
            "CREATE TRIGGER full BEFORE INSERT ON writes WHEN NEW.channel = 'second' "
            "BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
        )
        place = {"configurable": {"thread_id": "thread", "checkpoint_ns": "", "checkpoint_id": "1"}}
        with pytest.raises(StoreLostError, match=r"runs.sqlite failed \(the disk is full\)"):
            saver.put_writes(place, [("first", 1), ("second", 2)], "task")

        assert saver.conn.execute("SELECT count(*) FROM writes").fetchone() == (0,)


def test_a_lock_file_that_is_removed_as_it_is_locked_is_made_again(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")  # Windows has none
    lock = fcntl.lockf

    def lose_file(*args):
        monkeypatch.setattr(fcntl, "lockf", lock)
        next(tmp_path.glob("*-run-*")).unlink()
        return lock(*args)

    with open_store(tmp_path / "runs.sqlite") as store:
        monkeypatch.setattr(fcntl, "lockf", lose_file)

        assert store.saver.locks.acquire("thread", wait=False)
        assert len([*tmp_path.glob("*-run-*")]) == 1
        store.saver.locks.release("thread")


# Runs that were stored earlier go on; the file is as it was made


FOLDER = Path(__file__).parents[2] / "data" / "stored"


@pytest.fixture
def store(tmp_path):
    path = shutil.copy(FOLDER / f"version_{SCHEMA_VERSION}.sqlite", tmp_path)
    with open_store(path, make=False) as opened:
        yield opened


def build_stored(store, executor, **options):
    return build_run(executor, plan=("never", "planned"), checkpointer=store.saver, **options)


def results(state):
    return [(record["step"], record["attempt"], record["status"]) for record in state["results"]]


def test_a_stored_run_that_waits_is_answered(store):
    orchestrator = build_stored(store, SpeakingExecutor(), supervision="human")
    while (state := orchestrator.resume("waiting", APPROVE))["status"] == "executing":
        pass

    assert (state["status"], [record["step"] for record in state["results"]]) == ("success", ["one", "two"])


def test_a_stored_run_whose_steps_an_earlier_version_executes_side_by_side_is_refused(store, subtests):
    thread = "waiting side by side"
    orchestrator = build_stored(store, SpeakingExecutor(), supervision="human")
    for refused in (
        lambda: store.history.show(thread),
        lambda: orchestrator.resume(thread, APPROVE),
        lambda: orchestrator.fork(thread, 0, "new"),
        lambda: orchestrator.cancel(thread),
    ):
        with (
            subtests.test(refused=refused),
            pytest.raises(BrokenRunError, match=r"side by side.*use the version that began the run"),
        ):
            refused()


def test_a_stored_run_that_was_cut_off_goes_on(store):
    executor = FakeExecutor()
    state = build_stored(store, executor).resume("cut off")

    assert (state["status"], [call.step for call in executor.calls]) == ("success", ["two"])
    assert results(state) == [("one", 1, "failed"), ("one", 2, "validated"), ("two", 1, "validated")]
