import asyncio
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from procrastinate import App, PsycopgConnector
from typer.testing import CliRunner

from orchestrator import ConfigurationError
from orchestrator.cli.app import app
from orchestrator.queue import open_queue
from tests.orchestrator.queue.worker_app import STEPS
from tests.orchestrator.queue.workers import APP, APP_ONCE, fleet_on, is_each_effect_there_once


class Broken:
    async def arun_once(self, task, thread_id):
        raise RuntimeError("no disk of its own")


def test_a_thread_is_queued_once_however_often_it_is_submitted(bench):
    assert [bench.submit(), bench.submit()] == ["queued", "queued before"]
    assert bench.jobs() == {"todo": 1}


def test_a_queued_thread_is_not_queued_with_another_task_app_or_queue(bench, postgres_url, subtests):
    bench.submit()
    others = [(APP, "default", "Do nothing"), (APP_ONCE, "default", "Do all"), (APP, "nightly", "Do all")]
    for own, name, task in others:
        refused = pytest.raises(ConfigurationError, match="is queued with another task, app or queue; let")
        with subtests.test(task=task, app=own), open_queue([own], postgres_url, name) as queue, refused:
            queue.submit(task, "run")
    assert bench.jobs() == {"todo": 1}


def test_tables_are_created_once_by_queues_that_are_opened_at_the_same_moment(postgres_url):
    def submit(number):
        with open_queue([APP], postgres_url) as queue:
            return queue.submit("Do all", f"run{number}").status

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(submit, range(4))] == ["queued"] * 4


async def test_a_run_is_executed_once_also_if_it_is_queued_twice(bench):
    bench.submit()
    bench.submit_unchecked()
    async with bench.working():
        await bench.reach(lambda: not bench.jobs())

    assert bench.submit() == "success"
    assert bench.reports == ["success: run"] * 2
    assert len(bench.effects()) == STEPS


async def test_a_job_whose_thread_has_a_run_of_another_task_fails(bench, caplog):
    bench.submit()
    bench.submit_unchecked(task="Do nothing")
    async with bench.working():
        await bench.reach(lambda: bench.jobs() == {"failed": 1})

    assert "the thread has a run of another task; submit this one with another name" in caplog.text
    with pytest.raises(ConfigurationError, match="has a run of another task"):
        bench.submit(task="Do nothing")


async def test_a_job_whose_run_is_executed_elsewhere_is_executed_later(bench):
    locks = bench.queue.store.saver.locks
    bench.submit()
    assert locks.acquire("run", wait=False)
    async with bench.working():
        await bench.reach(lambda: "later: run: thread 'run' is being run" in "".join(bench.reports))
        assert bench.effects() == []
        locks.release("run")
        await bench.reach(lambda: bench.status() == "success")

    assert len(bench.effects()) == STEPS


@pytest.mark.thorough
async def test_a_job_for_another_app_waits_for_a_worker_that_has_it(bench):
    bench.submit_unchecked(app=APP_ONCE)
    async with bench.working():
        await bench.reach(lambda: f"later: run: it needs a worker with --app {APP_ONCE}" in bench.reports)
    (orchestrator,) = bench.queue.apps.values()
    async with bench.working(replace(bench.queue, apps={APP_ONCE: orchestrator})):
        await bench.reach(lambda: bench.status() == "success")


async def test_a_job_that_raises_fails_with_its_reason_and_can_be_submitted_again(bench, caplog):
    bench.submit()
    async with bench.working(replace(bench.queue, apps={APP: Broken()})):
        await bench.reach(lambda: bench.jobs() == {"failed": 1})

    assert "RuntimeError: no disk of its own" in caplog.text
    assert bench.submit() == "queued"


async def test_a_worker_that_is_stopped_lets_its_runs_end_and_takes_no_other(bench, monkeypatch):
    monkeypatch.setenv("EFFECT_S", "0.3")
    bench.submit()
    async with bench.working(concurrency=1):
        await bench.reach(lambda: len(bench.effects()) == 1)
        bench.submit("second")

    assert (bench.status(), bench.status("second")) == ("success", None)
    assert bench.jobs() == {"todo": 1}


async def test_runs_that_do_not_end_in_time_are_resumed_by_another_worker(bench, monkeypatch):
    monkeypatch.setenv("EFFECT_S", "0.3")
    bench.submit()
    async with bench.working(grace_s=0.0):
        await bench.reach(lambda: len(bench.effects()) == 1)
    assert (bench.status(), bench.jobs()) == ("interrupted", {"todo": 1})

    async with bench.working():
        await bench.reach(lambda: bench.status() == "success")
    assert len(bench.effects()) == STEPS


async def test_a_run_whose_job_is_aborted_ends_as_cancelled(bench, monkeypatch):
    monkeypatch.setenv("EFFECT_S", "0.5")
    bench.submit()
    async with bench.working():
        await bench.reach(lambda: len(bench.effects()) == 1)
        (job,) = bench.queue.jobs.job_manager.list_jobs(lock="run")
        bench.queue.jobs.job_manager.cancel_job_by_id(job.id, abort=True)
        await bench.reach(lambda: bench.jobs() == {"aborted": 1})

    assert bench.queue.store.history.show("run").state["failure"]["kind"] == "cancelled"


async def test_the_run_of_a_dead_worker_goes_on_in_another(bench, postgres_url):
    bench.submit()
    async with App(connector=PsycopgConnector(conninfo=postgres_url)).open_async() as dead:
        worker = await dead.job_manager.register_worker()
        await dead.job_manager.fetch_job(queues=None, worker_id=worker)
        await dead.job_manager.unregister_worker(worker)
    assert bench.jobs() == {"doing": 1}
    async with bench.working():
        await bench.reach(lambda: bench.status() == "success")

    assert len(bench.effects()) == STEPS


def test_the_command_works_until_it_is_told_to_end(bench, postgres_url):
    bench.submit()
    before = signal.signal(signal.SIGTERM, lambda *_: None)  # the default would end the tests

    async def end() -> None:
        try:
            await bench.reach(lambda: not bench.jobs())
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    try:
        with ThreadPoolExecutor(1) as pool:
            ending = pool.submit(asyncio.run, end())
            ended = CliRunner().invoke(app, ["worker", "--db", postgres_url, "--app", APP])
            ending.result()
    finally:
        signal.signal(signal.SIGTERM, before)

    assert (ended.exit_code, bench.status()) == (0, "success")


RUNS = 6


@pytest.mark.thorough
def test_the_runs_of_a_killed_worker_go_on_in_another_and_every_effect_happens_once(postgres_url, tmp_path):
    with fleet_on(postgres_url, tmp_path / "fleet") as fleet:
        fleet.submit(RUNS)
        killed = fleet.start("--concurrency", "3")
        fleet.wait(lambda: fleet.effects().total() >= 3)
        other = fleet.start("--concurrency", "3")
        killed.kill()
        fleet.wait_for_ends(RUNS)
        other.send_signal(signal.SIGTERM)

        assert is_each_effect_there_once(fleet, RUNS)
        assert other.wait(60) == 0
