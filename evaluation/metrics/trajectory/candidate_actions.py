"""Finds the observed actions that fit each expected step, as bit masks: bit j stands for action j."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from functools import reduce
from operator import or_

from evaluation.metrics.trajectory.action_comparison import ActionComparer
from evaluation.metrics.trajectory.actions import ActionPattern, ExpectedStep, ObservedAction
from evaluation.metrics.trajectory.arguments.differences import is_plain_rule
from evaluation.metrics.trajectory.arguments.equality import hashable_key


def find_candidates(
    expected: Sequence[ExpectedStep], actual: Sequence[ObservedAction], comparer: ActionComparer
) -> list[int]:
    """Return the mask of fitting observed actions for each expected step.

    Equal actions are compared once, and so are equal patterns. Time: about linear in both if arguments are
    compared for equality; under other rules, distinct steps times distinct actions of the same name.

    Raises:
        UndecidedError: if there are too many distinct actions, or a user's function fails.
    """
    groups = _group_equal(actual)
    masks: dict[Hashable, int] = {}

    def find_mask(pattern: ActionPattern) -> int:
        rule = comparer.argument_rule(pattern)
        key = hashable_key({**vars(pattern), "arguments": vars(rule)})
        if key not in masks:
            # Under plain equality the arguments find their groups, however many there are.
            is_indexed = pattern.args is not None and is_plain_rule(rule)
            members = groups[(pattern.name, hashable_key(pattern.args)) if is_indexed else pattern.name]
            comparer.spend_comparisons(len(members))
            masks[key] = sum(mask for action, mask in members if comparer.fits(pattern, action))
        return masks[key]

    return [reduce(or_, map(find_mask, step.patterns), 0) for step in expected]


def _group_equal(
    actual: Sequence[ObservedAction],
) -> defaultdict[Hashable, list[tuple[ObservedAction, int]]]:
    """Return one of the equal actions with the mask of all: by name, and by name and arguments."""
    indexes: defaultdict[tuple[Hashable, ObservedAction], list[int]] = defaultdict(list)
    for index, action in enumerate(actual):
        indexes[hashable_key(action.args or {}), action._replace(args=None, message=None)].append(index)
    groups: defaultdict[Hashable, list[tuple[ObservedAction, int]]] = defaultdict(list)
    for (arguments, action), members in indexes.items():
        group = actual[members[0]], sum(1 << index for index in members)
        groups[action.name].append(group)
        groups[action.name, arguments].append(group)
    return groups
