"""Workers that are stopped, and runs that are cancelled."""

import pytest

from tests.orchestrator.queue.worker_app import STEPS


async def test_a_worker_that_is_stopped_lets_its_runs_end_and_takes_no_other(bench, monkeypatch):
    monkeypatch.setenv("EFFECT_S", "0.3")
    async with bench.working(bench.worker(concurrency=1)):
        bench.submit()
        await bench.reach(lambda: bench.count()["running"] == 1)
        bench.submit("second")

    assert (bench.status(), bench.status("second")) == ("success", None)
    assert bench.count() == {"waiting": 1, "delayed": 0, "running": 0, "failed": 0}


@pytest.mark.thorough
async def test_runs_that_do_not_end_in_time_are_resumed_by_another_worker_at_once(bench, monkeypatch):
    monkeypatch.setenv("EFFECT_S", "0.3")
    bench.submit()
    async with bench.working(bench.worker(grace_s=0.0)):
        await bench.reach(lambda: len(bench.effects()) == 1)
    assert bench.status() == "interrupted"

    async with bench.working():
        await bench.reach(lambda: bench.status() == "success")
    assert len(bench.effects()) == STEPS


async def test_a_worker_is_counted_while_it_works_and_forgotten_when_it_ends(bench):
    async with bench.working():
        await bench.reach(lambda: bench.queue.read_status().workers == 1)

    assert bench.queue.read_status().workers == 0


def test_a_waiting_run_that_is_cancelled_leaves_the_queue(bench):
    bench.submit()

    assert bench.queue.cancel("run")
    assert not bench.queue.cancel("run")
    assert bench.count().total() == 0


@pytest.mark.thorough
async def test_a_run_that_a_worker_executes_is_cancelled_from_elsewhere(bench, monkeypatch):
    monkeypatch.setenv("EFFECT_S", "0.5")
    bench.submit()
    async with bench.working():
        await bench.reach(lambda: len(bench.effects()) == 1)
        assert bench.queue.cancel("run")
        await bench.reach(lambda: bench.status() == "failed")

        await bench.reach(lambda: not bench.count().total())

    state = bench.queue.store.history.show("run").state
    assert state["failure"]["kind"] == "cancelled"


@pytest.mark.thorough
async def test_an_interrupted_run_that_is_cancelled_is_ended_by_the_next_worker(bench, monkeypatch):
    monkeypatch.setenv("EFFECT_S", "0.3")
    bench.submit()
    async with bench.working(bench.worker(grace_s=0.0)):
        await bench.reach(lambda: len(bench.effects()) == 1)
    assert bench.queue.cancel("run")
    assert bench.queue.cancel("run")
    assert bench.submit().status == "being cancelled"

    async with bench.working():
        await bench.reach(lambda: bench.status() == "failed")
    assert bench.queue.store.history.show("run").state["failure"]["kind"] == "cancelled"


@pytest.mark.thorough
@pytest.mark.parametrize("times", [1, 3])
async def test_arun_once_executes_a_run_once(bench, times):
    app = next(iter(bench.worker().apps.values()))
    states = [await app.arun_once("Do all", "run") for _ in range(times)]

    assert {state["status"] for state in states} == {"success"}
    assert all(state == states[0] for state in states)
    assert len(bench.effects()) == STEPS
