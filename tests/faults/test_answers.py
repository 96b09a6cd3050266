"""Two processes that go on with one run at the same moment: one of them does, and the other is told."""

import asyncio
import stat
import threading

import pytest

from orchestrator import ConfigurationError, StoreError
from orchestrator.persistence import open_store
from tests.fakes.executor import FakeExecutor
from tests.fakes.runs import build
from tests.faults.answers import answered_twice, resumed_twice
from tests.faults.tally import NONE

ELSEWHERE = "thread 'thread' is being run elsewhere"
LOST = "was lost, and with it the lock of thread 'thread'; resume the run|couldn't get a connection.* resume"
"""The sentence of a run whose connections were cut: of its lock, or of its pool."""


@pytest.mark.faults
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.sample), *range(1, 20)])
@pytest.mark.parametrize("twice", [answered_twice, resumed_twice])
def test_of_two_processes_that_answer_or_resume_one_run_one_does_and_the_other_is_told(
    make_place, twice, seed
):
    assert twice(make_place, seed) == NONE


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.thorough)])
def where(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "runs")
    return request.getfixturevalue("postgres").place().store


@pytest.fixture
def ours(where):
    with open_store(where) as store:
        yield store


@pytest.fixture
def theirs(where):
    with open_store(where) as store:
        yield store


def orchestrator_over(saver, *, during=lambda: None):
    """Something happens in the second of its three steps."""

    def act(step, context=""):
        if step == "two":
            during()
        return f"{step} done"

    return build(FakeExecutor(act), plan=["one", "two", "three"], checkpointer=saver)


def test_a_thread_that_runs_is_not_begun_again_over_another_connection_and_others_run_beside_it(ours, theirs):
    refused, beside = [], []

    def also():
        other = orchestrator_over(theirs.saver)
        beside.append(other.run("y", "other")["status"])
        for begin in (
            lambda: other.run("y", "thread"),
            lambda: other.resume("thread"),
            lambda: other.resume("thread", {"answer": "approve"}),
            lambda: next(other.stream("y", "thread")),
        ):
            with pytest.raises(ConfigurationError, match=ELSEWHERE) as caught:
                begin()
            refused.append(caught.value)

    state = orchestrator_over(ours.saver, during=also).run("x", "thread")

    assert (state["status"], len(state["results"]), len(refused), beside) == ("success", 3, 4, ["success"])


def test_a_run_that_nobody_follows_to_its_end_leaves_its_thread_to_others(ours, theirs):
    events = orchestrator_over(ours.saver).stream("x", "thread")
    next(events)
    events.close()

    assert orchestrator_over(theirs.saver).run("y", "thread", replace=True)["status"] == "success"


def test_a_run_whose_connections_were_cut_ends_and_is_resumed(postgres):
    where = postgres.place().store
    with open_store(where) as ours:
        with pytest.raises(StoreError, match=LOST):
            orchestrator_over(ours.saver, during=postgres.cut_idle).run("x", "thread")
        assert orchestrator_over(ours.saver).resume("thread")["status"] == "success"


def test_a_run_whose_thread_was_taken_over_while_its_connections_were_cut_ends(postgres):
    where = postgres.place().store
    with open_store(where) as ours, open_store(where) as theirs:

        def cut():
            postgres.cut_idle()
            assert theirs.saver.locks.acquire("thread", wait=True)

        with pytest.raises(StoreError, match=LOST):
            orchestrator_over(ours.saver, during=cut).run("x", "thread")


class SlowLocks:
    def __init__(self):
        self.held: set[str] = set()
        self.asked, self.may = threading.Event(), threading.Event()

    def acquire(self, thread_id, *, wait):
        self.asked.set()
        self.may.wait()
        self.held.add(thread_id)
        return True

    def release(self, thread_id):
        self.held.discard(thread_id)

    def is_locked(self, thread_id):
        return thread_id in self.held

    is_held = is_locked


async def test_a_run_that_is_cancelled_while_it_waits_for_its_thread_leaves_it(ours):
    saver = ours.saver
    saver.locks = SlowLocks()
    run = asyncio.ensure_future(orchestrator_over(saver).arun("x", "thread"))
    await asyncio.to_thread(saver.locks.asked.wait)
    run.cancel()
    asyncio.get_running_loop().call_later(0.01, saver.locks.may.set)
    with pytest.raises(asyncio.CancelledError):
        await run

    assert saver.locks.held == set()


def test_the_file_of_a_lock_is_as_private_as_the_store_and_goes_with_the_lock(tmp_path):
    with open_store(tmp_path / "runs") as store:
        (tmp_path / "runs").chmod(0o600)
        store.saver.locks.acquire("thread", wait=False)
        [file] = tmp_path.glob("runs-run-*")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        store.saver.locks.release("thread")

    assert not file.exists()


@pytest.mark.parametrize("thread_id", ["a\0b", "\ud800"])
def test_a_thread_that_no_database_can_hold_is_refused_before_anything_runs(ours, thread_id):
    orchestrator = orchestrator_over(ours.saver)
    for tell in (lambda: orchestrator.run("x", thread_id), lambda: orchestrator.resume(thread_id)):
        with pytest.raises(ConfigurationError, match="without NUL and surrogates"):
            tell()
    with pytest.raises(ConfigurationError, match="without NUL and surrogates"):
        ours.history.show(thread_id)
