"""Measures derived checks against tasks as users write them, with what each of them requires.

uv run python -m tests.evaluation.task_checks.users

Each line of ``users.jsonl`` was written without the rules in view: ``checks`` with the words that state them
as ``quote``, and ``unchecked``, the words of requirements that no check of the vocabulary covers. A
requirement is lost if neither a check nor the unchecked words have it: a run that loses one claims too much.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from evaluation.checks import read_checks
from evaluation.statistics.intervals import proportion
from evaluation.task_checks import derive_checks
from tests.evaluation.task_checks.scoring import Score, add, compare, normalize

ROWS = [
    json.loads(line)
    for line in Path(__file__).with_name("users.jsonl").read_text(encoding="utf-8").splitlines()
]


@dataclass(frozen=True)
class Reading:
    """What became of one task."""

    task: str
    score: Score
    missing: tuple[str, ...]
    """The words of labelled checks that were not derived."""
    listed: tuple[str, ...]
    lost: tuple[str, ...]
    """The words of requirements that are neither checked nor listed as unchecked."""
    claims: bool
    """Whether a run that passes the checks would claim to be ``checked``."""
    is_mention: bool


def read_user(row: Mapping[str, Any]) -> Reading:
    derived = derive_checks(row["task"])
    expected = read_checks(row["checks"])
    missing = tuple(check.quote for check in expected if compare([check], _of_kind(check, derived)).missed)
    quotes = [check.quote for check in derived.checks if not _is_expected(check, expected)]
    places = [*derived.unchecked, *quotes]
    lost = [words for words in missing if not _is_among(words, derived.unchecked, row["task"])]
    lost += [words for words in row["unchecked"] if not _is_among(words, places, row["task"])]
    return Reading(
        row["task"],
        compare(expected, derived.checks),
        missing,
        derived.unchecked,
        tuple(lost),
        bool(derived.checks) and not derived.unchecked,
        not (row["checks"] or row["unchecked"]),
    )


def measure() -> dict[str, tuple[int, int]]:
    """Return the figures as (number, of how many)."""
    readings = [read_user(row) for row in ROWS]
    demands = [reading for reading in readings if not reading.is_mention]
    mentions = [reading for reading in readings if reading.is_mention]
    total = reduce(add, (reading.score for reading in demands))
    return {
        "precision": (total.right, total.right + total.wrong + total.beyond),
        "recall": (total.right, total.right + total.missed),
        "whole set right": (total.whole, total.tasks),
        "mentions with a check": (sum(reading.score.beyond > 0 for reading in mentions), len(mentions)),
        "mentions with unchecked words": (sum(bool(reading.listed) for reading in mentions), len(mentions)),
        "tasks with a lost requirement": (sum(bool(reading.lost) for reading in demands), len(demands)),
        "tasks that claim too much": (
            sum(bool(reading.lost) and reading.claims for reading in demands),
            len(demands),
        ),
        "nothing is unchecked": (sum(not reading.listed for reading in demands), len(demands)),
    }


def _of_kind(check, derived):
    return [other for other in derived.checks if set(normalize([other])) & set(normalize([check]))]


def _is_expected(check, expected) -> bool:
    wanted = normalize(expected)
    return any(key in wanted for key in normalize([check]))


def _is_among(words: str, places, task: str) -> bool:
    spans = [span for place in places for span in _find(place, task)]
    return any(
        min(end, last) - max(start, first) >= 3 for start, end in _find(words, task) for first, last in spans
    )


def _find(words: str, task: str) -> Iterator[tuple[int, int]]:
    start = task.find(words)
    while start >= 0:
        yield start, start + len(words)
        start = task.find(words, start + 1)


def main() -> None:
    for name, (number, total) in measure().items():
        share = proportion(number, total)
        interval = f"[{share.interval.low:.3f}, {share.interval.high:.3f}]" if share.interval else ""
        sys.stdout.write(f"{name:<30} {number / total:.3f} {interval} of {total}\n")


if __name__ == "__main__":
    main()
