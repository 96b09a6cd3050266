"""Explains why an expected action is missing: how the closest extra action of the same name differs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from evaluation.checks.context import NOT_RUN_WORDS
from evaluation.metrics.trajectory.action_comparison import ActionComparer
from evaluation.metrics.trajectory.actions import ExpectedStep, ObservedAction
from evaluation.metrics.trajectory.arguments.differences import Difference
from evaluation.metrics.trajectory.match_result import ArgumentMismatch, format_name
from evaluation.results.redaction import build_excerpt

MAX_MISMATCHES: Final = 100
_MAX_PER_PAIR: Final = 20
_MAX_TRIED: Final = 8
"""How many observed actions of its name a missing step is compared with, to find the closest."""


def find_mismatches(
    missing: Sequence[tuple[int, ExpectedStep]],
    extra: Sequence[tuple[int, ObservedAction]],
    comparer: ActionComparer,
) -> tuple[tuple[ArgumentMismatch, ...], bool]:
    """Compare each missing step with the closest extra action of its name, each action once.

    Args:
        missing: the missing steps with their positions.
        extra: the extra actions with their positions.
        comparer: knows which rule applies to the arguments.

    Returns:
        The differences, and whether there are more than are listed.
    """
    every_mismatch = _every_mismatch(missing, extra, comparer)
    listed = tuple(islice(every_mismatch, MAX_MISMATCHES))
    return listed, next(every_mismatch, None) is not None


def _every_mismatch(
    missing: Sequence[tuple[int, ExpectedStep]],
    extra: Sequence[tuple[int, ObservedAction]],
    comparer: ActionComparer,
) -> Iterator[ArgumentMismatch]:
    unused: defaultdict[str, list[tuple[int, ObservedAction]]] = defaultdict(list)
    for index, action in extra:
        unused[action.name].append((index, action))
    for expected_index, step in missing:
        closest = _find_closest(step, unused, comparer)
        if closest is None:
            continue
        observed_index, action, differences = closest
        unused[action.name].remove((observed_index, action))
        for difference in differences:
            yield ArgumentMismatch(action.name, expected_index, observed_index, *difference)


def _find_closest(
    step: ExpectedStep, unused: dict[str, list[tuple[int, ObservedAction]]], comparer: ActionComparer
) -> tuple[int, ObservedAction, list[Difference]] | None:
    tried = [
        (index, action, list(islice(comparer.find_differences(pattern, action), _MAX_PER_PAIR)))
        for pattern in step.patterns
        for index, action in unused.get(pattern.name, ())[:_MAX_TRIED]
    ]
    return min(tried, key=lambda candidate: len(candidate[2]), default=None)


def explain_mismatch(mismatch: ArgumentMismatch) -> str:
    """Say in a few words which argument is wrong and what it must be."""
    name, path = format_name(mismatch.name), mismatch.path.removeprefix("/")
    expected = _quote_value(mismatch.expected)
    if mismatch.problem == "failed":
        if (words := _describe_not_run(mismatch.actual)) is not None:
            return f"{name} {words} and did not run; go on without it"
        return f"{name} ended in an error; correct the call"
    if mismatch.problem == "missing":
        return f"{name} lacks {path}, which must be {expected}"
    if mismatch.problem == "unexpected":
        return f"{name} has {path}, which is not expected"
    return f"{name} has {_quote_value(mismatch.actual)}{f' for {path}' if path else ''}, not {expected}"


def _describe_not_run(reason: object) -> str | None:
    return next((words for name, words in NOT_RUN_WORDS.items() if name == reason), None)


def _quote_value(value: object) -> str:
    # An excerpt is redacted before it is cut: half of a credential would no longer be recognised.
    excerpt = str(build_excerpt(value)["excerpt"])
    return f"'{excerpt}'" if isinstance(value, str) else excerpt
