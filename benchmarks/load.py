"""Counts runs that are lost or mixed up under load: many at once, and many one after another.

    uv run python -m benchmarks.load
    uv run python -m benchmarks.load --runs 500 --processes 8 --each 100 --long 10000

A run is wrong if it is lost or contains values of another one. The agents answer at once. Always exits
with 0.
"""

from __future__ import annotations

import argparse
import gc
import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from benchmarks.measuring import print_load
from orchestrator.persistence import open_store
from tests.faults.loading import STEPS, Load, at_once, build, by_processes

SAMPLES: Final = 10
PAGE: Final = os.sysconf("SC_PAGE_SIZE")


def print_row(name: str, load: Load) -> None:
    columns = (name, len(load.latencies), f"{load.throughput:.1f}", f"{load.p99:.1f}", load.wrong)
    print("|", " | ".join(map(str, columns)), "|", flush=True)


def print_loads(folder: Path, runs: int, processes: int, each: int) -> None:
    """Print a row for each way to run many at once."""
    names = [f"run {number}" for number in range(runs)]
    print(f"| runs of {STEPS} steps, at once | runs | a second | p99, s | lost or mixed up |")
    print("|---|---|---|---|---|")
    print_row("one event loop, memory", at_once(InMemorySaver(), names))
    with open_store(folder / "loop.sqlite") as store:
        print_row("one event loop, SQLite", at_once(store.saver, names))
    shared = by_processes(folder / "shared.sqlite", processes, each)
    print_row(f"{processes} processes, one SQLite file", shared)


def print_memory(title: str, saver: BaseCheckpointSaver[str] | None, runs: int) -> None:
    """Print the memory of the process while runs of one step follow one another."""
    orchestrator, began = build(saver, 1), time.perf_counter()
    readings: list[tuple[int, float, int]] = []
    for number in range(runs):
        orchestrator.run(f"run {number}", f"run {number}")
        if (number + 1) % (runs // SAMPLES) == 0:
            readings.append((number + 1, _resident_mebibytes(), _count_objects()))
    print(f"\n| {title}: runs of one step | resident, MiB | objects |\n|---|---|---|")
    for row in (readings[0], readings[len(readings) // 2], readings[-1]):
        print(f"| {row[0]:,} | {row[1]:.1f} | {row[2]:,} |")
    print(f"{runs / (time.perf_counter() - began):.0f} runs a second", flush=True)


def _resident_mebibytes() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 2**20


def _count_objects() -> int:
    gc.collect()
    return len(gc.get_objects())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=500, help="at once on one event loop (default 500)")
    parser.add_argument("--processes", type=int, default=8, help="that write to one file (default 8)")
    parser.add_argument("--each", type=int, default=50, help="runs of each process (default 50)")
    parser.add_argument("--long", type=int, default=10_000, help="runs one after another; 0 for none")
    options = parser.parse_args()

    with TemporaryDirectory() as name:
        folder = Path(name)
        print_loads(folder, options.runs, options.processes, options.each)
        if options.long:
            print_memory("no store", None, options.long)
            with open_store(folder / "long.sqlite") as store:
                print_memory("SQLite", store.saver, options.long)
    print_load()


if __name__ == "__main__":
    main()
