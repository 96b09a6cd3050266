"""Measures the checks that are derived from tasks against the labels of IFEval's prompts.

EVALUATION_DATA=FOLDER uv run python -m benchmarks.derived_checks [--held-out]

Prints precision (kind and arguments right), recall, and the share of prompts whose whole set is right, each
with its 95 % interval. A derived check without a label is right if readers found it in the prompt, see
tests/evaluation/task_checks/labels.py. With --held-out: the same for the last 100 prompts, which no reader
has seen; it prints figures only, never a prompt, and lists the kinds of checks without a label.

Always exits with 0; the words pass and MISSED are for people.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from itertools import islice
from typing import Any, Final

from evaluation.checks import Check, read_checks
from evaluation.statistics.intervals import proportion
from evaluation.task_checks import derive_checks
from tests.evaluation.checks.ifeval import PROMPTS, SHOWN, read_prompts, to_checks
from tests.evaluation.task_checks.labels import JUDGED
from tests.evaluation.task_checks.scoring import Score, add, compare

DEVELOPED: Final = 120
"""The grammar was written with the first prompts in view; those after them only measured it."""
TARGETS: Final = {"precision": 0.97, "recall": 0.92, "whole set right": 0.85}


def read_labels(prompt: Mapping[str, Any]) -> list[Check]:
    pairs = zip(prompt["instruction_id_list"], prompt["kwargs"], strict=True)
    return [check for name, arguments in pairs for check in read_checks(to_checks(name, arguments))]


def read_held_out() -> Iterator[Mapping[str, Any]]:
    with PROMPTS.open(encoding="utf-8") as file:
        yield from map(json.loads, islice(file, SHOWN, None))


def measure(prompts: Iterable[Mapping[str, Any]]) -> tuple[Score, int]:
    """Return the counts, and the number of prompts of which nothing recognised is unchecked."""
    scores, covered = [], 0
    for prompt in prompts:
        derived = derive_checks(prompt["prompt"])
        scores.append(compare(read_labels(prompt), derived.checks, JUDGED.get(prompt["key"], ())))
        covered += not derived.unchecked
    return reduce(add, scores, Score()), covered


def print_share(name: str, right: int, total: int) -> None:
    share = proportion(right, total)
    interval = f"[{share.interval.low:.3f}, {share.interval.high:.3f}]" if share.interval else ""
    target = TARGETS.get(name)
    verdict = "" if target is None else "pass" if (share.value or 0) >= target else "MISSED"
    print(f"  {name:<26} {share.value or 0:.3f} {interval} of {total}  {verdict}")


def print_figures(name: str, score: Score, covered: int) -> None:
    print(f"{name}: {score.tasks} prompts")
    print_share("precision", score.right, score.right + score.wrong + score.beyond)
    print_share("precision of labelled kinds", score.right, score.right + score.wrong)
    print_share("recall", score.right, score.right + score.missed)
    print_share("whole set right", score.whole, score.tasks)
    print_share("nothing is unchecked", covered, score.tasks)
    if score.kinds:
        counts = ", ".join(f"{kind} {number}" for kind, number in sorted(Counter(score.kinds).items()))
        print(f"  without a label, and not judged: {counts}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures the checks that are derived from tasks.")
    parser.add_argument("--held-out", action="store_true", help="Measure the last 100 prompts, figures only.")
    if parser.parse_args().held_out:
        print_figures("held out", *measure(read_held_out()))
        return
    prompts = list(read_prompts())
    print_figures("in view", *measure(prompts[:DEVELOPED]))
    print_figures("measured only", *measure(prompts[DEVELOPED:]))
    print_figures("both", *measure(prompts))


if __name__ == "__main__":
    main()
