"""Matches an observed trajectory to the expected one: ``match_trajectory``, for every match mode."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Final, Self

from rapidfuzz.distance import LCSseq

from evaluation.checks.kinds.tools import describe_unknown
from evaluation.contract.run import MATCH_MODES, ExpectedAction, TrajectoryRules
from evaluation.measures.trajectory.expected_steps import (
    Selection,
    find_candidates,
    find_misspelt_tool,
    fits_step,
    select_compared,
)
from evaluation.measures.trajectory.match_result import (
    MODES_WITHOUT_EXTRAS,
    ORDERED_MODES,
    TrajectoryMatch,
    find_mismatches,
)
from evaluation.report.state import Action
from evaluation.sensitive.scanner import shorten

DEFAULT_RULES: Final = TrajectoryRules()
_MOST_READ: Final = 4
"""Most unknown effects that are read in every combination."""
_MAX_COMPARISONS: Final = 1_000_000
"""Most pairs of a step and an action that are compared: some seconds."""


def match_trajectory(
    actual: Sequence[Action],
    expected: Sequence[ExpectedAction],
    mode: str,
    rules: TrajectoryRules = DEFAULT_RULES,
) -> TrajectoryMatch:
    """Compare the observed actions with the expected steps.

    If the trajectories agree pair by pair, that decides. Otherwise the largest possible set of pairs is
    assigned, each action once; the rest is missing or extra.

    Args:
        actual: the observed actions, in order.
        expected: the expected steps, in order; if there is none, no action may occur.
        mode: the rule for agreement; see ``docs/reference/trajectory-matching.md``.
        rules: how arguments are compared, and which tools are ignored, forbidden or act.

    Returns:
        The result. If it cannot be decided (an unknown mode, more than a million comparisons, several steps
        in mode ``single_tool``, a call of which it is not known whether it acted), or would agree although
        the rules compare nothing or have a misspelt name, ``agrees`` is None and ``error`` says why.
    """
    unknown = [index for index, each in enumerate(actual) if each["outcome"] == "unknown"]
    readings = _list_readings(actual, unknown) if len(unknown) <= _MOST_READ else ()
    matches = [_match(reading, expected, mode, rules) for reading in readings]
    if len({each.passed for each in matches}) == 1:
        return matches[0]
    last = actual[unknown[-1]]
    return TrajectoryMatch(mode, error=describe_unknown(last["name"], last["result"]))


def _list_readings(actual: Sequence[Action], unknown: Sequence[int]) -> Iterator[Sequence[Action]]:
    """Yield the actions as they are if each unknown effect happened or not."""
    for choice in product((True, False), repeat=len(unknown)):
        acted = dict(zip(unknown, choice, strict=True))
        yield [
            _assume(each, acted=acted[index]) if index in acted else each for index, each in enumerate(actual)
        ]


def _assume(action: Action, *, acted: bool) -> Action:
    if acted:
        return {**action, "outcome": "acted", "error": None}
    return {**action, "outcome": "refused", "error": action["error"] or "error"}


def _match(
    actual: Sequence[Action], expected: Sequence[ExpectedAction], mode: str, rules: TrajectoryRules
) -> TrajectoryMatch:
    selection = select_compared(actual, expected, rules)
    result = TrajectoryMatch(
        mode,
        forbidden_actions=[
            each["name"] for each in actual if each["name"] in rules.forbidden_tools and not each["not_run"]
        ],
        unreadable_arguments=[each["name"] for each in selection.actions if each["args_error"] is not None],
        expected_count=len(selection.steps),
        actual_count=len(selection.actions),
    )
    problem = _find_problem(result, expected)
    if problem is not None:
        return result._replace(error=problem)
    match = _decide_match(result, selection, rules)
    # Thresholds may take the place of the verdict in mode precision_recall, so its shares are withdrawn too.
    if match.agrees or mode == "precision_recall":
        misspelt = find_misspelt_tool(actual, expected, rules)
        return result._replace(error=misspelt) if misspelt else match
    return match


def _find_problem(result: TrajectoryMatch, expected: Sequence[ExpectedAction]) -> str | None:
    if result.mode not in MATCH_MODES:
        modes = ", ".join(MATCH_MODES)
        return f"the match mode {shorten(result.mode)!r} is not supported; use one of {modes}"
    if result.mode == "single_tool" and result.expected_count != 1:
        return f"mode single_tool needs exactly one expected action; {result.expected_count} were given"
    if expected and not result.expected_count:
        return "ignored_tools leave out every expected action; compare one of them, or expect no action"
    return None


def _decide_match(result: TrajectoryMatch, selection: Selection, rules: TrajectoryRules) -> TrajectoryMatch:
    steps, actions = selection.steps, selection.actions
    # Most recorded runs agree: comparing pair by pair spares them the assignment.
    if len(steps) == len(actions) and all(map(fits_step, steps, actions, [rules] * len(steps))):
        return result._replace(agrees=True, matched_count=result.actual_count)
    if len(steps) * len(actions) > _MAX_COMPARISONS:
        return result._replace(error="too many actions have to be compared with too many steps")
    pairs = StepPairs.of(steps, actions, rules)
    missing, extra, agrees = pairs.missing, pairs.extra, pairs.agree(result.mode)
    out_of_order = [] if agrees or result.mode not in ORDERED_MODES else pairs.list_out_of_order()
    return result._replace(
        agrees=agrees,
        missing_actions=[" | ".join(step.names) for step in missing],
        extra_actions=[action["name"] for action in extra],
        unexpected_writes=[each["name"] for each in extra if each["name"] in (rules.acting_tools or ())],
        order_violations=[" | ".join(step.names) for step in out_of_order],
        argument_mismatches=find_mismatches(missing, extra, rules),
        matched_count=len(pairs.assigned),
    )


@dataclass(frozen=True, slots=True)
class StepPairs:
    """The action of each compared step."""

    steps: Sequence[ExpectedAction]
    actions: Sequence[Action]
    candidates: Sequence[Sequence[int]]
    """The actions that fit each step."""
    places: Sequence[int]
    """The place of each action; the calls of one message are parallel and share a place."""
    assigned: Mapping[int, int]

    @classmethod
    def of(cls, steps: Sequence[ExpectedAction], actions: Sequence[Action], rules: TrajectoryRules) -> Self:
        """Assign to each step one of the actions that fit it; as many as possible."""
        candidates = find_candidates(steps, actions, rules)
        places = _number_places([action["message"] for action in actions])
        in_order = _assign_in_order(candidates, places)
        return cls(steps, actions, candidates, places, assign_actions(candidates, in_order))

    @property
    def missing(self) -> list[ExpectedAction]:
        """The steps without an action."""
        return [step for index, step in enumerate(self.steps) if index not in self.assigned]

    @property
    def extra(self) -> list[Action]:
        """The actions without a step."""
        taken = set(self.assigned.values())
        return [action for index, action in enumerate(self.actions) if index not in taken]

    def agree(self, mode: str) -> bool:
        """Return whether steps and actions agree in a mode."""
        # An expectation of nothing would hold for every run, so it forbids all actions.
        if self.extra and (mode in MODES_WITHOUT_EXTRAS or not self.steps):
            return False
        if self.missing and mode != "subset":
            return False
        if mode == "exact":
            return self._agree_exactly()
        return mode not in ORDERED_MODES or not self.list_out_of_order()

    def _agree_exactly(self) -> bool:
        """Return whether the parallel calls of each place are the steps of the same positions."""
        groups: dict[int, list[int]] = {}
        for position, place in enumerate(self.places):
            groups.setdefault(place, []).append(position)
        return all(
            len(assign_actions([[each for each in self.candidates[i] if each in group] for i in group]))
            == len(group)
            for group in groups.values()
        )

    def list_out_of_order(self) -> list[ExpectedAction]:
        """List the steps outside one longest sequence of pairs that is in order."""
        ordered = sorted(self.assigned)
        places = [self.places[self.assigned[step]] for step in ordered]
        edits = LCSseq.editops(places, sorted(places))
        return [self.steps[step] for step in sorted(ordered[e.src_pos] for e in edits if e.tag == "delete")]


def _number_places(labels: Sequence[Hashable]) -> list[int]:
    """Return for each item the position of the first of its neighbours with its label; None stands alone."""
    places: list[int] = []
    for position, label in enumerate(labels):
        is_joined = position > 0 and label is not None and label == labels[position - 1]
        places.append(places[-1] if is_joined else position)
    return places


def _assign_in_order(candidates: Sequence[Sequence[int]], places: Sequence[int]) -> dict[int, int]:
    """Give each step the earliest free action that is not before the actions of earlier steps.

    Every step gets one if the actions are in order.
    """
    assigned: dict[int, int] = {}
    last = 0
    for step, fitting in enumerate(candidates):
        taken = assigned.values()
        action = next((each for each in fitting if places[each] >= last and each not in taken), None)
        if action is not None:
            assigned[step] = action
            last = places[action]
    return assigned


_NONE: Final[Mapping[int, int]] = MappingProxyType({})


def assign_actions(candidates: Sequence[Iterable[int]], held: Mapping[int, int] = _NONE) -> dict[int, int]:
    """Assign as many observed actions as possible, by augmenting paths (Kuhn 1955, Berge 1957).

    If all candidates of a step are taken, their holders move to other candidates. So an early choice never
    costs a later pair, and a step that has an action keeps one.

    Args:
        candidates: the actions that fit each step.
        held: the action that each step has before; such a step may get another one.

    Returns:
        The action by step; always the same for the same input.
    """
    holders = {action: step for step, action in held.items()}
    closed: set[int] = set()
    for step in range(len(candidates)):
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
