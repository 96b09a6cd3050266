"""Matches an observed trajectory to the expected one: ``match_trajectory``, for every match mode."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Final, Self

from rapidfuzz.distance import LCSseq

from evaluation.checks.kinds.tools import describe_unknown
from evaluation.contract.run import MATCH_MODES, TrajectoryRules
from evaluation.measures.trajectory.expected_steps import (
    ExpectedStep,
    Selection,
    find_candidates,
    fits_step,
    select_compared,
)
from evaluation.measures.trajectory.idle_rules import find_idle_rule
from evaluation.measures.trajectory.match_result import (
    MODES_WITHOUT_EXTRAS,
    ORDERED_MODES,
    TrajectoryMatch,
    find_mismatches,
)
from evaluation.report.state import Action
from evaluation.sensitive.scanner import shorten

_LAST: Final = float("inf")


@dataclass(frozen=True, slots=True)
class ActionOrder:
    """The places of actions; the calls of one message share a place."""

    place_of_action: Sequence[int]

    @classmethod
    def of(cls, actions: Iterable[Action]) -> Self:
        """Read the places of actions."""
        return cls(_number_places([action["message"] for action in actions]))

    def assign_in_order(self, candidates: Sequence[Sequence[int]], steps: Iterable[int]) -> dict[int, int]:
        """Give each step the earliest free action that is not before the actions of earlier steps.

        Every step gets one if the actions are in order.
        """
        assigned: dict[int, int] = {}
        last = 0
        for step in steps:
            taken = assigned.values()
            later = (each for each in candidates[step] if self.place_of_action[each] >= last)
            action = next((each for each in later if each not in taken), None)
            if action is not None:
                assigned[step] = action
                last = self.place_of_action[action]
        return assigned

    def find_out_of_order(self, steps: Iterable[int], assigned: Mapping[int, int]) -> list[int]:
        """Return the steps (ascending) outside one longest sequence of pairs that is in order."""
        ordered = [step for step in steps if step in assigned]
        places = [self.place_of_action[assigned[step]] for step in ordered]
        edits = LCSseq.editops(places, sorted(places))
        return sorted(ordered[edit.src_pos] for edit in edits if edit.tag == "delete")

    def matches_exactly(
        self, candidates: Sequence[Sequence[int]], optional: Sequence[bool], assigned: Mapping[int, int]
    ) -> bool:
        """Return whether the same actions occur in the same order; an optional one may be absent.

        Parallel calls are compared in the order of ``assigned``.
        """
        rank = {action: step for step, action in assigned.items()}
        places = [(place, rank.get(each, _LAST), each) for each, place in enumerate(self.place_of_action)]
        actions = [action for _, _, action in sorted(places)]
        # The numbers of actions that the steps so far may explain: an optional step may have taken one.
        explained = {0}
        for fitting, is_optional in zip(candidates, optional, strict=True):
            following = {
                count + 1 for count in explained if count < len(actions) and actions[count] in fitting
            }
            explained = following | explained if is_optional else following
        return len(actions) in explained


def _number_places(labels: Sequence[Hashable]) -> list[int]:
    """Return for each item the position of the first of its neighbours with its label; None stands alone."""
    places: list[int] = []
    for position, label in enumerate(labels):
        is_joined = position > 0 and label is not None and label == labels[position - 1]
        places.append(places[-1] if is_joined else position)
    return places


DEFAULT_RULES: Final = TrajectoryRules()
_MOST_READ: Final = 4
"""Most unknown effects that are read in every combination."""
_MAX_COMPARISONS: Final = 1_000_000
"""Most pairs of a step and an action that are compared: some seconds."""


def match_trajectory(
    actual: Sequence[Action],
    expected: Sequence[ExpectedStep],
    mode: str,
    rules: TrajectoryRules = DEFAULT_RULES,
    recorded_writing: Iterable[str] = (),
) -> TrajectoryMatch:
    """Compare the observed actions with the expected steps.

    If the trajectories agree pair by pair, that decides. Otherwise the largest possible set of pairs is
    assigned (each action once, required steps first); the rest is missing or extra.

    Args:
        actual: the observed actions, in order.
        expected: the expected steps, in order; if none is required, no other action may occur.
        mode: the rule for agreement; see ``docs/reference/trajectory-matching.md``.
        rules: how arguments are compared, and which tools are ignored, forbidden or may not fail.
        recorded_writing: tools that change something by the run's own word.

    Returns:
        The result. If it cannot be decided (an unknown mode, more than a million comparisons, several steps
        in mode ``single_tool``, a call of which it is not known whether it acted), or would agree under rules
        that compare nothing (``find_idle_rule``), ``agrees`` is None and ``error`` says why.
    """
    unknown = [index for index, each in enumerate(actual) if each["outcome"] == "unknown"]
    if not unknown:
        return _match(actual, expected, mode, rules, recorded_writing)
    readings = _list_readings(actual, unknown)
    matches = [_match(reading, expected, mode, rules, recorded_writing) for reading in readings]
    if len({each.passed for each in matches}) == 1:
        return matches[0]
    last = actual[unknown[-1]]
    return TrajectoryMatch(mode, error=describe_unknown(last["name"], last["result"]))


def _list_readings(actual: Sequence[Action], unknown: Sequence[int]) -> Iterator[Sequence[Action]]:
    """Yield the actions as they are if each unknown effect happened or not; of many, all or none happened."""
    count = len(unknown)
    either = (
        product((True, False), repeat=count) if count <= _MOST_READ else ([True] * count, [False] * count)
    )
    for choice in either:
        acted = dict(zip(unknown, choice, strict=True))
        yield [
            _assume(each, acted=acted[index]) if index in acted else each for index, each in enumerate(actual)
        ]


def _assume(action: Action, *, acted: bool) -> Action:
    if acted:
        return {**action, "outcome": "acted", "error": None}
    return {**action, "outcome": "refused", "error": action["error"] or "error"}


def _match(
    actual: Sequence[Action],
    expected: Sequence[ExpectedStep],
    mode: str,
    rules: TrajectoryRules,
    recorded_writing: Iterable[str],
) -> TrajectoryMatch:
    selection = select_compared(actual, expected, rules, recorded_writing)
    optional_count = len([step for step in selection.steps if step.optional])
    result = TrajectoryMatch(
        mode,
        forbidden_actions=[
            each["name"] for each in actual if each["name"] in rules.forbidden_tools and not each["not_run"]
        ],
        failed_calls=selection.failed,
        unreadable_arguments=[each["name"] for each in selection.actions if each["args_error"] is not None],
        failures_count=rules.failed_calls == "fail",
        expected_count=len(selection.steps) - optional_count,
        optional_count=optional_count,
        actual_count=len(selection.actions),
    )
    problem = _find_problem(result)
    if problem is not None:
        return result._replace(error=problem)
    match = _decide_match(result, selection, rules)
    # Thresholds may take the place of the verdict in mode precision_recall, so its shares are withdrawn too.
    if match.agrees or mode == "precision_recall":
        idle = find_idle_rule(actual, expected, selection.steps, rules)
        return result._replace(error=idle) if idle else match
    return match


def _find_problem(result: TrajectoryMatch) -> str | None:
    steps = result.expected_count + result.optional_count
    if result.mode not in MATCH_MODES:
        modes = ", ".join(MATCH_MODES)
        return f"the match mode {shorten(result.mode)!r} is not supported; use one of {modes}"
    if result.mode == "single_tool" and (steps != 1 or result.optional_count):
        return (
            f"mode single_tool needs exactly one expected action, which is not optional; {steps} were given"
        )
    return None


def _decide_match(result: TrajectoryMatch, selection: Selection, rules: TrajectoryRules) -> TrajectoryMatch:
    steps, actions = selection.steps, selection.actions
    # Most recorded runs agree: comparing pair by pair spares them the assignment.
    if len(steps) == len(actions) and all(map(fits_step, steps, actions, [rules] * len(steps))):
        return result._replace(
            agrees=True,
            matched_count=result.actual_count,
            matched_optional_count=result.optional_count,
        )
    if len(steps) * len(actions) > _MAX_COMPARISONS:
        return result._replace(error="too many actions have to be compared with too many steps")
    pairs = StepPairs.of(steps, actions, rules)
    missing, extra = pairs.list_missing(), pairs.list_extra()
    agrees = pairs.agree(result.mode)
    writing = rules.acting_tools or ()
    matched_optional = len(pairs.assigned) - (len(pairs.required) - len(missing))
    return result._replace(
        agrees=agrees,
        missing_actions=[step.name for step in missing],
        extra_actions=[action["name"] for action in extra],
        unexpected_writes=[each["name"] for each in extra if each["name"] in writing],
        recorded_writes=[each["name"] for each in extra if each["name"] in selection.recorded],
        order_violations=[] if agrees else [step.name for step in pairs.list_out_of_order(result.mode)],
        argument_mismatches=find_mismatches(missing, extra, rules),
        matched_count=len(pairs.assigned),
        matched_optional_count=matched_optional,
    )


@dataclass(frozen=True, slots=True)
class StepPairs:
    """The action of each compared step, and the differences of the pairs."""

    steps: Sequence[ExpectedStep]
    actions: Sequence[Action]
    candidates: Sequence[Sequence[int]]
    """The actions that fit each step."""
    order: ActionOrder
    required: Sequence[int]
    """The steps that are not optional."""
    assigned: Mapping[int, int]

    @classmethod
    def of(cls, steps: Sequence[ExpectedStep], actions: Sequence[Action], rules: TrajectoryRules) -> Self:
        """Assign to each step one of the actions that fit it; as many as possible, required steps first."""
        candidates, order = find_candidates(steps, actions, rules), ActionOrder.of(actions)
        required = [index for index, step in enumerate(steps) if not step.optional]
        optional = [index for index, step in enumerate(steps) if step.optional]
        in_order = order.assign_in_order(candidates, required)
        assigned = assign_actions(candidates, [*required, *optional], in_order)
        return cls(steps, actions, candidates, order, required, assigned)

    def list_missing(self) -> list[ExpectedStep]:
        """List the required steps without an action."""
        return [self.steps[index] for index in self.required if index not in self.assigned]

    def list_extra(self) -> list[Action]:
        """List the actions without a step."""
        taken = set(self.assigned.values())
        return [action for index, action in enumerate(self.actions) if index not in taken]

    def agree(self, mode: str) -> bool:
        """Return whether steps and actions agree in a mode."""
        # An expectation that requires nothing would hold for every run, so it forbids all other actions.
        if self.list_extra() and (mode in MODES_WITHOUT_EXTRAS or not self.required):
            return False
        if self.list_missing() and mode != "subset":
            return False
        if mode == "exact":
            optional = [step.optional for step in self.steps]
            return self.order.matches_exactly(self.candidates, optional, self.assigned)
        return not self.list_out_of_order(mode)

    def list_out_of_order(self, mode: str) -> list[ExpectedStep]:
        """List the steps whose actions are not in the order that the mode asks for."""
        if mode not in ORDERED_MODES:
            return []
        # In mode in_order an optional step may stand anywhere, so only exact reports its place.
        compared = self.required if mode == "in_order" else range(len(self.steps))
        return [self.steps[index] for index in self.order.find_out_of_order(compared, self.assigned)]


_NONE: Final[Mapping[int, int]] = MappingProxyType({})


def assign_actions(
    candidates: Sequence[Iterable[int]], order: Iterable[int], held: Mapping[int, int] = _NONE
) -> dict[int, int]:
    """Assign as many observed actions as possible, by augmenting paths (Kuhn 1955, Berge 1957).

    If all candidates of a step are taken, their holders move to other candidates. So an early choice never
    costs a later pair, and a step that has an action keeps one: serving the required steps first serves as
    many of them as possible.

    Args:
        candidates: the actions that fit each step.
        order: indexes of the steps, in the order in which they are served.
        held: the action that each step has before; such a step may get another one.

    Returns:
        The action by step; always the same for the same input.
    """
    holders = {action: step for step, action in held.items()}
    closed: set[int] = set()
    for step in order:
        if step not in held:
            holders |= _find_path(step, candidates, holders, closed)
    return {step: action for action, step in holders.items()}


def _find_path(
    step: int, candidates: Sequence[Iterable[int]], holders: Mapping[int, int], closed: set[int]
) -> dict[int, int]:
    """Return the new holders of actions that give ``step`` one; without such a path, nothing.

    A search that fails adds the actions that it reached to ``closed``: no free one is found from them.
    """
    reached: dict[int, tuple[int, int | None]] = {}
    queue: list[tuple[int, int | None]] = [(step, None)]
    for each, own in queue:
        for action in candidates[each]:
            if action in reached or action in closed:
                continue
            reached[action] = each, own
            if action not in holders:
                return dict(_trace_path(action, reached))
            queue.append((holders[action], action))
    closed.update(reached)
    return {}


def _trace_path(
    action: int | None, reached: Mapping[int, tuple[int, int | None]]
) -> Iterator[tuple[int, int]]:
    while action is not None:
        step, own = reached[action]
        yield action, step
        action = own
