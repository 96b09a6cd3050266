"""Compares one observed action with one expected action: name, agent, target, kind and arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Final

from evaluation.inputs.trajectory_rules import ArgumentRule, TrajectoryRules
from evaluation.metrics.trajectory.actions import ActionPattern, ExpectedStep, ObservedAction
from evaluation.metrics.trajectory.arguments.differences import Difference, find_differences
from evaluation.metrics.trajectory.arguments.equality import are_equal
from evaluation.metrics.trajectory.assignment import UndecidedError
from evaluation.plugins import ArgumentFunction
from evaluation.values import JsonObject

_WORKING: Final = frozenset({"tool", "action"})
"""The kinds that fit an expected write without a kind."""
_ACTING: Final = _WORKING | {"handoff"}
"""The kinds that fit any other expected action without a kind: a thought does nothing."""
MAX_COMPARISONS: Final = 1_000_000
"""Limit for comparisons of one trajectory that equality cannot answer: some seconds."""


class ActionComparer:
    """Compares actions under the rules of one contract, for one pair of trajectories."""

    def __init__(
        self,
        rules: TrajectoryRules,
        functions: Mapping[str, ArgumentFunction],
        max_comparisons: int = MAX_COMPARISONS,
    ) -> None:
        self.rules = rules
        self._functions = functions
        self._remaining = max_comparisons

    def fits_step(self, step: ExpectedStep, observed: ObservedAction) -> bool:
        """Return whether an observed action fits one of the patterns of a step."""
        for pattern in step.patterns:
            if pattern.name == observed.name and self.fits(pattern, observed):
                return True
        return False

    def count_fitting(self, steps: Sequence[ExpectedStep], observed: ObservedAction) -> int:
        """Return the number of steps that an observed action fits, each counted against the limit.

        Raises:
            UndecidedError: if the limit is reached, or a user's function fails.
        """
        self.spend_comparisons(len(steps))
        return sum(self.fits_step(step, observed) for step in steps)

    def fits(self, pattern: ActionPattern, observed: ObservedAction) -> bool:
        """Return whether an observed action of the pattern's name does not differ from the pattern."""
        return next(self.find_differences(pattern, observed), None) is None

    def find_differences(self, pattern: ActionPattern, observed: ObservedAction) -> Iterator[Difference]:
        """Yield the differences between a pattern and an observed action of its name.

        A failed call differs from every pattern, unless the contract counts failed calls.

        Raises:
            UndecidedError: if lists without order need more comparisons than are left, or a user's function
                fails.
        """
        if observed.failed and self.rules.failed_calls != "count":
            yield Difference("error", "failed", None, observed.not_run)
        if pattern.agent is not None and pattern.agent != observed.agent:
            yield Difference("agent", "different", pattern.agent, observed.agent)
        if pattern.target is not None and pattern.target != observed.target:
            yield Difference("target", "different", pattern.target, observed.target)
        acting = _WORKING if pattern.name in (self.rules.writing_tools or ()) else _ACTING
        if observed.kind not in ({pattern.kind} if pattern.kind else acting):
            yield Difference("kind", "different", pattern.kind, observed.kind)
        if pattern.args is not None:
            yield from self._compare_arguments(pattern.args, observed, self.argument_rule(pattern))

    def _compare_arguments(
        self, expected: JsonObject, observed: ObservedAction, rule: ArgumentRule
    ) -> Iterator[Difference]:
        actual = observed.args or {}
        if rule.match == "ignore":
            return
        if observed.args_error is not None:
            yield Difference("", "unreadable", expected, observed.args_error)
        elif rule.match == "custom":
            if not self._call_function(str(rule.function), expected, actual):
                yield Difference("", "refused", expected, actual)
        # Equal arguments agree under every rule, and most arguments are equal.
        elif not are_equal(expected, actual):
            yield from find_differences(expected, actual, rule, self.spend_comparisons)

    def argument_rule(self, pattern: ActionPattern) -> ArgumentRule:
        """Return the rule for the arguments: the pattern's own, else the tool's, else the common one."""
        return pattern.arguments or self.rules.tools.get(pattern.name, self.rules.arguments)

    def spend_comparisons(self, count: int) -> None:
        """Subtract comparisons from the limit before they are made.

        Raises:
            UndecidedError: if they would exceed the limit.
        """
        self._remaining -= count
        if self._remaining < 0:
            raise UndecidedError("too many different actions have to be compared with too many steps")

    def _call_function(self, name: str, expected: JsonObject, actual: JsonObject) -> bool:
        function = self._functions.get(name)
        if function is None:
            raise UndecidedError(f"the argument function {name!r} is not registered")
        try:
            # Copies, because a function that drops what it does not compare would change the record.
            answer = function(deepcopy(expected), deepcopy(actual))
        except (
            Exception,
            SystemExit,
        ) as error:  # the user's code may raise anything; its text may quote the arguments
            raise UndecidedError(f"the argument function {name!r} raised {type(error).__name__}") from error
        # Any other answer, such as a coroutine or the text "false", would count as true.
        if not isinstance(answer, bool):
            raise UndecidedError(
                f"the argument function {name!r} returned {type(answer).__name__}; return True or False"
            )
        return answer
