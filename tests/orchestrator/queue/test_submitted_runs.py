"""Runs that workers execute, also after a worker was killed."""

import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from orchestrator import ConfigurationError
from orchestrator.queue import open_queue
from tests.orchestrator.queue.worker_app import STEPS
from tests.orchestrator.queue.workers import APP, APP_ONCE, fleet_on, is_each_effect_there_once

ADD = """
    INSERT INTO orchestrator_jobs (thread_id, queue, app, task, start_at)
    VALUES (?, ?, ?, ?, now())
"""


class Broken:
    async def arun_once(self, task, thread_id):
        raise RuntimeError("no disk of its own")

    def interrupt(self):
        pass


def test_a_thread_is_queued_once_however_often_it_is_submitted(bench):
    statuses = [bench.submit().status, bench.submit().status]

    assert statuses == ["queued", "queued before"]
    assert bench.count()["waiting"] == 1


def test_a_queued_thread_is_not_queued_with_another_task_app_or_queue(bench, postgres_url, subtests):
    bench.submit()
    for change, sentence in [
        ({"task": "Do nothing"}, r"is queued with another task \('Do all'\); let it end, cancel it"),
        ({"app": APP_ONCE}, f"is queued with another app \\('{APP}'\\)"),
        ({"queue": "nightly"}, r"is queued with another queue \('default'\)"),
        ({"task": "Do nothing", "app": APP_ONCE}, "with another task and another app"),
    ]:
        given = {"task": "Do all", "app": APP, "queue": "default", **change}
        refused = pytest.raises(ConfigurationError, match=sentence)
        with subtests.test(change=change), open_queue(postgres_url, given["queue"]) as opened, refused:
            opened.submit(given["task"], app=given["app"], thread_id="run")
    assert bench.count()["waiting"] == 1


def test_of_submissions_at_the_same_moment_one_is_queued_and_the_others_are_told(bench):
    def try_task(task: str) -> str:
        try:
            return bench.submit(task=task).status
        except ConfigurationError:
            return "refused"

    with ThreadPoolExecutor(8) as pool:
        statuses = Counter(pool.map(try_task, ["Do all", "Do nothing"] * 4))

    assert statuses == {"queued": 1, "queued before": 3, "refused": 4}
    assert bench.count()["waiting"] == 1


@pytest.mark.thorough
async def test_a_job_whose_thread_has_a_run_of_another_task_fails(bench):
    bench.submit()
    async with bench.working():
        await bench.reach(lambda: bench.status() == "success" and not bench.count().total())
        bench.queue.store.saver.change(ADD, [("run", "default", APP, "Do nothing")])
        await bench.reach(lambda: bench.count()["failed"] == 1)

    assert "the thread has a run of another task" in bench.queue.read_status().failed[0].reason


async def test_a_run_that_has_ended_is_returned_and_not_queued_again(bench):
    bench.submit()
    async with bench.working():
        await bench.reach(lambda: bench.status() == "success" and not bench.count().total())

    assert bench.submit().status == "success"
    assert bench.count().total() == 0
    assert len(bench.effects()) == STEPS


async def test_a_thread_with_a_run_of_another_task_is_refused(bench):
    bench.submit()
    async with bench.working():
        await bench.reach(lambda: bench.status() == "success")

    with pytest.raises(ConfigurationError, match="a run of another task"):
        bench.submit(task="Do nothing")


@pytest.mark.thorough
async def test_a_job_for_another_app_is_left(bench):
    bench.queue.store.saver.change(ADD, [("other", "default", "other:build", "Do all")])
    bench.submit()
    async with bench.working():
        await bench.reach(lambda: bench.status() == "success" and bench.count().total() == 1)

    [count] = bench.queue.read_status().jobs
    assert (count.app, count.waiting, count.workers, bench.status("other")) == ("other:build", 1, 0, None)


async def test_a_job_whose_run_is_executed_elsewhere_is_delivered_again_later(bench):
    locks = bench.queue.store.saver.locks
    bench.submit()
    assert locks.acquire("run", wait=False)
    async with bench.working():
        await bench.reach(lambda: bench.count()["delayed"] == 1)
        assert bench.effects() == []
        locks.release("run")
        await bench.reach(lambda: bench.status() == "success")

    assert len(bench.effects()) == STEPS


async def test_a_job_that_raises_fails_with_its_reason_and_can_be_submitted_again(bench):
    bench.submit()
    async with bench.working(bench.worker(app=Broken())):
        await bench.reach(lambda: bench.count()["failed"] == 1)

    [failed] = bench.queue.read_status().failed
    assert (failed.thread_id, failed.reason) == ("run", "RuntimeError: no disk of its own")
    assert bench.submit().status == "queued"
    assert bench.count() == {"waiting": 1, "delayed": 0, "running": 0, "failed": 0}


async def test_a_job_whose_workers_died_again_and_again_fails(bench):
    bench.submit()
    bench.queue.store.saver.change("UPDATE orchestrator_jobs SET taken = ?", [(10,)])
    async with bench.working():
        await bench.reach(lambda: bench.count()["failed"] == 1)

    assert "10 workers died while they executed it" in bench.queue.read_status().failed[0].reason
    assert bench.effects() == []


RUNS = 6


def test_the_runs_of_a_killed_worker_go_on_in_another_and_every_effect_happens_once(postgres_url, tmp_path):
    with fleet_on(postgres_url, tmp_path / "fleet") as fleet:
        fleet.submit(RUNS)
        killed = fleet.start("--concurrency", "3")
        fleet.wait(lambda: fleet.effects().total() >= 3)
        fleet.start("--concurrency", "3")
        killed.kill()
        fleet.wait_for_ends(RUNS)

        assert is_each_effect_there_once(fleet, RUNS)


@pytest.mark.thorough
def test_a_run_that_is_cancelled_while_its_worker_hangs_is_ended_by_the_next_worker(postgres_url, tmp_path):
    with fleet_on(postgres_url, tmp_path / "fleet", effect_s=0.3) as fleet, open_queue(postgres_url) as queue:
        fleet.submit(1)
        hanging = fleet.start()
        fleet.wait(lambda: fleet.effects().total() == 1)
        hanging.send_signal(signal.SIGSTOP)
        effects = fleet.effects()
        assert queue.cancel("run0")
        hanging.kill()
        hanging.wait()

        assert queue.submit("Do all", app=APP, thread_id="run0").status == "being cancelled"
        fleet.start()
        fleet.wait(lambda: not fleet.jobs())

        assert queue.store.history.show("run0").state["failure"]["kind"] == "cancelled"
        assert fleet.effects() == effects
