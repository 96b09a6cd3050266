"""Many runs at once, and many one after another, with agents that answer at once.

    uv run python benchmarks/load.py
    uv run python benchmarks/load.py --runs 500 --processes 8 --each 100 --long 10000

Runs that are lost or hold anything of another one are counted. Always exits with 0.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
# evaluation.py beside this file has the name of the package.
sys.path[:] = [str(ROOT), *(path for path in sys.path if Path(path or ".").resolve() != ROOT / "benchmarks")]

from langgraph.checkpoint.base import BaseCheckpointSaver  # noqa: E402
from langgraph.checkpoint.memory import InMemorySaver  # noqa: E402

from orchestrator.persistence import open_store  # noqa: E402
from tests.faults.loading import STEPS, Load, at_once, build, by_processes  # noqa: E402

SAMPLES: Final = 10
PAGE: Final = os.sysconf("SC_PAGE_SIZE")


def told(what: str, load: Load) -> None:
    columns = (what, len(load.latencies), f"{load.throughput:.1f}", f"{load.p99:.1f}", load.wrong)
    print("|", " | ".join(map(str, columns)), "|", flush=True)


def loads(folder: Path, runs: int, processes: int, each: int) -> None:
    """Print a row for each way to have many runs at once."""
    names = [f"run {number}" for number in range(runs)]
    print(f"| runs of {STEPS} steps, at once | runs | a second | p99, s | lost or mixed up |")
    print("|---|---|---|---|---|")
    told("one event loop, memory", at_once(InMemorySaver(), names))
    with open_store(folder / "loop.sqlite") as store:
        told("one event loop, SQLite", at_once(store.saver, names))
    told(f"{processes} processes, one SQLite file", by_processes(folder / "shared.sqlite", processes, each))


def memory(title: str, saver: BaseCheckpointSaver[str] | None, runs: int) -> None:
    """Print what the process holds while runs of one step follow one another."""
    orchestrator, began = build(saver, 1), time.perf_counter()
    held: list[tuple[int, float, int]] = []
    for number in range(runs):
        orchestrator.run(f"run {number}", f"run {number}")
        if (number + 1) % (runs // SAMPLES) == 0:
            held.append((number + 1, _resident(), _objects()))
    print(f"\n| {title}: runs of one step | resident, MiB | objects |\n|---|---|---|")
    for row in _ends(held):
        print(f"| {row[0]:,} | {row[1]:.1f} | {row[2]:,} |")
    print(f"{runs / (time.perf_counter() - began):.0f} runs a second", flush=True)


def _ends(held: Sequence[tuple[int, float, int]]) -> Sequence[tuple[int, float, int]]:
    return [held[0], held[len(held) // 2], held[-1]]


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 2**20


def _objects() -> int:
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
        loads(folder, options.runs, options.processes, options.each)
        if options.long:
            memory("no store", None, options.long)
            with open_store(folder / "long.sqlite") as store:
                memory("SQLite", store.saver, options.long)
    print(f"\nLoad {' '.join(f'{load:.1f}' for load in os.getloadavg())} on {os.cpu_count()} CPUs")


if __name__ == "__main__":
    main()
