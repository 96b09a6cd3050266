"""Measures how far three contracts agree with the official reward of tau-bench on recorded runs.

    uv run python -m benchmarks.tau_bench
    uv run python -m benchmarks.tau_bench FILE

FILE is a list of runs as tau-bench publishes them. Default: the first file in $EVALUATION_DATA/tau-bench. All
three contracts expect the actions of the task; they differ in everything else.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation import evaluate_many, run_from_messages
from evaluation.statistics import proportion
from examples.tau_bench import WRITES, make_case

Json = dict[str, Any]
CONFIDENCE = 0.95


def make_default_case(run: Json) -> Json:
    """Everything at its default."""
    actions = run["info"]["task"]["actions"]
    return {
        "agent_run": run_from_messages(run["traj"]),
        "expected_trajectory": [{"name": action["name"], "args": action["kwargs"]} for action in actions],
    }


def make_effects_case(run: Json) -> Json:
    """Everything at its default, and the list of the writing tools."""
    return {**make_default_case(run), "trajectory": {"acting_tools": WRITES}}


ROWS: Mapping[str, Callable[[Json], Json]] = {
    "defaults": make_default_case,
    "defaults and the list of writing tools": make_effects_case,
    "tuned (`examples/tau_bench.py`)": make_case,
}


def find_runs() -> Path | None:
    """Return the first file of recorded runs in $EVALUATION_DATA/tau-bench; None if there is none."""
    folder = os.environ.get("EVALUATION_DATA")
    return next(iter(sorted(Path(folder, "tau-bench").glob("*.json"))), None) if folder else None


def measure(runs: Sequence[Json], make: Callable[[Json], Json]) -> Counter[tuple[bool, bool]]:
    """Count the runs by official success and by the verdict of one kind of case."""
    ours = [report.status in {"passed", "warning"} for report in evaluate_many(map(make, runs))]
    official = [run["reward"] == 1.0 for run in runs]
    return Counter(zip(official, ours, strict=True))


def format_row(name: str, pairs: Counter[tuple[bool, bool]]) -> str:
    agreement = proportion(pairs[True, True] + pairs[False, False], pairs.total(), CONFIDENCE)
    ends = agreement.interval or (0.0, 1.0)
    share = f"{agreement.value:.2f} ({ends[0]:.2f} to {ends[1]:.2f})"
    return f"| {name} | {share} | {pairs[False, True]} | {pairs[True, False]} |"


def main(arguments: Sequence[str]) -> None:
    file = Path(arguments[0]) if arguments else find_runs()
    if file is None:
        print("skipped: give a file of recorded runs, or set EVALUATION_DATA to the folder above tau-bench")
        return
    runs = json.loads(file.read_text(encoding="utf-8"))
    print(f"{file.name}: {len(runs)} runs, intervals of {CONFIDENCE:.0%}\n")
    print("| contract | agreement | wrong passes | wrong failures |\n|---|---|---|---|")
    for name, make in ROWS.items():
        print(format_row(name, measure(runs, make)))


if __name__ == "__main__":
    main(sys.argv[1:])
