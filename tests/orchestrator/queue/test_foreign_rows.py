"""Rows that another program wrote into the tables of the queue disturb nothing."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from orchestrator.cli.app import app
from tests.orchestrator.queue.conftest import Bench
from tests.orchestrator.queue.workers import APP

JOB = """
    INSERT INTO orchestrator_pgqueuer
        (priority, created, status, entrypoint, updated, heartbeat, execute_after, dedupe_key)
    VALUES (0, now(), ?, ?, now(), now(), now(), ?)
"""
WORKER = """
    INSERT INTO orchestrator_workers
        (id, queue, routes, host, process, version, concurrency, heartbeat_s, seen)
    VALUES (?, 'default', '{}', 'foreign', 1, '1', 1, ?, ?)
"""
JOBS = [
    ("queued", "foo", None),
    ("queued", "a/b", "run:foreign"),
    ("failed", f"default/run.1/{APP}", None),
    ("successful", f"default/run.1/{APP}", "run:ended"),
]
WORKERS = [("1", 10, "infinity"), ("2", float("nan"), "now"), ("3", 10, "20000-01-01")]


@pytest.fixture
def disturbed(bench: Bench) -> Bench:
    bench.queue.store.saver.change(JOB, JOBS)
    bench.queue.store.saver.change(WORKER, WORKERS)
    return bench


async def test_foreign_rows_are_ignored_and_runs_are_executed(disturbed):
    async with disturbed.working():
        disturbed.submit()
        await disturbed.reach(lambda: disturbed.status() == "success" and not disturbed.count().total())
        [worker] = disturbed.queue.read_status().workers

    assert worker.is_alive
    assert disturbed.queue.read_status().jobs == ()


def test_the_commands_show_what_is_queued_among_foreign_rows(disturbed, postgres_url):
    words = ("submit", "Do all", "--app", APP, "--thread", "run", "--db", postgres_url)
    submitted = CliRunner().invoke(app, words)
    shown = CliRunner().invoke(app, ["queue", "--db", postgres_url])

    assert submitted.stdout == "queued: run in default (1 waiting, 0 running, 0 workers)\n"
    assert shown.stdout == (
        f"default run.1 {APP}: 1 waiting, 0 running, 0 delayed, 0 failed; no live worker takes them\n"
    )


def test_a_run_whose_job_another_program_wrote_is_refused_and_can_be_cancelled(bench):
    bench.queue.store.saver.change(JOB, [("queued", f"default/run.1/{APP}", "run:run")])

    with pytest.raises(ValueError, match="'run:run' cannot be read, because another program wrote it"):
        bench.submit()
    assert bench.queue.cancel("run")
    assert bench.submit().status == "queued"


async def test_a_worker_that_cannot_show_its_life_ends_with_the_error(bench):
    def fail(line: str) -> None:
        raise RuntimeError(f"nobody reads {line}")

    bench.queue.submit("Do all", app=f"{APP}_once")
    with pytest.raises(RuntimeError, match="nobody reads left: jobs"):
        await bench.worker(report=fail).run()
