"""Measures how workers share a limit on the calls of a model: their shares, the rate, and the peak.

    uv run python -m benchmarks.queue_fairness
    uv run python -m benchmarks.queue_fairness --workers 4 --limit 100/s --seconds 20

Every worker is a process whose agents call a scripted model all the time, the first with one call at once,
each other one with more. The peak is the greatest number of calls that began in any period of the limit.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat

from agents import BaseAgent
from agents.testing import ScriptedChatModel
from benchmarks.measuring import print_load
from orchestrator.limits import read_limit, share_limits
from orchestrator.persistence import open_store
from tests.postgres import running_server

MODEL = "agents:ScriptedChatModel"


@dataclass(frozen=True)
class Fairness:
    """When the calls of each worker began, in seconds of a clock that the processes share."""

    calls: Sequence[Sequence[float]]

    def count_peak(self, period_s: float) -> int:
        """Return the greatest number of calls of all workers in any period."""
        times = sorted(time for worker in self.calls for time in worker)
        return max(
            (sum(begin <= time < begin + period_s for time in times[at:]) for at, begin in enumerate(times)),
            default=0,
        )

    @property
    def rate(self) -> float:
        """Calls a second of all workers."""
        times = [time for worker in self.calls for time in worker]
        return (len(times) - 1) / (max(times) - min(times))

    @property
    def spread(self) -> float:
        """How much less the worker with the fewest calls has than the one with the most, from 0 to 1."""
        counts = [len(worker) for worker in self.calls]
        return 1 - min(counts) / max(counts)


def call_model(url: str, limit: str, concurrency: int) -> list[float]:
    """Call the model with some calls at once, until the time that comes on standard input.

    Returns when the calls began.
    """
    calls: list[float] = []

    def reply(_: object) -> str:
        calls.append(time.monotonic())
        return "done"

    agent = BaseAgent(ScriptedChatModel(reply))
    with open_store(url) as store, share_limits(store, [limit]):
        print("ready", flush=True)
        until = float(input())

        def call_often(_: int) -> None:
            while time.monotonic() < until:
                agent.invoke("call")

        with ThreadPoolExecutor(concurrency) as pool:
            list(pool.map(call_often, range(concurrency)))
    return calls


def measure_fairness(
    url: str,
    limit: str,
    concurrencies: Sequence[int],
    seconds: float,
    prefixes: Sequence[Sequence[str]] | None = None,
) -> Fairness:
    """Run a worker for each number of calls at once; all begin when the last one is ready.

    ``prefixes`` has words before the command of each worker, such as a program that changes its clock.
    """
    with open_store(url):  # creates the tables
        pass
    starts = zip(concurrencies, prefixes or repeat(()), strict=False)
    workers = [_start_worker(url, limit, calls, prefix) for calls, prefix in starts]
    for worker in workers:
        assert worker.stdout is not None
        worker.stdout.readline()
    until = f"{time.monotonic() + seconds}\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write(until)
        worker.stdin.flush()
    return Fairness([json.loads(worker.communicate()[0]) for worker in workers])


def _start_worker(url: str, limit: str, calls: int, prefix: Sequence[str]) -> subprocess.Popen[str]:
    command = [*prefix, sys.executable, "-m", "benchmarks.queue_fairness", "--worker", url, limit, str(calls)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def print_fairness(url: str, rate: str, workers: int, seconds: float) -> None:
    """Print a row for workers that wait with different numbers of calls."""
    limit = f"{MODEL}={rate}"
    measured = measure_fairness(url, limit, [1 + 4 * number for number in range(workers)], seconds)
    shares = ", ".join(str(len(worker)) for worker in measured.calls)
    peak = measured.count_peak(read_limit(limit).period_s)
    print(
        "| limit | calls of each worker | spread | calls a second | peak in a period |\n|---|---|---|---|---|"
    )
    print(f"| {rate} | {shares} | {measured.spread:.0%} | {measured.rate:.1f} | {peak} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--limit", default="20/s")
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        url, limit, concurrency = options.worker
        print(json.dumps(call_model(url, limit, int(concurrency))))
        return
    with running_server() as server:
        print_fairness(server.get_uri(), options.limit, options.workers, options.seconds)
    print_load()


if __name__ == "__main__":
    main()
