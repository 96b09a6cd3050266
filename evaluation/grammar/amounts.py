"""Reads the numbers of parts from checks that count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from evaluation.checks.kinds.counts import CountCheck

MOST_PARTS: Final = 50
"""The server expands a part for each repetition."""
_MOST_LINES: Final = 40
_LEAST_LINES: Final = 6


def list_starts(
    check: CountCheck, write_start: Callable[[int], str], least: int = 0
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List the beginnings of the parts that have to be there, and of those that may be."""
    number = max(least, find_least(check)) if not wants_none(check) else 0
    most = min(check.max or number, MOST_PARTS + 1)
    starts = [write_start(each) for each in range(1, min(max(number, most), MOST_PARTS + 1) + 1)]
    return tuple(starts[:number]), tuple(starts[number:])


def count_lines(parts: int) -> int:
    """Return the number of further lines of each part, so that a small model comes to the last one."""
    return max(_LEAST_LINES, _MOST_LINES // max(parts, 1))


def find_least(check: CountCheck) -> int:
    """Return the least number that fulfils a check, if it is not bounded from above alone."""
    return check.exactly or check.min or 0


def is_open(check: CountCheck) -> bool:
    """Return whether a check has no upper bound."""
    return check.exactly is None and check.max is None


def wants_none(check: CountCheck) -> bool:
    """Return whether a check allows none at all."""
    return 0 in {check.exactly, check.max}


def has_only_maximum(check: CountCheck) -> bool:
    """Return whether a check has a maximum alone, which a usual text keeps."""
    return check.exactly is None and not check.min and not wants_none(check)
