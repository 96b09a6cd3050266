"""Matches an observed trajectory to the expected one: ``match_trajectory``, for every match mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple, Self

from evaluation.inputs.trajectory_rules import MATCH_MODES, TrajectoryRules
from evaluation.metrics.trajectory.action_comparison import ActionComparer
from evaluation.metrics.trajectory.actions import ExpectedStep, ObservedAction
from evaluation.metrics.trajectory.argument_mismatches import find_mismatches
from evaluation.metrics.trajectory.assignment import UndecidedError, assign_actions
from evaluation.metrics.trajectory.candidate_actions import find_candidates
from evaluation.metrics.trajectory.group_order import Order
from evaluation.metrics.trajectory.match_result import MODES_WITHOUT_EXTRAS, ORDERED_MODES, TrajectoryMatch
from evaluation.metrics.trajectory.rules.idle_rules import find_idle_rule
from evaluation.metrics.trajectory.selection import Selection, read_order, select_compared
from evaluation.plugins import ArgumentFunction
from evaluation.sensitive.quoting import shorten

DEFAULT_RULES: Final = TrajectoryRules()
_NO_FUNCTIONS: Final[Mapping[str, ArgumentFunction]] = MappingProxyType({})


def match_trajectory(
    actual: Sequence[ObservedAction],
    expected: Sequence[ExpectedStep],
    mode: str,
    rules: TrajectoryRules = DEFAULT_RULES,
    functions: Mapping[str, ArgumentFunction] = _NO_FUNCTIONS,
) -> TrajectoryMatch:
    """Compare the observed actions with the expected steps.

    If the trajectories agree pair by pair, that decides. Otherwise the largest possible set of pairs is
    assigned (each action once, required steps first); the rest is missing or extra. The arguments are never
    changed, and equal input gives an equal result.

    Args:
        actual: the observed actions, in order.
        expected: the expected steps, in order; if none is required, no other action may occur.
        mode: the rule for agreement; see ``docs/reference/trajectory-matching.md``.
        rules: how arguments are compared, and which tools are ignored, forbidden or may not fail.
        functions: the functions that argument rules with match ``custom`` name.

    Returns:
        The result. If it cannot be decided (an unknown mode, an argument function that is unknown or raises,
        more than a million comparisons, several steps in mode ``single_tool``), or would agree under rules
        that compare nothing (``find_idle_rule``), ``agrees`` is None and ``error`` says why.
    """
    selection = select_compared(actual, expected, rules)
    optional_count = len([index for index, step in selection.steps if step.optional])
    result = TrajectoryMatch(
        mode,
        agrees=None,
        forbidden_actions=selection.forbidden,
        failed_calls=selection.failed,
        unreadable_arguments=selection.unreadable,
        failures_count=rules.failed_calls == "fail",
        expected_count=len(selection.steps) - optional_count,
        optional_count=optional_count,
        actual_count=len(selection.actions),
    )
    try:
        match = _decide_match(result, selection, ActionComparer(rules, functions))
    except UndecidedError as undecided:
        return result._replace(error=str(undecided))
    # Thresholds may take the place of the verdict in mode precision_recall, so its shares are withdrawn too.
    if match.agrees or mode == "precision_recall":
        idle = find_idle_rule(actual, expected, selection, rules)
        return result._replace(error=idle) if idle else match
    return match


def _decide_match(result: TrajectoryMatch, selection: Selection, comparer: ActionComparer) -> TrajectoryMatch:
    if result.mode not in MATCH_MODES:
        modes = ", ".join(MATCH_MODES)
        raise UndecidedError(f"the match mode {shorten(result.mode)!r} is not supported; use one of {modes}")
    if result.mode == "single_tool" and (len(selection.steps) != 1 or result.optional_count):
        raise UndecidedError(
            "mode single_tool needs exactly one expected action, which is not optional; "
            f"{len(selection.steps)} were given"
        )
    steps, actions = [step for _, step in selection.steps], [action for _, action in selection.actions]
    # Most recorded runs agree: comparing pair by pair spares them the assignment.
    if len(steps) != len(actions) or not all(map(comparer.fits_step, steps, actions)):
        return _match_by_assignment(result, selection, comparer)
    return result._replace(
        agrees=True,
        matched_count=result.actual_count,
        matched_optional_count=result.optional_count,
        common_count=result.expected_count,
    )


class _Pairs(NamedTuple):
    """The action that each compared step has, and what follows from the pairs."""

    steps: Sequence[ExpectedStep]
    masks: Sequence[int]
    """The actions that fit each step."""
    assigned: Sequence[int]
    """The action of each step, or -1."""
    order: Order
    required: Sequence[int]
    """The steps that are not optional."""
    common: int
    """The number of required steps that are in order."""

    @classmethod
    def of(cls, selection: Selection, comparer: ActionComparer) -> Self:
        steps = [step for _, step in selection.steps]
        masks = find_candidates(steps, [action for _, action in selection.actions], comparer)
        required = [index for index, step in enumerate(steps) if not step.optional]
        optional = [index for index, step in enumerate(steps) if step.optional]
        assigned = assign_actions(masks, [*required, *optional], len(selection.actions))
        order = read_order(selection, comparer.rules)
        common = len(required) - len(order.find_out_of_order(masks, required, assigned))
        return cls(steps, masks, assigned, order, required, common)

    def agree(self, mode: str, *, has_missing: bool, has_extra: bool) -> bool:
        # An expectation that requires nothing would hold for every run, so it forbids all other actions.
        if has_extra and (mode in MODES_WITHOUT_EXTRAS or not self.required):
            return False
        if (has_missing and mode != "subset") or (mode == "in_order" and self.common < len(self.required)):
            return False
        return mode != "exact" or self.order.matches_exact(self.masks, [step.optional for step in self.steps])

    def find_order_violations(self, mode: str) -> tuple[str, ...]:
        # In mode in_order an optional step may stand anywhere, so only exact reports its place.
        ordered = self.required if mode == "in_order" else range(len(self.steps))
        seen = [index for index in ordered if self.assigned[index] >= 0]
        outside = self.order.find_out_of_order(self.masks, seen, self.assigned)
        return tuple([self.steps[index].name for index in outside])


def _match_by_assignment(
    result: TrajectoryMatch, selection: Selection, comparer: ActionComparer
) -> TrajectoryMatch:
    pairs = _Pairs.of(selection, comparer)
    missing = [selection.steps[index] for index in pairs.required if pairs.assigned[index] < 0]
    taken = set(pairs.assigned)
    extra = [action for index, action in enumerate(selection.actions) if index not in taken]
    agrees = pairs.agree(result.mode, has_missing=bool(missing), has_extra=bool(extra))
    is_out_of_order = not agrees and result.mode in ORDERED_MODES
    mismatches, truncated = find_mismatches(missing, extra, comparer)
    matched = result.actual_count - len(extra)
    return result._replace(
        agrees=agrees,
        missing_actions=tuple([step.name for _, step in missing]),
        extra_actions=tuple([action.name for _, action in extra]),
        unexpected_writes=tuple([each.name for _, each in extra if each.name in selection.effects.writing]),
        recorded_writes=tuple([each.name for _, each in extra if each.name in selection.effects.recorded]),
        order_violations=pairs.find_order_violations(result.mode) if is_out_of_order else (),
        argument_mismatches=mismatches,
        mismatches_truncated=truncated,
        matched_count=matched,
        matched_optional_count=matched - (len(pairs.required) - len(missing)),
        common_count=pairs.common,
    )
