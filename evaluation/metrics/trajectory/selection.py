"""Selects the actions and steps that are compared, by the contract's ignored and compared tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from evaluation.inputs.rules import TrajectoryRules
from evaluation.metrics.trajectory.actions import ExpectedStep, ObservedAction

_Item = TypeVar("_Item")


class Selection(NamedTuple):
    """The compared actions and steps with their original positions, and the names that other rules report."""

    actions: Sequence[ObservedAction]
    action_indexes: Sequence[int]
    steps: Sequence[ExpectedStep]
    step_indexes: Sequence[int]
    optional_count: int
    """How many of the steps are optional."""
    forbidden: tuple[str, ...]
    failed: tuple[str, ...]
    unreadable: tuple[str, ...]


def select_compared(
    actual: Sequence[ObservedAction], expected: Sequence[ExpectedStep], rules: TrajectoryRules
) -> Selection:
    """Leave out the tools that the rules ignore; a step is left out if all its alternatives are.

    Forbidden actions are searched in the whole trajectory: an ignored or failed call is still forbidden.
    """
    # Without a filter the positions stay ranges, and nothing is copied.
    is_compared = _tool_filter(rules)
    action_indexes: Sequence[int] = range(len(actual))
    step_indexes: Sequence[int] = range(len(expected))
    if is_compared is not None:
        action_indexes = [index for index in action_indexes if is_compared(actual[index].name)]
        step_indexes = [
            index
            for index in step_indexes
            if any(is_compared(pattern.name) for pattern in expected[index].patterns)
        ]
    failed = [index for index in action_indexes if actual[index].failed]
    if failed and rules.failed_calls == "ignore":
        action_indexes = sorted(set(action_indexes).difference(failed))
    forbidden = rules.forbidden_tools
    actions, steps = _pick_items(actual, action_indexes), _pick_items(expected, step_indexes)
    return Selection(
        actions,
        action_indexes,
        steps,
        step_indexes,
        sum([step.optional for step in steps]),
        tuple([action.name for action in actual if action.name in forbidden]),
        tuple([actual[index].name for index in failed]),
        tuple([action.name for action in actions if action.args_error is not None]),
    )


def _pick_items(items: Sequence[_Item], indexes: Sequence[int]) -> Sequence[_Item]:
    return items if len(indexes) == len(items) else [items[index] for index in indexes]


def _tool_filter(rules: TrajectoryRules) -> Callable[[str], bool] | None:
    if rules.compared_tools is not None:
        return frozenset(rules.compared_tools).difference(rules.ignored_tools).__contains__
    ignored = frozenset(rules.ignored_tools)
    return (lambda name: name not in ignored) if ignored else None
