"""Measures how fast this commit is, compared with the last release, with other code, and with its targets.

    uv run --with pydantic-evals python -m benchmarks.release_ratio
    EVALUATION_DATA=FOLDER uv run --with pydantic-evals python -m benchmarks.release_ratio REVISION

REVISION is any name of a commit in git, which is installed beside this one. Default: the last tag, or the
commit that last named a release in CHANGELOG.md. Prints, all with intervals:

- runs per second of CPU and their ratio, for synthetic runs and, if EVALUATION_DATA is set, for the airline
  runs of tau-bench; a ratio below 1 is a loss;
- the CPU time of ``orchestrator evaluate`` with the airline runs, as a share of the release's;
- the rates of ``evaluate_many`` as a share of that of pydantic-evals, if it is installed;
- an evaluated step against one that is wired by hand, and a step of a long plan against one of a short plan.
"""

from __future__ import annotations

import gc
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from benchmarks.measuring import Subject

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


COMMAND_TARGET: Final = 0.5
"""The CPU time of the command with the airline runs, as a share of the release's."""
SHORT: Final = 100
LONG: Final = 1_000
"""The steps of the two plans."""


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


def run_python(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command with the code and the packages of a commit."""
    python = sys.executable if tree == ROOT else str(tree / ".venv" / "bin" / "python")
    command = [python, *arguments]
    # A start that compiles every package again would hide what the command does.
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": ""}
    return subprocess.run(command, cwd=tree, env=environment, check=False, capture_output=True, text=True)


def measure_rate(tree: Path, file: Path) -> float:
    child = run_python(tree, __file__, "--sample", str(file))
    child.check_returncode()
    return float(child.stdout)


def measure_command(tree: Path, file: Path) -> float:
    """Return the seconds of CPU of the command that evaluates a file."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = run_python(tree, "-m", "orchestrator", "evaluate", str(file), "--json")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # The exit status tells the verdict on the runs.
    if not child.stdout:
        raise RuntimeError(f"the command evaluated nothing: {child.stderr[-300:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def print_row(name: str, before: Sequence[float], now: Sequence[float]) -> None:
    print(
        f"| {name} | {median(before):,.0f} | {median(now):,.0f} | {format_ratio(before, now)} |", flush=True
    )


def format_ratio(base: Sequence[float], values: Sequence[float]) -> str:
    from evaluation.statistics import paired_difference

    # Interleaved rounds: what slows down both sides of a round leaves its ratio alone.
    measured = paired_difference([*map(math.log, base)], [*map(math.log, values)])
    low, high = map(math.exp, measured.interval)
    return f"{math.exp(measured.mean):.2f} ({low:.2f} to {high:.2f})"


def compare_release(revision: str) -> None:
    with TemporaryDirectory() as folder:
        tree, file = Path(folder, "release"), Path(folder, "cases.json")
        git("worktree", "add", "--detach", str(tree), revision)
        try:
            subprocess.run(["uv", "sync", "-q", "--project", str(tree)], cwd=tree, check=True)
            print(f"| runs per second of CPU | {revision} | now | ratio (95 % interval) |\n|---|---|---|---|")
            for name, cases in make_cases():
                file.write_text(json.dumps(cases), encoding="utf-8")
                rounds = [(measure_rate(tree, file), measure_rate(ROOT, file)) for _ in range(ROUNDS)]
                print_row(name, *zip(*rounds, strict=True))
            print("\n| share | measured (95 % interval) | wanted |\n|---|---|---|")
            compare_commands(tree)
        finally:
            git("worktree", "remove", "--force", str(tree))


def print_share(name: str, base: Sequence[float], values: Sequence[float], wanted: str) -> None:
    print(f"| {name} | {format_ratio(base, values)} | {wanted} |", flush=True)


def compare_commands(tree: Path) -> None:
    from benchmarks.tau_bench import find_runs

    if file := find_runs():
        rounds = [(measure_command(tree, file), measure_command(ROOT, file)) for _ in range(ROUNDS)]
        before, now = zip(*rounds, strict=True)
        print_share("CPU of the command, airline runs", before, now, f"at most {COMMAND_TARGET}")


def measure_cpu(rows: Sequence[Subject]) -> dict[tuple[str, int], list[float]]:
    from benchmarks.measuring import measure_rows, warm_up

    measured = measure_rows(warm_up([row for row in rows if row.is_installed]), ROUNDS)
    return {key: [sample.cpu for sample in samples] for key, samples in measured.items()}


def compare_rates() -> None:
    from benchmarks.baselines.evaluation_libraries import PEERS
    from benchmarks.evaluation_speed import PEER_TARGETS, ROWS

    targets = [target for target in PEER_TARGETS if "pydantic-evals" in target[1]]
    names = {name for row, peer, _ in targets for name in (row, peer)}
    samples = measure_cpu([row for row in (*ROWS, *PEERS) if row.name in names])
    cpu = {name: values for (name, _), values in samples.items()}
    for row, peer, least in targets:
        if peer in cpu:
            name = f"rate of {row.strip()} / {peer}"
            print_share(name, cpu[row], cpu[peer], f"at least {least}")


def compare_steps() -> None:
    from benchmarks import orchestration as plans

    # The agents of the loop that is wired by hand are awaited, too; one that blocks takes a thread.
    ours = (plans.OURS_ASYNC, plans.OURS_SYNC)
    rows = [row for row in plans.ROWS if row.name in {*ours, plans.BARE_EVALUATING}]
    cpu = measure_cpu([replace(row, size=size) for row in rows for size in (SHORT, LONG)])
    for name in ours:
        for size in (SHORT, LONG):
            wired = cpu[plans.BARE_EVALUATING, size]
            shown = f"{name}: a step of {size:,} / wired by hand"
            print_share(shown, wired, cpu[name, size], f"at most {plans.OVER_BARE_TARGET}")
        shown = f"{name}: a step of {LONG:,} / a step of {SHORT:,}"
        print_share(shown, cpu[name, SHORT], cpu[name, LONG], f"at most {plans.GROWTH_TARGET}")


def main(revision: str) -> None:
    compare_release(revision)
    compare_rates()
    compare_steps()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--sample"]:
        take_sample(sys.argv[2])
    else:
        main(sys.argv[1] if sys.argv[1:] else find_release())
