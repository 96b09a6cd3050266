"""Measures the checks that rules derive from tasks against labelled tasks.

EVALUATION_DATA=FOLDER uv run python -m benchmarks.derived_checks [--half held-out]

Prints, for each set, precision and recall of the checks (kind and arguments), and the share of tasks with a
check that no label has: it may refuse a right output. The half ``dev`` was in view while the rules were
written, ``held-out`` was not; no text is printed.
"""

from __future__ import annotations

import argparse
import sys

from evaluation.statistics import proportion
from tests.evaluation.task_checks.corpus import SETS, measure, read_set


def format_share(right: int, total: int) -> str:
    share = proportion(right, total)
    if share.value is None or share.interval is None:
        return "-"
    return f"{share.value:.3f} ({share.interval.low:.3f} to {share.interval.high:.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures the checks that are derived from tasks.")
    parser.add_argument("--half", choices=("dev", "held-out"), default="dev")
    half = parser.parse_args().half
    sys.stdout.write(
        "| set | tasks | precision | recall | tasks with a check beyond the labels |\n|---|---|---|---|---|\n"
    )
    for name in ("ifeval", *SETS):
        figures = measure(read_set(name, half))
        score = figures.score
        derived = score.right + score.wrong + score.beyond
        cells = [
            name,
            str(score.tasks),
            format_share(score.right, derived) if score.right else "-",
            format_share(score.right, score.right + score.missed),
            format_share(figures.refusing, score.tasks),
        ]
        sys.stdout.write(f"| {' | '.join(cells)} |\n")


if __name__ == "__main__":
    main()
