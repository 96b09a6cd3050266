"""Whether one observed action is the one that was expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evaluation.inputs.rules import ArgumentRule, TrajectoryRules
from evaluation.metrics.trajectory.actions import ActionPattern, ExpectedStep, ObservedAction
from evaluation.metrics.trajectory.arguments import differences, equal, is_plain, written
from evaluation.metrics.trajectory.outcome import shown
from evaluation.plugins import ArgumentFunction
from evaluation.values import JsonObject

MOST_COMPARISONS: Final = 1_000_000
"""Comparisons of one trajectory by rules that no index answers; some seconds. Beyond, it stays undecided."""
_NO_ARGUMENTS: Final[JsonObject] = {}


class UndecidedError(Exception):
    """Inner signal: the comparison cannot be made; the text says why. Never leaves the package."""


class Comparison:
    """Compares actions under the rules of one contract, for one pair of trajectories."""

    __slots__ = ("_answers", "_default", "_functions", "_left", "_only_equality", "_tools")

    def __init__(
        self,
        rules: TrajectoryRules,
        functions: Mapping[str, ArgumentFunction],
        most_comparisons: int = MOST_COMPARISONS,
    ) -> None:
        self._default = rules.arguments
        self._tools = rules.tools
        self._only_equality = not rules.tools and is_plain(rules.arguments)
        self._functions = functions
        self._left = most_comparisons
        self._answers: dict[tuple[int, int], bool] = {}

    def step_fits(self, step: ExpectedStep, observed: ObservedAction) -> bool:
        """Say whether an observed action is one of those that a step allows."""
        for pattern in step.patterns:
            if pattern.name == observed.name and self.fits(pattern, observed):
                return True
        return False

    def cannot_fit(self, pattern: ActionPattern, observed: ObservedAction) -> bool:
        """Say at a tenth of the price of ``fits`` that it will find no fit; False says nothing."""
        if pattern.args is None or observed.args is None or pattern.arguments is not None:
            return False
        return self._only_equality and pattern.args != observed.args

    def fits(self, pattern: ActionPattern, observed: ObservedAction) -> bool:
        """Say whether an observed action of the pattern's name has its place and its arguments."""
        if pattern.placed and not is_in_place(pattern, observed):
            return False
        if pattern.args is None:
            return True
        if self._only_equality and pattern.arguments is None:
            return _same_arguments(pattern, observed)
        return self._fits_rule(pattern, observed, pattern.args, self.rule(pattern))

    def rule(self, pattern: ActionPattern) -> ArgumentRule:
        """Return the rule for the arguments: the pattern's own, else the tool's, else that for all tools."""
        if pattern.arguments is not None:
            return pattern.arguments
        return self._tools.get(pattern.name, self._default) if self._tools else self._default

    def spend(self, comparisons: int) -> None:
        """Take note of comparisons to come.

        Raises:
            UndecidedError: these would be more than are granted.
        """
        self._left -= comparisons
        if self._left < 0:
            raise UndecidedError("too many different actions have to be compared with too many steps")

    def _fits_rule(
        self, pattern: ActionPattern, observed: ObservedAction, expected: JsonObject, rule: ArgumentRule
    ) -> bool:
        if rule.match == "ignore":
            return True
        if is_plain(rule):
            return _same_arguments(pattern, observed)
        if observed.args_error is not None:
            return False
        if rule.match == "custom":
            return self._answer(pattern, observed, str(rule.function))
        return next(differences(expected, arguments_of(observed), rule), None) is None

    def _answer(self, pattern: ActionPattern, observed: ObservedAction, name: str) -> bool:
        pair = (id(pattern), id(observed))  # both live as long as this comparison
        if pair not in self._answers:
            self._answers[pair] = self._ask(name, pattern.args or _NO_ARGUMENTS, arguments_of(observed))
        return self._answers[pair]

    def _ask(self, name: str, expected: JsonObject, actual: JsonObject) -> bool:
        function = self._functions.get(name)
        if function is None:
            raise UndecidedError(f"the argument function {shown(name)} is not registered")
        try:
            # Copies, because a function that drops what it does not compare would change the record.
            return bool(function(_copy(expected), _copy(actual)))
        except Exception as error:  # the caller's code may raise anything; its text may quote the arguments
            raise UndecidedError(
                f"the argument function {shown(name)} raised {type(error).__name__}"
            ) from error


def is_in_place(pattern: ActionPattern, observed: ObservedAction) -> bool:
    """Say whether who acted, towards whom, and in which way are as expected."""
    return (
        (pattern.agent is None or pattern.agent == observed.agent)
        and (pattern.target is None or pattern.target == observed.target)
        and (pattern.kind is None or pattern.kind == observed.kind)
    )


def _same_arguments(pattern: ActionPattern, observed: ObservedAction) -> bool:
    if observed.args_error is not None:
        return False
    actual = observed.args
    if actual is None:
        actual = _NO_ARGUMENTS
    return pattern.written == written(actual) or equal(pattern.args, actual)


def arguments_of(observed: ObservedAction) -> JsonObject:
    """Return the arguments; a call recorded without any has none."""
    return _NO_ARGUMENTS if observed.args is None else observed.args


def _copy(value: JsonObject) -> JsonObject:
    return {name: _copied(item) for name, item in value.items()}


def _copied(value: object) -> object:
    if isinstance(value, dict):
        return _copy(value)
    return [_copied(item) for item in value] if isinstance(value, list) else value
