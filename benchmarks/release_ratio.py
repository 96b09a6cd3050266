"""Measures how fast this commit evaluates recorded runs, compared with the last release.

    uv run python -m benchmarks.release_ratio
    EVALUATION_DATA=FOLDER uv run python -m benchmarks.release_ratio REVISION

REVISION is any name of a commit in git. Default: the last tag, or the commit that last named a release in
CHANGELOG.md. Prints runs per second of CPU and their ratio, with its interval, for synthetic runs and, if
EVALUATION_DATA is set, for the airline runs of tau-bench. A ratio below 1 is a loss.
"""

from __future__ import annotations

import gc
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

ROUNDS = 9
SECONDS = 1.0
"""CPU time of one sample."""
ROOT = Path(__file__).parent.parent


def take_sample(file: str) -> None:
    """Print the runs per second of CPU of the evaluation that PYTHONPATH names."""
    from evaluation import evaluate_many

    cases = json.loads(Path(file).read_text(encoding="utf-8"))
    count = sum(1 for _ in evaluate_many(cases))  # imports and caches
    gc.collect()
    gc.freeze()
    runs, start = 0, time.process_time()
    while time.process_time() - start < SECONDS:
        runs += sum(1 for _ in evaluate_many(cases))
    print(runs / (time.process_time() - start) if count else 0.0)


def make_cases() -> Iterator[tuple[str, list[object]]]:
    from benchmarks.evaluation_runs import make_runs, rich_case
    from benchmarks.tau_bench import find_runs
    from examples.tau_bench import make_case

    source = make_runs(30)
    runs = [next(source) for _ in range(200)]
    yield "synthetic", [run.case for run in runs]
    yield "synthetic, with content rules", [rich_case(run) for run in runs]
    if file := find_runs():
        yield "airline", [make_case(run) for run in json.loads(file.read_text(encoding="utf-8"))]


def git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def find_release() -> str:
    tagged = git("tag", "--sort=-creatordate").split()
    return tagged[0] if tagged else git("log", "-1", "--format=%h", r"-G^## \[[0-9]", "--", "CHANGELOG.md")


def measure(tree: Path, file: Path) -> float:
    # Without -P, the folder of this file comes first, and its queue.py hides the one of Python.
    command = [sys.executable, "-P", __file__, "--sample", str(file)]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    child = subprocess.run(command, cwd=tree, env=environment, check=True, capture_output=True, text=True)
    return float(child.stdout)


def print_row(name: str, before: Sequence[float], now: Sequence[float]) -> None:
    from evaluation.statistics import paired_difference

    # Interleaved rounds: what slows down both sides of a round leaves its ratio alone.
    measured = paired_difference([*map(math.log, before)], [*map(math.log, now)])
    low, high = map(math.exp, measured.interval)
    ratio = f"{math.exp(measured.mean):.2f} ({low:.2f} to {high:.2f})"
    print(f"| {name} | {median(before):,.0f} | {median(now):,.0f} | {ratio} |", flush=True)


def main(revision: str) -> None:
    with TemporaryDirectory() as folder:
        tree, file = Path(folder, "release"), Path(folder, "cases.json")
        git("worktree", "add", "--detach", str(tree), revision)
        try:
            print(f"| runs per second of CPU | {revision} | now | ratio (95 % interval) |\n|---|---|---|---|")
            for name, cases in make_cases():
                file.write_text(json.dumps(cases), encoding="utf-8")
                rounds = [(measure(tree, file), measure(ROOT, file)) for _ in range(ROUNDS)]
                print_row(name, *zip(*rounds, strict=True))
        finally:
            git("worktree", "remove", "--force", str(tree))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--sample"]:
        take_sample(sys.argv[2])
    else:
        main(sys.argv[1] if sys.argv[1:] else find_release())
