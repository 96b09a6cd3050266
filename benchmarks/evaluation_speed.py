r"""Measures how many recorded runs per second one process evaluates, without a judge.

Rows: ``evaluate_many``, the matching of trajectories alone, the graph against as many idle nodes, and other
libraries that are installed. Then the peak memory of a stream.

    uv run python -m benchmarks.evaluation_speed
    EVALUATION_DATA=FOLDER uv run --with agentevals --with deepeval --with google-adk --with rouge-score \
        --with pydantic-evals python -m benchmarks.evaluation_speed

Always exits with 0; the words pass and FAIL are for people.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import resource
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from benchmarks.baselines.evaluation_libraries import COUNTERPARTS, PEERS
from benchmarks.evaluation_runs import (
    SEED,
    Json,
    Run,
    make_runs,
    new_runs,
    personal_case,
    plain_case,
    repeated_runs,
    rich_case,
    trajectory_case,
)
from benchmarks.measuring import (
    Job,
    Sample,
    Subject,
    least_cpu,
    measure_rows,
    median_of,
    print_missing_peers,
    print_noise,
    print_target,
    print_versions,
    ratio_of,
    spread_of,
    warm_up,
)
from benchmarks.tau_bench import find_runs
from evaluation import EvaluationState, evaluate, evaluate_many
from evaluation.contract.contract import MatchMode
from evaluation.measures.trajectory_matching import match_trajectory
from evaluation.nodes.prepare_evaluation import prepare_evaluation
from evaluation.plugins import Plugins
from evaluation.statistics import paired_difference
from examples.tau_bench import make_case as make_airline_case

NODES: Final = 9
"""Nodes on the path of the graph without a judge."""
RATE_TARGET: Final = 5_000
GRAPH_TARGET: Final = 1.15
MEMORY_TARGET: Final = 1.05

MANY: Final = "evaluate_many, one process"
TRAJECTORY: Final = "  trajectory alone, with report"
SINGLE: Final = "evaluate, case by case"
GRAPH: Final = "graph, invoke"
IDLE: Final = f"LangGraph of {NODES} idle nodes, invoke"
PEER_TARGETS: Final = (
    (MANY, "pydantic-evals, exact trajectory", 0.40),
    (TRAJECTORY, "pydantic-evals, exact trajectory", 0.45),
    (TRAJECTORY, "agentevals, trajectory, unordered", 1.0),
)
"""Our row, the peer's, and the least share of its rate. The row of pydantic-evals compares one output."""


def prepare_many(make_case: Callable[[Run], Json]) -> Callable[[int], Job]:
    def prepare(count: int) -> Job:
        runs = new_runs(count)
        cases = [make_case(run) for run in runs]
        return lambda: sum(
            report.metrics.trajectory["passed"] is run.agrees
            for run, report in zip(cycle(runs), evaluate_many(islice(cycle(cases), count)), strict=False)
        )

    return prepare


def prepare_airline(count: int) -> Job:
    """Evaluate recorded runs of tau-bench, whose contract gives the official verdict for each."""
    file = find_runs()
    assert file is not None
    recorded = json.loads(file.read_text(encoding="utf-8"))
    runs = [(make_airline_case(run), run["reward"] == 1.0) for run in recorded]
    rewards = cycle([reward for _, reward in runs])
    cases = islice(cycle([case for case, _ in runs]), count)
    return lambda: sum(
        (report.status in {"passed", "warning"}) is reward
        for report, reward in zip(evaluate_many(cases), rewards, strict=False)
    )


def prepare_single(count: int) -> Job:
    runs = new_runs(count)
    return lambda: sum(
        evaluate(run.case).metrics.trajectory["passed"] is run.agrees for run in islice(cycle(runs), count)
    )


def prepare_graph(count: int) -> Job:
    from evaluation import build_evaluation_graph

    compiled, runs = build_evaluation_graph(), new_runs(count)
    return lambda: sum(
        compiled.invoke(run.case)["trajectory_metrics"]["passed"] is run.agrees for run in runs
    )


