"""Finds the observed actions that fit each expected step, as bit masks: bit j stands for action j."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Final

from evaluation.inputs.rules import ArgumentRule
from evaluation.metrics.trajectory.action_comparison import ActionComparer, arguments_of
from evaluation.metrics.trajectory.actions import ActionPattern, ExpectedStep, ObservedAction
from evaluation.metrics.trajectory.arguments import hashable_key, is_plain_rule

_CROWD: Final = 32
"""More actions of one name than this are grouped by equality first; for fewer, grouping costs more."""


def find_candidates(
    expected: Sequence[ExpectedStep], actual: Sequence[ObservedAction], comparer: ActionComparer
) -> list[int]:
    """Return the mask of fitting observed actions for each expected step.

    Time: steps times actions of the same name while those are few. Otherwise about linear in both if
    arguments are compared for equality, and distinct steps times distinct actions under other rules.

    Raises:
        UndecidedError: if there are too many distinct actions, or a user's function fails.
    """
    by_name: defaultdict[str, list[int]] = defaultdict(list)
    for index, action in enumerate(actual):
        by_name[action.name].append(index)
    crowds = {
        name: _Crowd(indexes, actual, comparer) for name, indexes in by_name.items() if len(indexes) > _CROWD
    }
    masks = []
    for step in expected:
        mask = 0
        for pattern in step.patterns:
            if pattern.name in crowds:
                mask |= crowds[pattern.name].find_mask(pattern)
                continue
            for index in by_name.get(pattern.name, ()):
                if comparer.fits(pattern, actual[index]):
                    mask |= 1 << index
        masks.append(mask)
    return masks


class _Crowd:
    """Many actions of one name; equal actions form a group, which is compared once."""

    def __init__(
        self, indexes: Iterable[int], actual: Sequence[ObservedAction], comparer: ActionComparer
    ) -> None:
        self._comparer = comparer
        self._masks: dict[Hashable, int] = {}
        self._groups: dict[Hashable, tuple[ObservedAction, list[int]]] = {}
        self._by_arguments: defaultdict[Hashable, list[Hashable]] = defaultdict(list)
        for index in indexes:
            self._add_action(index, actual[index])

    def _add_action(self, index: int, action: ObservedAction) -> None:
        # Arguments are also a key of their own: under plain equality they find the groups without comparing.
        arguments = _arguments_key(action)
        key = (arguments, action.agent, action.target, action.kind)
        if key not in self._groups:
            self._groups[key] = (action, [])
            self._by_arguments[arguments].append(key)
        self._groups[key][1].append(index)

    def find_mask(self, pattern: ActionPattern) -> int:
        key = self._pattern_key(pattern)
        if key not in self._masks:
            self._masks[key] = self._compare_groups(pattern)
        return self._masks[key]

    def _compare_groups(self, pattern: ActionPattern) -> int:
        keys = self._possible_groups(pattern)
        self._comparer.spend_comparisons(len(keys))
        groups = (self._groups[key] for key in keys)
        return sum(
            1 << index
            for action, indexes in groups
            if self._comparer.fits(pattern, action)
            for index in indexes
        )

    def _possible_groups(self, pattern: ActionPattern) -> Sequence[Hashable]:
        if pattern.args is not None and is_plain_rule(self._comparer.argument_rule(pattern)):
            return self._by_arguments.get(hashable_key(pattern.args), [])
        return list(self._groups)

    def _pattern_key(self, pattern: ActionPattern) -> Hashable:
        rule = _rule_key(self._comparer.argument_rule(pattern))
        return (hashable_key(pattern.args), rule, pattern.agent, pattern.target, pattern.kind)


def _rule_key(rule: ArgumentRule) -> Hashable:
    return (rule.match, tuple(rule.names or ()), rule.tolerance, rule.ignore_case, rule.function)


def _arguments_key(action: ObservedAction) -> Hashable:
    return hashable_key(arguments_of(action)) if action.args_error is None else (str, action.args_error)
