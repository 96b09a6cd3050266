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
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

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
def running_workers(db: str, app: str, number: int) -> Iterator[None]:
    """Start workers, and wait until they live."""
    command = [sys.executable, "-m", "orchestrator", "worker", "--db", db, "--app", app, "--concurrency", "1"]
    workers = [
        subprocess.Popen([*command, "--heartbeat", "5"], stderr=subprocess.DEVNULL) for _ in range(number)
    ]
    try:
        with open_queue(db) as queue:
            while sum(worker.is_alive for worker in queue.read_status().workers) < number:
                time.sleep(0.1)
        yield
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.wait()


def measure(db: str, app: str, workers: int, cases: int) -> float:
    """Return the seconds that workers need for cases."""
    jobs = [(TaskCase(name=f"case {number}", task=f"Do {number}"), 0) for number in range(cases)]
    with running_workers(db, app, workers), open_queue(db) as queue:
        began = time.perf_counter()
        ended = list(QueuedCases(queue, app, f"{app.rpartition(':')[2]}{workers}").execute(jobs))
        seconds = time.perf_counter() - began
    assert all(case.agent_run and case.agent_run.get("error") is None for case, _ in ended)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=24)
    options = parser.parse_args()
    with running_server() as server:
        install_queue(server.get_uri())
        print(f"| {options.cases} cases | workers | seconds | times one worker |\n|---|---|---|---|")
        for name, numbers in ROWS.items():
            one = 0.0
            for workers in numbers:
                app = f"benchmarks.queue_speedup:{name}"
                seconds = measure(server.get_uri(), app, workers, options.cases)
                one = one or seconds
                row = (name.removeprefix("build_"), workers, f"{seconds:.1f}", f"{one / seconds:.2f}")
                print("|", " | ".join(map(str, row)), "|", flush=True)
    print_load()


if __name__ == "__main__":
    main()