def prepare_idle_graph(count: int) -> Job:
    """Measure LangGraph alone: the same state, and as many nodes that change nothing."""
    from langgraph.graph import END, START, StateGraph

    def idle(state: EvaluationState) -> EvaluationState:
        return {}

    builder = StateGraph(EvaluationState)
    names = [f"node_{index}" for index in range(NODES)]
    for name in names:
        builder.add_node(name, idle)
    for before, after in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(before, after)
    compiled = builder.compile()
    runs = list(islice(cycle(repeated_runs()), count))
    return lambda: sum(len(compiled.invoke({"input": run.output})) > 0 for run in runs)


def prepare_matching(mode: MatchMode, kind: str) -> Callable[[int], Job]:
    def prepare(count: int) -> Job:
        source = random.Random(SEED)
        pairs = []
        for run in repeated_runs():
            if run.agrees is (kind == "one mismatch"):
                continue
            state = prepare_evaluation(run.case, Plugins())
            actual = state["actual_trajectory"]
            expected = state["demands"].rules.expected_trajectory or []
            pairs.append((source.sample(actual, len(actual)) if kind == "shuffled" else actual, expected))
        agrees = kind != "one mismatch"
        return lambda: sum(
            match_trajectory(actual, expected, mode).passed is agrees
            for actual, expected in islice(cycle(pairs), count)
        )

    return prepare


MATCHED: Final[tuple[tuple[MatchMode, str, int], ...]] = (
    ("exact", "equal", 50_000),
    ("in_order", "equal", 50_000),
    ("any_order", "equal", 50_000),
    ("any_order", "shuffled", 30_000),
    ("exact", "one mismatch", 0),
    ("in_order", "one mismatch", 0),
    ("any_order", "one mismatch", 0),
)
"""Mode, kind of trajectory, and the target per second (0: none)."""
ROWS: Final = (
    Subject(MANY, prepare_many(plain_case), 2_000),
    Subject("  with content rules, plan, baseline", prepare_many(rich_case), 2_000),
    Subject("  with personal data in each run", prepare_many(personal_case), 1_000),
    Subject(TRAJECTORY, prepare_many(trajectory_case), 2_000),
    Subject(SINGLE, prepare_single, 2_000),
    Subject(GRAPH, prepare_graph, 150),
    Subject(IDLE, prepare_idle_graph, 150),
    *(
        Subject(f"match_trajectory, {mode}, {kind}", prepare_matching(mode, kind), 10_000)
        for mode, kind, _ in MATCHED
    ),
)

AIRLINE: Final = (Subject("airline runs of tau-bench", prepare_airline, 200),)
"""Measured if EVALUATION_DATA is set."""

NamedSamples = dict[str, list[Sample]]


def print_table(samples: NamedSamples) -> None:
    print(f"{'':41}{'per second':^30}{'':8}{'us a run':>10}{'right':>9}")
    print(f"{'':41}{'wall':>10}{'CPU':>10}{'best':>10}{'spread':>8}{'CPU':>10}")
    for name, row in samples.items():
        middle, right = median_of(row), min(sample.right for sample in row)
        print(
            f"{name:41}{1 / middle.wall:>10,.0f}{1 / middle.cpu:>10,.0f}{1 / least_cpu(row):>10,.0f}", end=""
        )
        print(f"{spread_of(row):>8.0%}{1e6 * middle.cpu:>10.1f}{right:>9.0%}")


def print_ratios(samples: NamedSamples) -> None:
    """Print how many times as fast as each peer we are: the whole evaluation, and the part that matches."""
    peers = [peer.name for peer in PEERS if peer.name in samples]
    if peers:
        print(f"\n{'Times as fast as the peer (95 % interval)':41}", end="")
        print(f"{'evaluate_many':>22}{'trajectory alone':>22}{'same part':>22}")
    for peer in peers:
        rows = (MANY, TRAJECTORY, COUNTERPARTS.get(peer))
        ratios = (format_ratio(samples[peer], samples[row]) if row else "" for row in rows)
        print(f"{peer:41}{''.join(f'{ratio:>22}' for ratio in ratios)}")


