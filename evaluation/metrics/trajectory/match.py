"""Which actions and steps the rules of a contract let into the comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

from evaluation.inputs.rules import MatchMode, TrajectoryRules
from evaluation.metrics.trajectory.actions import ExpectedStep, ObservedAction
from evaluation.metrics.trajectory.assignment import assign, common_length, out_of_order
from evaluation.metrics.trajectory.candidates import candidates
from evaluation.metrics.trajectory.comparison import Comparison, UndecidedError
from evaluation.metrics.trajectory.diagnosis import NO_MISMATCHES, Mismatches, find_mismatches
from evaluation.metrics.trajectory.modes import AGREES, ORDERED, Pairing
from evaluation.metrics.trajectory.outcome import TrajectoryMatch
from evaluation.plugins import ArgumentFunction

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


DEFAULT_RULES: Final = TrajectoryRules()
_NO_FUNCTIONS: Final[Mapping[str, ArgumentFunction]] = MappingProxyType({})


def match_trajectory(
    actual: Sequence[ObservedAction],
    expected: Sequence[ExpectedStep],
    mode: MatchMode,
    rules: TrajectoryRules = DEFAULT_RULES,
    functions: Mapping[str, ArgumentFunction] = _NO_FUNCTIONS,
) -> TrajectoryMatch:
    """Compare what was done with what was expected.

    Trajectories that agree pair by pair are decided by that alone. Else the most pairs that are possible are
    found (each action once, required steps first); what is left over is missing or extra. Nothing given is
    changed, and equal input gives an equal result.

    Args:
        actual: the observed actions, in order.
        expected: the expected steps, in order; empty means that no action should have been seen.
        mode: what counts as agreement; see ``docs/trajectory-matching.md``.
        rules: how arguments are compared, and what is left out, forbidden or a failure.
        functions: the functions that rules with match ``custom`` name.

    Returns:
        The result; where it cannot be decided (an argument function that is unknown or raises, more than a
        million comparisons, several steps in mode ``single_tool``) ``error`` says why.
    """
    selected = select(actual, expected, rules)
    try:
        found = _found(selected, mode, Comparison(rules, functions))
    except UndecidedError as undecided:
        found = _Found(None, error=str(undecided))
    return _result(selected, mode, rules, found)


class _Found(NamedTuple):
    agrees: bool | None
    matched: int = 0
    matched_optional: int = 0
    common: int = 0
    missing: Sequence[int] = ()
    extra: Sequence[int] = ()
    order_violations: Sequence[int] = ()
    mismatches: Mismatches = NO_MISMATCHES
    error: str | None = None


def _found(selected: Selection, mode: MatchMode, comparison: Comparison) -> _Found:
    if mode == "single_tool":
        _check_single(selected)
    if _agree_pair_by_pair(selected, comparison):
        count = len(selected.steps)
        return _Found(True, count, selected.optional, count - selected.optional)
    return _assigned(selected, mode, comparison)


def _check_single(selected: Selection) -> None:
    if len(selected.steps) != 1 or selected.steps[0].optional:
        raise UndecidedError(
            "mode single_tool needs exactly one expected action, which is not optional; "
            f"{len(selected.steps)} were given"
        )


def _agree_pair_by_pair(selected: Selection, comparison: Comparison) -> bool:
    steps, actions = selected.steps, selected.actions
    return len(steps) == len(actions) and all(map(comparison.step_fits, steps, actions))


def _assigned(selected: Selection, mode: MatchMode, comparison: Comparison) -> _Found:
    steps, count = selected.steps, len(selected.actions)
    masks = candidates(steps, selected.actions, comparison)
    required, optional = _by_need(selected)
    held = assign(masks, required, optional, count)
    missing = [index for index in required if held[index] < 0]
    extra = sorted(set(range(count)).difference(held))
    agrees = AGREES[mode](Pairing(masks, steps, count, missing, extra))
    ordered = required if mode == "in_order" else range(len(steps))
    return _Found(
        agrees,
        count - len(extra),
        len([index for index in optional if held[index] >= 0]),
        common_length([masks[index] for index in required] if optional else masks),
        missing,
        extra,
        () if agrees or mode not in ORDERED else _violations(ordered, held, masks),
        _mismatches(selected, missing, extra, comparison) if missing and extra else NO_MISMATCHES,
    )


def _by_need(selected: Selection) -> tuple[Sequence[int], Sequence[int]]:
    every = range(len(selected.steps))
    if not selected.optional:
        return every, ()
    optional = [index for index in every if selected.steps[index].optional]
    return sorted(set(every).difference(optional)), optional


def _violations(ordered: Sequence[int], held: Sequence[int], masks: Sequence[int]) -> list[int]:
    seen = [step for step in ordered if held[step] >= 0]
    return [seen[place] for place in out_of_order([masks[step] for step in seen])]


def _mismatches(
    selected: Selection, missing: Sequence[int], extra: Sequence[int], comparison: Comparison
) -> Mismatches:
    return find_mismatches(
        [(selected.step_indexes[index], selected.steps[index]) for index in missing],
        [(selected.action_indexes[index], selected.actions[index]) for index in extra],
        comparison,
    )


def _result(selected: Selection, mode: MatchMode, rules: TrajectoryRules, found: _Found) -> TrajectoryMatch:
    steps, actions, optional = selected.steps, selected.actions, selected.optional
    return TrajectoryMatch(
        mode,
        found.agrees,
        found.error,
        tuple([steps[index].name for index in found.missing]),
        tuple([actions[index].name for index in found.extra]),
        tuple([steps[index].name for index in found.order_violations]),
        found.mismatches.found,
        found.mismatches.truncated,
        selected.forbidden,
        selected.failed,
        selected.unreadable,
        rules.failed_calls == "fail",
        len(steps) - optional,
        optional,
        len(actions),
        found.matched,
        found.matched_optional,
        found.common,
    )
