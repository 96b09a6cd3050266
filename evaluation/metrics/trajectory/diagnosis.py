"""Why an expected action was missed: what differs in an observed one of the same name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from evaluation.metrics.trajectory.actions import ActionPattern, ExpectedStep, ObservedAction
from evaluation.metrics.trajectory.arguments import Difference, differences
from evaluation.metrics.trajectory.comparison import Comparison, arguments_of
from evaluation.metrics.trajectory.outcome import ArgumentMismatch

MOST_MISMATCHES: Final = 100
_MOST_PER_PAIR: Final = 20
_MOST_TRIED: Final = 8
"""With how many of the observed actions of its name a missed step is compared, to find the closest."""
_MOST_PATH: Final = 200
_PLACES: Final = ("agent", "target", "kind")


@dataclass(frozen=True, slots=True)
class Mismatches:
    """The differences found, and whether there are more than are listed."""

    found: tuple[ArgumentMismatch, ...] = ()
    truncated: bool = False


NO_MISMATCHES: Final = Mismatches()


def find_mismatches(
    missing: Sequence[tuple[int, ExpectedStep]],
    extra: Sequence[tuple[int, ObservedAction]],
    comparison: Comparison,
) -> Mismatches:
    """Compare each missed step with the closest unexpected action of its name, each action once.

    Args:
        missing: the missed steps with their positions.
        extra: the unexpected actions with their positions.
        comparison: says which rule holds for the arguments.
    """
    everything = _every_mismatch(missing, extra, comparison)
    found = tuple(islice(everything, MOST_MISMATCHES))
    return Mismatches(found, len(found) == MOST_MISMATCHES and next(everything, None) is not None)


def _every_mismatch(
    missing: Sequence[tuple[int, ExpectedStep]],
    extra: Sequence[tuple[int, ObservedAction]],
    comparison: Comparison,
) -> Iterator[ArgumentMismatch]:
    left: defaultdict[str, list[tuple[int, ObservedAction]]] = defaultdict(list)
    for index, action in extra:
        left[action.name].append((index, action))
    for expected_index, step in missing:
        closest = _closest(step, left, comparison)
        if closest is None:
            continue
        observed_index, action, found = closest
        left[action.name].remove((observed_index, action))
        for each in found:
            yield _mismatch(action.name, expected_index, observed_index, each)


def _closest(
    step: ExpectedStep, left: dict[str, list[tuple[int, ObservedAction]]], comparison: Comparison
) -> tuple[int, ObservedAction, list[Difference]] | None:
    tried = [
        (index, action, list(islice(_differences(pattern, action, comparison), _MOST_PER_PAIR)))
        for pattern in step.patterns
        for index, action in left.get(pattern.name, ())[:_MOST_TRIED]
    ]
    return min(tried, key=lambda each: len(each[2]), default=None)


def _differences(
    pattern: ActionPattern, action: ObservedAction, comparison: Comparison
) -> Iterator[Difference]:
    for place in _PLACES:
        wanted, seen = getattr(pattern, place), getattr(action, place)
        if wanted not in (None, seen):
            yield Difference(place, "different", wanted, seen)
    if pattern.args is None:
        return
    rule = comparison.rule(pattern)
    if rule.match != "ignore" and action.args_error is not None:
        yield Difference("", "unreadable", pattern.args, action.args_error)
    elif rule.match == "custom":
        yield Difference("", "refused", pattern.args, arguments_of(action))
    else:
        yield from differences(pattern.args, arguments_of(action), rule)


def _mismatch(name: str, expected_index: int, observed_index: int, found: Difference) -> ArgumentMismatch:
    path = found.path if len(found.path) <= _MOST_PATH else found.path[:_MOST_PATH] + "..."
    return ArgumentMismatch(
        name, expected_index, observed_index, path, found.problem, found.expected, found.observed
    )
