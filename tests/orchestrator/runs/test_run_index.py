import random
import threading
import time
from types import SimpleNamespace

import psycopg
import pytest
from langgraph.checkpoint.postgres import PostgresSaver

from orchestrator import ConfigurationError, ResumeError, StoreError
from orchestrator.persistence import open_store
from tests.fakes.executor import FakeExecutor
from tests.fakes.interruption import interrupt_run
from tests.orchestrator.runs.test_runs import APPROVE, asking, build

KEY = "0123456789abcdef"
THREADS = tuple("abcdef")


ON_POSTGRES = [pytest.param(name, marks=pytest.mark.thorough) for name in ("postgres", "encrypted postgres")]


@pytest.fixture(params=["sqlite", "encrypted sqlite", *ON_POSTGRES])
def where(request, tmp_path):
    """The place of a store, and its key."""
    is_postgres = "postgres" in request.param
    place = request.getfixturevalue("postgres_url") if is_postgres else tmp_path / "runs.sqlite"
    return place, KEY if "encrypted" in request.param else None


@pytest.fixture
def opened(where):
    with open_store(where[0], encryption_key=where[1]) as store:
        yield store


def succeed(store, thread):
    build(store).run(f"bake {thread}", thread, replace=True)


def fail(store, thread):
    build(store, executor=FakeExecutor("out", ValueError("no"))).run(f"drop {thread}", thread, replace=True)


def ask(store, thread):
    asking(store).run(f"ask {thread}", thread, replace=True)


def cut_off(store, thread):
    interrupt_run(lambda executor: build(store, executor=executor), f"cut {thread}", f"{thread} cut", "two")


def answer(store, thread):
    asking(store).resume(thread, APPROVE)


def fork(store, thread):
    build(store).fork(thread, 1, f"{thread} forked")


WRITES = (succeed, fail, ask, cut_off, answer, answer, fork)


def change_store(chance, opened):
    """Does something to a thread, if the thread allows it."""
    thread = chance.choice(THREADS)
    if chance.random() < 0.15:
        names = [run.thread_id for run in opened.history.runs()]
        return opened.history.delete(chance.choice(names)) if names else None
    try:
        chance.choice(WRITES)(opened, thread)
    except (ConfigurationError, ResumeError, StoreError):
        return None


def read_all(history):
    names = [*THREADS, *(f"{name} {word}" for name in THREADS for word in ("cut", "forked"))]
    return [run for name in names if (run := history.find(name)) is not None]


def list_pages(history, **selection):
    cursor, runs = None, []
    while True:
        page = history.runs(limit=2, cursor=cursor, **selection)
        runs += page
        if (cursor := page.next) is None:
            return runs


def by_thread(runs):
    return sorted(runs, key=lambda run: run.thread_id)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2))])
def test_the_index_agrees_with_reading_every_run(opened, seed):
    chance = random.Random(seed)
    for _ in range(14):
        change_store(chance, opened)
        if chance.random() < 0.6:
            assert by_thread(opened.history.runs()) == by_thread(read_all(opened.history))

    runs = opened.history.runs()
    assert by_thread(runs) == by_thread(read_all(opened.history))
    assert list_pages(opened.history) == runs
    assert [run.updated for run in runs] == sorted((run.updated for run in runs), reverse=True)
    for status in ("success", "failed", "waiting", "interrupted", "executing"):
        assert list_pages(opened.history, status=status) == [run for run in runs if run.status == status]
    for task in ("BAKE", "k a", "drop"):
        assert opened.history.runs(task=task) == [run for run in runs if task.lower() in run.task]
    assert opened.history.runs(basis="judged") == [run for run in runs if run.basis == "judged"]


@pytest.mark.soak
@pytest.mark.parametrize("where", ["sqlite", ON_POSTGRES[0]], indirect=True)
def test_readers_and_runs_at_once_leave_no_row_out_of_date(opened):
    done = threading.Event()

    def read():
        while not done.is_set():
            opened.history.runs()

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for thread in THREADS:
        ask(opened, thread)
        answer(opened, thread)
    done.set()
    for reader in readers:
        reader.join()

    assert by_thread(opened.history.runs()) == by_thread(read_all(opened.history))


def test_a_run_under_way_is_listed_as_it_is_in_every_step(opened):
    listed = []

    def look(step, context):
        deadline = time.monotonic() + 20  # the checkpoint before the step may still be on its way
        while (runs := opened.history.runs()) != [opened.history.find("a")] and time.monotonic() < deadline:
            time.sleep(0.01)
        listed.append((runs[0].status, runs[0].steps_done, opened.history.runs() == runs))
        return f"{step} done"

    build(opened, ["one", "two", "three"], FakeExecutor(look, look, look)).run("bake a", "a")

    assert listed == [("executing", done, True) for done in range(3)]


def test_a_cursor_stays_at_its_place_while_runs_come_and_go(opened):
    for thread in "abcde":
        succeed(opened, thread)
    first = opened.history.runs(limit=2)
    succeed(opened, "new")
    succeed(opened, "e")
    opened.history.delete("d")
    rest = opened.history.runs(cursor=first.next)

    assert [run.thread_id for run in first] == ["e", "d"]
    assert [run.thread_id for run in rest] == ["c", "b", "a"]
    assert (first.next is None, rest.next) == (False, None)
    assert opened.history.runs(cursor=first.next, limit=3).next is None


def test_a_task_is_found_in_another_case_and_nul_is_in_none(opened):
    build(opened).run("here ß", "thread")

    assert [run.task for run in opened.history.runs(task="HERE SS")] == ["here ß"]
    assert opened.history.runs(task="\0") == []


def test_a_postgres_store_of_langgraphs_saver_gets_an_index_and_its_runs_go_on(postgres_url):
    with PostgresSaver.from_conn_string(postgres_url) as saver:
        saver.setup()
        succeed(SimpleNamespace(saver=saver), "a")
        asking(SimpleNamespace(saver=saver)).run("x", "b")
    with open_store(postgres_url, make=False) as store:
        listed = [(run.thread_id, run.status) for run in store.history.runs()]
        assert listed == [("b", "waiting"), ("a", "success")]
        asking(store).resume("b", APPROVE)
        state = asking(store).resume("b", APPROVE)
        assert (state["status"], store.history.show("b").state) == ("success", state)


def test_an_encrypted_index_has_no_text_in_the_clear(tmp_path):
    path = tmp_path / "runs.sqlite"
    with open_store(path, encryption_key=KEY) as store:
        build(store).run("a secret task", "thread")
        assert [run.thread_id for run in store.history.runs(task="SECRET")] == ["thread"]
    assert b"secret task" not in path.read_bytes()


def test_a_postgres_role_that_may_only_read_lists_runs(postgres_url):
    with open_store(postgres_url) as store:
        succeed(store, "a")
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("DROP ROLE IF EXISTS reader")
            connection.execute("CREATE ROLE reader LOGIN")
            connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    url = postgres_url.replace("postgres:@", "") + "&user=reader"
    with open_store(url, make=False) as store:
        assert [run.thread_id for run in store.history.runs()] == ["a"]