def format_ratio(row: Sequence[Sample], base: Sequence[Sample]) -> str:
    """Write the mean ratio of CPU times within a repeat, with its interval; in logarithms, as ratios vary."""
    times = ([math.log(sample.cpu) for sample in side] for side in (base, row))
    mean, interval = paired_difference(*times)
    return f"{math.exp(mean):.2f} ({math.exp(interval.low):.2f} to {math.exp(interval.high):.2f})"


def print_targets(samples: NamedSamples) -> None:
    print(f"\n{'Targets':84}{'wall':>14}{'CPU':>14}{'best CPU':>14}")
    rates = [(MANY, RATE_TARGET)]
    rates += [(f"match_trajectory, {mode}, {kind}", target) for mode, kind, target in MATCHED if target]
    for name, target in rates:
        middle = median_of(samples[name])
        values = (1 / middle.wall, 1 / middle.cpu, 1 / least_cpu(samples[name]))
        print_target(f"{name}, per second", values, target, at_least=True, digits=0)
    for row, peer, least in PEER_TARGETS:
        if peer in samples:
            ratios = ratio_of(samples[peer], samples[row])
            print_target(f"{row.strip()}, share of the rate of {peer}", ratios, least, at_least=True)
    print_target("graph / as many idle nodes", ratio_of(samples[GRAPH], samples[IDLE]), GRAPH_TARGET)


def print_memory(sizes: Sequence[int]) -> None:
    # A process of its own, because the peak of this one includes all that was measured before.
    child = subprocess.run(
        [sys.executable, "-m", "benchmarks.evaluation_speed", "--stream", *map(str, sizes)],
        check=True,
        capture_output=True,
        text=True,
    )
    peaks = [float(line) for line in child.stdout.split()]
    columns = (f"{size:,} runs {peak:.1f} MiB" for size, peak in zip(sizes, peaks, strict=True))
    print("\nPeak memory of evaluate_many:", ", ".join(columns))
    print_target(f"peak after {sizes[-1]:,} / {sizes[0]:,} runs", [peaks[-1] / peaks[0]], MEMORY_TARGET)


def stream_runs(sizes: Sequence[int]) -> None:
    """Print the peak resident size in MiB after each number of new runs."""
    reports = evaluate_many(run.case for run in make_runs(SEED + 2))
    before = 0
    for size in sorted(sizes):
        deque(islice(reports, size - before), maxlen=0)
        before = size
        print(_read_peak(), flush=True)


def _read_peak() -> float:
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
    # Not getrusage: on Linux a new process starts with the peak of its parent.
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--repeats", type=int, default=7, help="samples of each row (default 7)")
    parser.add_argument("--shorter", type=int, default=1, help="divide the size of each sample (default 1)")
    parser.add_argument("--million", action="store_true", help="memory up to 1,000,000 runs (minutes)")
    parser.add_argument("--stream", type=int, nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stream:
        stream_runs(options.stream)
        return

    print_versions(("langgraph", "pydantic", "rapidfuzz"), PEERS)
    airline = AIRLINE if find_runs() else ()
    installed = [*ROWS, *airline, *(peer for peer in PEERS if peer.is_installed)]
    rows = [replace(row, size=max(1, row.size // options.shorter)) for row in installed]
    measured = measure_rows(warm_up(rows), options.repeats)
    samples = {name: row for (name, _), row in measured.items()}
    print_table(samples)
    print_missing_peers(PEERS)
    print_ratios(samples)
    print_targets(samples)
    sizes = [10_000, 100_000, *([1_000_000] if options.million else [])]
    print_memory([size // options.shorter for size in sizes])
    print_noise([*samples[MANY], *samples[SINGLE]])


if __name__ == "__main__":
    main()
