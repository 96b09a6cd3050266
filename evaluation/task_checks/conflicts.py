"""Finds checks that no output can pass together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final

from evaluation.checks import Check
from evaluation.checks.base import join_quoted
from evaluation.checks.kinds.counts import CountCheck

_NAMES: Final = frozenset({"quote", "severity"})
_SINGLE: Final = frozenset({"letter_case", "language", "starts_with", "ends_with"})


def find_conflicts(checks: Sequence[Check]) -> list[list[Check]]:
    """Returns the sets of checks that contradict each other."""
    groups: dict[object, list[Check]] = defaultdict(list)
    for check in checks:
        is_count = isinstance(check, CountCheck)
        subject = check.model_dump_json(exclude={*_NAMES, "min", "max", "exactly"} if is_count else set())
        groups[check.check if check.check in _SINGLE else subject].append(check)
    opposites = [[first, second] for first, second in combinations(checks, 2) if _oppose(first, second)]
    return [*(group for group in groups.values() if not _can_agree(group)), *opposites]


def describe_conflict(group: Iterable[Check]) -> str:
    """Returns one sentence about checks that contradict each other."""
    quotes = list(dict.fromkeys(check.quote or check.check for check in group))
    return f"No output can fulfil {join_quoted(quotes)}; the task is not checked for them."


def _can_agree(group: Sequence[Check]) -> bool:
    if group[0].check in _SINGLE:
        return len({check.model_dump_json(exclude={*_NAMES}) for check in group}) == 1
    counts = [check for check in group if isinstance(check, CountCheck)]
    least = [check.min if check.exactly is None else check.exactly for check in counts]
    most = [check.max if check.exactly is None else check.exactly for check in counts]
    lowest = max((bound for bound in least if bound is not None), default=0)
    return all(bound is None or lowest <= bound for bound in most)


def _oppose(first: Check, second: Check) -> bool:
    """Returns whether one check forbids the words that the other requires."""
    required = {word for check in (first, second) if check.check == "contains" for word in check.texts}
    required |= {check.text for check in (first, second) if check.check == "occurrences" and check.max != 0}
    forbidden = {word for check in (first, second) if check.check == "excludes" for word in check.texts}
    return bool({word.casefold() for word in required} & {word.casefold() for word in forbidden})
