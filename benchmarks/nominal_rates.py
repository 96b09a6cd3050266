"""Measures how often intervals hold the truth and how often harmless runs raise an alarm.

    uv run python -m benchmarks.nominal_rates

Prints the tables of docs/reference/statistics.md. The seed is fixed. Coverage of counts is computed over all
outcomes; everything else is simulated.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence

from evaluation.contract.contract import DriftRules
from evaluation.measures.drift_signals import compare_with_baseline
from evaluation.measures.metric_table import Direction
from evaluation.statistics import proportion

Draw = Callable[[], float]
CEILING = "scores with a ceiling"
SOURCE = random.Random(20)
RATES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98)


def draws(source: random.Random) -> dict[str, Draw]:
    return {
        "normal, cv 15 %": lambda: source.gauss(1.0, 0.15),
        "lognormal, cv 15 %": lambda: source.lognormvariate(0.0, 0.15),
        "lognormal, cv 53 %": lambda: source.lognormvariate(0.0, 0.5),
        "lognormal, cv 131 %": lambda: source.lognormvariate(0.0, 1.0),
        "heavy tails (t, 3 df)": lambda: 10.0 + draw_t3(source),
        "whole numbers (Poisson, 2)": lambda: float(draw_poisson(source, 2.0)),
    }


def draw_t3(source: random.Random) -> float:
    return source.gauss(0.0, 1.0) / math.sqrt(source.gammavariate(1.5, 2.0) / 3.0)


def draw_poisson(source: random.Random, mean: float) -> int:
    count, product_, limit = 0, source.random(), math.exp(-mean)
    while product_ > limit:
        count, product_ = count + 1, product_ * source.random()
    return count


def print_table(title: str, columns: Iterable[object], rows: Iterable[tuple[str, Sequence[object]]]) -> None:
    header = ["", *map(str, columns)]
    print(f"\n{title}\n\n| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for name, cells in rows:
        print(f"| {name} | {' | '.join(map(str, cells))} |", flush=True)


def percent(share: float) -> str:
    return f"{100.0 * share:.1f}"


def share(outcomes: Iterable[bool]) -> str:
    outcomes = list(outcomes)
    return percent(sum(outcomes) / len(outcomes)) if outcomes else "none"


def binomial(successes: int, trials: int, rate: float) -> float:
    return math.comb(trials, successes) * rate**successes * (1.0 - rate) ** (trials - successes)


# rates


def coverage_of_rate(trials: int, rate: float) -> float:
    intervals = ((n, proportion(n, trials).interval) for n in range(trials + 1))
    return sum(binomial(n, trials, rate) for n, ends in intervals if ends and ends.low <= rate <= ends.high)


def report_rates() -> None:
    sizes = (2, 5, 10, 20, 50)
    cells = [percent(min(coverage_of_rate(size, rate) for rate in RATES)) for size in sizes]
    print_table("Rates, lowest coverage over 11 rates", sizes, [("Clopper-Pearson", cells)])


# alarms


def drift_draws(source: random.Random) -> dict[str, Draw]:
    return {
        **{name: draw for name, draw in draws(source).items() if "131" not in name},
        "5 % of values three times as large": lambda: (
            source.lognormvariate(0.0, 0.15) * (3.0 if source.random() < 0.05 else 1.0)
        ),
        CEILING: lambda: min(1.0, source.gauss(0.95, 0.1)),
        "flags, 10 % failures": lambda: float(source.random() < 0.1),
    }


def better(name: str) -> Direction:
    return "higher" if name == CEILING else "lower"


def raises_alarm(draw: Draw, runs: int, better: Direction = "lower", slowdown: float = 1.0) -> bool:
    earlier = [{"metric": draw()} for _ in range(runs)]
    current = {"metric": draw() * slowdown}
    _, findings = compare_with_baseline(current, {"runs": earlier}, DriftRules(), {"metric": better})
    return any(finding.severity != "info" for finding in findings)


def report_alarms() -> None:
    runs = (1, 4, 5, 10, 20, 50)
    rows = [
        (name, [share(raises_alarm(draw, count, better(name)) for _ in range(400)) for count in runs])
        for name, draw in drift_draws(SOURCE).items()
    ]
    print_table("Harmless runs with an alarm", runs, rows)
    draw = draws(SOURCE)["lognormal, cv 15 %"]
    cells = [share(raises_alarm(draw, count, slowdown=2.0) for _ in range(400)) for count in runs[2:]]
    print_table("Twice the latency (cv 15 %) raises an alarm", runs[2:], [("one metric", cells)])


if __name__ == "__main__":
    report_rates()
    report_alarms()
