"""Shows how far an evaluation is: its rate, and the time left."""

from __future__ import annotations

import time
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from evaluation.evalset.case_result import CaseResult
from orchestrator.cli.view.consoles import count_noun

_SECONDS_BETWEEN = 5.0


def show_progress(
    results: Iterator[CaseResult], before: int, total: int, console: Console
) -> Iterator[CaseResult]:
    """Yields the results, and prints every few seconds how many there are, the rate, and the time left.

    Args:
        results: The results as they come.
        before: The number of the results that an earlier command stored.
        total: The number of all results; 0 if it is unknown.
        console: Gets the lines.
    """
    start = last = time.monotonic()
    for count, result in enumerate(results, 1):
        yield result
        if (now := time.monotonic()) - last >= _SECONDS_BETWEEN:
            last = now
            console.print(Text(describe_progress(count, before, total, now - start)), style="dim")


def describe_progress(count: int, before: int, total: int, seconds: float) -> str:
    """Returns "40 of 100 runs, 2.0 runs/s, 30 s left", at the rate of the ``count`` runs since the start."""
    rate, done = count / seconds, count + before
    if not total:
        return f"{count_noun(done, 'run')}, {rate:.1f} runs/s"
    left = max(0, total - done) / rate
    return f"{done} of {count_noun(total, 'run')}, {rate:.1f} runs/s, {left:.0f} s left"
