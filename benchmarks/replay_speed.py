"""Measures how long the replay of 10^5 recorded runs against 100 policies takes.

uv run python -m benchmarks.replay_speed [RUNS] [POLICIES]
"""

from __future__ import annotations

import sys
import time

from orchestrator.tuning.replay.replaying import replay
from tests.fakes.simulated_tasks import KINDS, Schedule, SimulatedTasks, retries


def main(runs: int = 100_000, policies: int = 100) -> None:
    started = time.perf_counter()
    recorded = SimulatedTasks(runs, seed=1).run_all(retries(3))
    print(f"simulated {runs} runs in {time.perf_counter() - started:.1f} s")
    started, busy = time.perf_counter(), time.process_time()
    compared = [
        Schedule(
            tuple("feedback" if (number >> place) % 2 else "resample" for place in range(1 + number % 5)),
            name=str(number),
            only=frozenset(KINDS[: 1 + number % 2]),
        )
        for number in range(policies)
    ]
    replayed = replay(recorded, compared)
    seconds = time.perf_counter() - started
    exact = sum(each.exact_runs for each in replayed) / (runs * policies)
    busy = time.process_time() - busy
    print(
        f"replayed {policies} policies in {seconds:.1f} s ({busy:.1f} s of CPU); "
        f"{exact:.0%} of the runs exactly"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
