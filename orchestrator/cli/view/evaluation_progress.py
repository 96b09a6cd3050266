"""Shows how far an evaluation is: its rate, and the time left."""

from __future__ import annotations

import time
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from evaluation.evalset.case_result import CaseResult
from orchestrator.cli.view.consoles import count_noun

_SECONDS_BETWEEN = 5.0


def show_progress(results: Iterator[CaseResult], total: int | None, console: Console) -> Iterator[CaseResult]:
    """Yields the results, and prints every few seconds how many there are, the rate, and the time left.

    Args:
        results: The results as they come.
        total: Their number; None if it is unknown.
        console: Gets the lines.
    """
    start = last = time.monotonic()
    for count, result in enumerate(results, 1):
        yield result
        if (now := time.monotonic()) - last >= _SECONDS_BETWEEN:
            last = now
            console.print(Text(describe_progress(count, total, now - start)), style="dim")


def describe_progress(count: int, total: int | None, seconds: float) -> str:
    """Returns "40 of 100 runs, 2.0 runs/s, 30 s left"."""
    rate = count / seconds
    done = count_noun(count, "run") if total is None else f"{count} of {count_noun(total, 'run')}"
    left = "" if total is None else f", {(total - count) / rate:.0f} s left"
    return f"{done}, {rate:.1f} runs/s{left}"
