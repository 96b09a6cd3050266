"""Measures how an evaluation spreads over workers: models that take time, and work of the CPU alone.

    uv run python -m benchmarks.queue_speedup
    uv run python -m benchmarks.queue_speedup --cases 64

Each worker executes one case at a time. A case waits half a second for its model, or computes in Python for
about as long.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from statistics import median

from agents.testing import ScriptedChatModel
from benchmarks.measuring import print_load
from evaluation import TaskCase
from orchestrator import LangGraphOrchestrator
from orchestrator.cli.session.queue_session import install_queue
from orchestrator.persistence import Store
from orchestrator.queue import open_queue
from orchestrator.queue.queued_cases import QueuedCases
from tests.postgres import running_server

ANSWER_S = 0.5
ROUNDS = 400_000
ROWS = {"build_waiting": (1, 2, 4), "build_computing": (1, 2)}
"""What is measured, and with how many workers."""


def build_waiting(store: Store) -> LangGraphOrchestrator:
    """Build an orchestrator whose model takes half a second."""

    def reply(_: object) -> str:
        time.sleep(ANSWER_S)
        return "done"

    return _build(store, ScriptedChatModel(reply))


def build_computing(store: Store) -> LangGraphOrchestrator:
    """Build an orchestrator whose answer takes about half a second of Python."""

    def reply(_: object) -> str:
        digest = b""
        for _number in range(ROUNDS):
            digest = sha256(digest).digest()
        return digest.hex()

    return _build(store, ScriptedChatModel(reply))


def _build(store: Store, model: ScriptedChatModel) -> LangGraphOrchestrator:
    good = ScriptedChatModel(lambda _: '{"success": true, "feedback": "good"}')
    return LangGraphOrchestrator.from_model(
        model, monitor_model=good, contract=None, planning="never", checkpointer=store
    )


@contextmanager
def running_workers(db: str, app: str, numbers: Sequence[int]) -> Iterator[None]:
    """Start a queue for each number, with so many workers, and wait until all of them live."""
    options = ("--db", db, "--app", app, "--concurrency", "1", "--heartbeat", "5")
    command = [sys.executable, "-m", "orchestrator", "worker", *options]
    queues = [f"workers{number}" for number in numbers for _ in range(number)]
    workers = [subprocess.Popen([*command, "--queue", queue], stderr=subprocess.DEVNULL) for queue in queues]
    try:
        with open_queue(db) as queue:
            while sum(worker.is_alive for worker in queue.read_status().workers) < len(workers):
                time.sleep(0.1)
        yield
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.wait()


def measure(db: str, app: str, workers: int, cases: int) -> float:
    """Return the seconds that workers need for cases."""
    jobs = [(app, TaskCase(name=f"case {number}", task=f"Do {number}"), 0) for number in range(cases)]
    with open_queue(db, f"workers{workers}") as queue:
        began = time.perf_counter()
        ended = list(QueuedCases(queue, uuid.uuid4().hex).execute(jobs))
        seconds = time.perf_counter() - began
    assert all(case.agent_run and case.agent_run.get("error") is None for _, case, _ in ended)
    return seconds


def print_rows(db: str, name: str, numbers: Sequence[int], cases: int, rounds: int) -> None:
    """Print the medians of interleaved rounds."""
    app = f"benchmarks.queue_speedup:{name}"
    with running_workers(db, app, numbers):
        taken = [[measure(db, app, number, cases) for number in numbers] for _ in range(rounds)]
    for place, number in enumerate(numbers):
        seconds = median(each[place] for each in taken)
        times = median(each[0] / each[place] for each in taken)
        print(f"| {name.removeprefix('build_')} | {number} | {seconds:.1f} | {times:.2f} |", flush=True)


def main() -> None:
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shown)
    parser.add_argument("--cases", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with running_server() as server:
        install_queue(server.get_uri())
        print(f"| {options.cases} cases | workers | seconds | times one worker |\n|---|---|---|---|")
        for name, numbers in ROWS.items():
            print_rows(server.get_uri(), name, numbers, options.cases, options.rounds)
    print_load()


if __name__ == "__main__":
    main()
