"""Measures the queue of runs: jobs a second, speed-up by workers, recovery, and overhead of a run.

    uv run python -m benchmarks.queue

PostgreSQL comes from a package of the tests. Workers are processes on this machine. Always exits with 0.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import psycopg

from benchmarks.measuring import print_load
from orchestrator.persistence import open_store
from orchestrator.queue import open_queue
from tests.orchestrator.queue.worker_app import STEPS, build
from tests.orchestrator.queue.workers import Fleet, fleet_on
from tests.postgres import running_server

JOBS: Final = 5000
RUNS: Final = 48
LOCAL: Final = 30
NAMES: Final = count()


ADD: Final = """
    INSERT INTO orchestrator_jobs (thread_id, queue, app, task, start_at)
    VALUES (?, 'default', 'a:b', '', now())
"""


def measure_jobs(url: str) -> str:
    with open_queue(url) as queue:
        start = time.monotonic()
        for number in range(JOBS):
            queue.store.saver.change(ADD, [(f"{number}",)])
        queued, start = time.monotonic() - start, time.monotonic()
        while jobs := queue.take_jobs("worker", ["a:b"], 50):
            for job in jobs:
                queue.end_job("worker", job.thread_id)
        taken = time.monotonic() - start
    return f"{JOBS / queued:.0f} submitted a second, {JOBS / taken:.0f} taken and ended by one worker"


def execute_runs(fleet: Fleet, workers: int, concurrency: int, runs: int) -> float:
    """Return the seconds from the first effect to the last end."""
    processes = [fleet.start("--concurrency", str(concurrency)) for _ in range(workers)]
    fleet.wait(lambda: workers_alive(fleet) == workers, 120)
    fleet.submit(runs)
    start = time.monotonic()
    fleet.wait_for_ends(runs, 600)
    seconds = time.monotonic() - start
    for process in processes:
        process.terminate()
    return seconds


def workers_alive(fleet: Fleet) -> int:
    with open_queue(fleet.db) as queue:
        return queue.read_status().workers


def measure_speed_up(urls: Iterator[str], folder: Path, effect_s: float, fleets: tuple[int, ...]) -> str:
    seconds = []
    for workers in fleets:
        place = folder / f"speed{workers} {effect_s}"
        with fleet_on(next(urls), place, effect_s=effect_s, heartbeat_s=10) as fleet:
            seconds.append(execute_runs(fleet, workers, 2, RUNS))
    return ", ".join(f"{each:.1f} s (x {seconds[0] / each:.2f})" for each in seconds)


def measure_recovery(url: str, folder: Path, heartbeat_s: float) -> str:
    # Long steps, so that the runs have not ended when the second worker has started.
    with fleet_on(url, folder / f"recovery{heartbeat_s}", effect_s=30, heartbeat_s=heartbeat_s) as fleet:
        killed = fleet.start("--concurrency", "4")
        fleet.submit(4)
        fleet.wait(lambda: fleet.statuses()["executing"] == 4, 120)
        fleet.start("--concurrency", "4")
        fleet.wait(lambda: workers_alive(fleet) == 2, 120)
        killed.kill()
        killed.wait()
        start = time.monotonic()
        fleet.wait(lambda: fleet.statuses()["interrupted"] == 4, 120)
        fleet.wait(lambda: fleet.statuses()["executing"] == 4, 120)
        return f"{time.monotonic() - start:.1f} s"


def measure_overhead(urls: Iterator[str], folder: Path) -> str:
    os.environ.update(EFFECTS=str(folder), EFFECT_S="0")
    with open_store(next(urls)) as store:
        orchestrator = build(store)
        orchestrator.run("Do all", "first")
        start = time.monotonic()
        for number in range(LOCAL):
            orchestrator.run("Do all", f"run{number}")
        local = (time.monotonic() - start) / LOCAL
    with fleet_on(next(urls), folder / "overhead", effect_s=0.0, heartbeat_s=10) as fleet:
        queued = execute_runs(fleet, 1, 1, LOCAL) / LOCAL
    return f"{1000 * local:.0f} ms local, {1000 * queued:.0f} ms by a worker that executes one at a time"


@contextmanager
def databases() -> Iterator[Iterator[str]]:
    with running_server() as server:

        def create() -> Iterator[str]:
            for name in (f"queue{number}" for number in NAMES):
                with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                    connection.execute(f"CREATE DATABASE {name}".encode())
                yield server.get_uri(name)

        yield create()


def main() -> None:
    print_load()
    with databases() as urls, TemporaryDirectory() as temporary:
        folder = Path(temporary)
        print("| what | figure |\n|---|---|")
        print("| empty jobs |", measure_jobs(next(urls)), "|", flush=True)
        what = f"{RUNS} runs of {STEPS} calls of 0.5 s, two at once in a worker, by 1, 2 and 4 workers"
        print(f"| {what} |", measure_speed_up(urls, folder, 0.5, (1, 2, 4)), "|", flush=True)
        what = f"{RUNS} runs of {STEPS} calls that return at once, by 1 and 2 workers"
        print(f"| {what} |", measure_speed_up(urls, folder, 0.0, (1, 2)), "|", flush=True)
        for heartbeat_s in (3.0, 10.0):
            what = f"four runs of a killed worker go on in another, heartbeat {heartbeat_s:g} s"
            print(f"| {what} |", measure_recovery(next(urls), folder, heartbeat_s), "|", flush=True)
        print("| a run |", measure_overhead(urls, folder), "|", flush=True)


if __name__ == "__main__":
    main()
