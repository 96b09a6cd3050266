"""Measures the CPU time of 1,000 checks of one output of 5,000 characters: all kinds in turn.

And of deriving the checks of a task of 2,000 characters, in which nearly every sentence states a requirement.

uv run python -m benchmarks.checks

Always exits with 0; the words pass and MISSED are for people.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import cycle, islice
from statistics import median
from typing import Final

from benchmarks.measuring import print_load
from evaluation.checks import Check, CheckContext, read_checks
from evaluation.task_checks import derive_checks

CHECKS: Final = 1_000
CHARACTERS: Final = 5_000
REPEATS: Final = 7
TARGET_MS: Final = 100.0
KINDS: Final = [
    *({"check": "word_count", "min": number} for number in (100, 300, 900)),
    *({"check": kind, "min": 2} for kind in ("sentence_count", "paragraph_count", "line_count")),
    {"check": "character_count", "max": 9000},
    *({"check": kind, "min": 1} for kind in ("heading_count", "list_item_count")),
    {"check": "occurrences", "text": "e", "whole_words": False, "min": 10},
    {"check": "occurrences", "text": "river", "min": 3},
    {"check": "contains", "texts": ["river", "market"]},
    {"check": "excludes", "texts": ["mountain", "weather"]},
    {"check": "one_of", "options": ["yes", "no", "maybe"]},
    {"check": "starts_with", "text": "The"},
    {"check": "ends_with", "text": "river."},
    {"check": "letter_case", "style": "lower"},
    {"check": "language", "code": "en"},
    {"check": "excludes", "texts": [","]},
    {"check": "json"},
    {"check": "table"},
    {"check": "markdown"},
    {"check": "regex", "pattern": "riv.r"},
    {"check": "states_number", "number": 25},
    {"check": "states_number", "number": 26, "present": False},
    {"check": "schema", "json_schema": {"type": "object"}},
]
SENTENCE: Final = (
    "The old bridge crosses the river near the market, and 25 boats wait below it for the evening. "
)


TASK: Final = (
    "Write "
    "an "
    "essay "
    'of at least 300 words about the bridges of Europe, and use the words "river" and "stone". '
    "Do "
    "not "
    "use "
    "any "
    "commas. The response should have exactly 3 paragraphs, separated by ***. Explain how they "
    "were built. Each paragraph must have at most 5 sentences. Highlight at least 2 sections. "
)
TASK_CHARACTERS: Final = 2_000
TASK_TARGET_MS: Final = 20.0


def measure_derivation(number: int) -> float:
    """Measure the CPU time of deriving the checks of one task; another number gives another task."""
    task = (f"{number}. {TASK}" * (TASK_CHARACTERS // len(TASK) + 1))[:TASK_CHARACTERS]
    start = time.process_time()
    derive_checks(task)
    return (time.process_time() - start) * 1_000


def measure_milliseconds(checks: Iterable[Check], output: str) -> float:
    """Measure the CPU time of all checks of a new context, without what other checks have computed."""
    context = CheckContext(output, "Write about a bridge.")
    start = time.process_time()
    for check in checks:
        check.evaluate(context)
    return (time.process_time() - start) * 1_000


def main() -> None:
    print_load()
    output = (SENTENCE * 2 + "\n\n") * (CHARACTERS // len(SENTENCE * 2) + 1)
    checks = list(islice(cycle(read_checks(KINDS)), CHECKS))
    first = measure_milliseconds(checks, output[:CHARACTERS])
    usual = median(measure_milliseconds(checks, output[:CHARACTERS]) for _ in range(REPEATS))
    print(f"the first time, with loading: {first:.0f} ms of CPU")
    print(f"{CHECKS} checks of {CHARACTERS} characters: {usual:.0f} ms of CPU", end=" ")
    print("pass" if usual < TARGET_MS else "MISSED")
    derivation = median(measure_derivation(number) for number in range(REPEATS * 3))
    print(f"deriving from a task of {TASK_CHARACTERS} characters: {derivation:.1f} ms of CPU", end=" ")
    print("pass" if derivation < TASK_TARGET_MS else "MISSED")


if __name__ == "__main__":
    main()
