"""Which actions and steps the rules of a contract let into the comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from evaluation.inputs.rules import TrajectoryRules
from evaluation.metrics.trajectory.actions import ExpectedStep, ObservedAction

_Item = TypeVar("_Item")


class Selection(NamedTuple):
    """What is compared, with the positions as given, and what was seen on the way."""

    actions: Sequence[ObservedAction]
    action_indexes: Sequence[int]
    steps: Sequence[ExpectedStep]
    step_indexes: Sequence[int]
    optional: int
    """How many of the steps are."""
    forbidden: tuple[str, ...]
    failed: tuple[str, ...]
    unreadable: tuple[str, ...]


def select(
    actual: Sequence[ObservedAction], expected: Sequence[ExpectedStep], rules: TrajectoryRules
) -> Selection:
    """Leave out what the rules ignore; a step is left out if all its alternatives are.

    Forbidden actions are looked for among all: to be ignored, or to have failed, does not excuse them.
    """
    counts = _selector(rules) if rules.ignored_tools or rules.compared_tools is not None else None
    action_indexes: Sequence[int] = range(len(actual))
    step_indexes: Sequence[int] = range(len(expected))
    if counts is not None:
        action_indexes = [index for index in action_indexes if counts(actual[index].name)]
        step_indexes = [index for index in step_indexes if _counts_step(expected[index], counts)]
    failed = [index for index in action_indexes if actual[index].failed]
    if failed and rules.failed_calls == "ignore":
        action_indexes = sorted(set(action_indexes).difference(failed))
    actions, steps = _picked(actual, action_indexes), _picked(expected, step_indexes)
    return Selection(
        actions,
        action_indexes,
        steps,
        step_indexes,
        sum([step.optional for step in steps]),
        _forbidden(actual, rules.forbidden_tools) if rules.forbidden_tools else (),
        tuple([actual[index].name for index in failed]),
        tuple([action.name for action in actions if action.args_error is not None]),
    )


def _picked(items: Sequence[_Item], indexes: Sequence[int]) -> Sequence[_Item]:
    return items if len(indexes) == len(items) else [items[index] for index in indexes]


def _counts_step(step: ExpectedStep, counts: Callable[[str], bool]) -> bool:
    return any(counts(pattern.name) for pattern in step.patterns)


def _forbidden(actual: Sequence[ObservedAction], names: Iterable[str]) -> tuple[str, ...]:
    forbidden = frozenset(names)
    return tuple(action.name for action in actual if action.name in forbidden)


def _selector(rules: TrajectoryRules) -> Callable[[str], bool]:
    ignored = frozenset(rules.ignored_tools)
    if rules.compared_tools is None:
        return lambda name: name not in ignored
    return frozenset(rules.compared_tools).difference(ignored).__contains__
