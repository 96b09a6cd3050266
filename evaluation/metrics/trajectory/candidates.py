"""Which observed actions each expected step could be, as bit masks: bit j stands for observed action j."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final

from evaluation.inputs.rules import ArgumentRule
from evaluation.metrics.trajectory.actions import ActionPattern, ExpectedStep, ObservedAction
from evaluation.metrics.trajectory.arguments import is_plain, key_of
from evaluation.metrics.trajectory.comparison import Comparison, arguments_of

_CROWD: Final = 32
"""Above as many actions of one name, equal ones are grouped first."""


def candidates(
    expected: Sequence[ExpectedStep], observed: Sequence[ObservedAction], comparison: Comparison
) -> list[int]:
    """Return the mask of fitting observed actions for each expected step.

    Time: steps times actions of the same name while those are few; else about linear in both where arguments
    are compared for equality, and distinct steps times distinct actions under other rules.

    Raises:
        UndecidedError: too many distinct actions, or a caller's function that fails.
    """
    by_name: defaultdict[str, list[int]] = defaultdict(list)
    for index, action in enumerate(observed):
        by_name[action.name].append(index)
    crowds = {} if len(observed) <= _CROWD else _crowds(by_name, observed, comparison)
    masks = []
    for step in expected:
        mask = 0
        for pattern in step.patterns:
            if pattern.name in crowds:
                mask |= crowds[pattern.name].mask(pattern)
                continue
            for index in by_name.get(pattern.name, ()):
                action = observed[index]
                if not comparison.cannot_fit(pattern, action) and comparison.fits(pattern, action):
                    mask |= 1 << index
        masks.append(mask)
    return masks


def _crowds(
    by_name: Mapping[str, Sequence[int]], observed: Sequence[ObservedAction], comparison: Comparison
) -> dict[str, _Crowd]:
    crowded = {name: indexes for name, indexes in by_name.items() if len(indexes) > _CROWD}
    return {name: _Crowd(indexes, observed, comparison) for name, indexes in crowded.items()}


class _Crowd:
    """Many actions of one name, the equal ones as one."""

    def __init__(
        self, indexes: Iterable[int], observed: Sequence[ObservedAction], comparison: Comparison
    ) -> None:
        self._comparison = comparison
        self._masks: dict[Hashable, int] = {}
        self._groups: dict[Hashable, tuple[ObservedAction, list[int]]] = {}
        self._by_arguments: defaultdict[Hashable, list[Hashable]] = defaultdict(list)
        for index in indexes:
            self._add(index, observed[index])

    def _add(self, index: int, action: ObservedAction) -> None:
        arguments = _arguments_key(action)
        key = (arguments, action.agent, action.target, action.kind)
        if key not in self._groups:
            self._groups[key] = (action, [])
            self._by_arguments[arguments].append(key)
        self._groups[key][1].append(index)

    def mask(self, pattern: ActionPattern) -> int:
        key = self._pattern_key(pattern)
        if key not in self._masks:
            self._masks[key] = self._fitting(pattern)
        return self._masks[key]

    def _fitting(self, pattern: ActionPattern) -> int:
        keys = self._possible(pattern)
        self._comparison.spend(len(keys))
        groups = (self._groups[key] for key in keys)
        return sum(
            1 << index
            for action, indexes in groups
            if self._comparison.fits(pattern, action)
            for index in indexes
        )

    def _possible(self, pattern: ActionPattern) -> Sequence[Hashable]:
        if pattern.args is not None and is_plain(self._comparison.rule(pattern)):
            return self._by_arguments.get(key_of(pattern.args), [])
        return list(self._groups)

    def _pattern_key(self, pattern: ActionPattern) -> Hashable:
        rule = _rule_key(self._comparison.rule(pattern))
        return (key_of(pattern.args), rule, pattern.agent, pattern.target, pattern.kind)


def _rule_key(rule: ArgumentRule) -> Hashable:
    return (rule.match, tuple(rule.names or ()), rule.tolerance, rule.ignore_case, rule.function)


def _arguments_key(action: ObservedAction) -> Hashable:
    return key_of(arguments_of(action)) if action.args_error is None else (str, action.args_error)
