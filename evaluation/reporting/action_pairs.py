"""Pairs the expected actions of a result with the observed ones, by the rules of its verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from evaluation.evalset.case_result import CaseResult
from evaluation.inputs.trajectory_rules import TrajectoryRules
from evaluation.metrics.trajectory.action_differences import find_differences
from evaluation.metrics.trajectory.expected_steps import (
    ExpectedStep,
    Selection,
    expected_steps,
    select_compared,
)
from evaluation.metrics.trajectory.match_result import MODES_WITHOUT_EXTRAS
from evaluation.metrics.trajectory.matching import StepPairs
from evaluation.nodes.prepare_evaluation import prepare_evaluation
from evaluation.plugins import Plugins
from evaluation.results.state import Action
from evaluation.values import JsonObject, as_list

_MOST_COMPARED: Final = 100_000
"""Most pairs of a step and an action that are compared."""


class _Pair(NamedTuple):
    """The positions of an expected step and of its action, and the places in which the two differ."""

    step: int
    action: int
    differences: Sequence[str] = ()


def pair_actions(result: CaseResult) -> JsonObject:
    """Return the actions of a result, the expected ones, and which belong together.

    Returns:
        ``steps``: for each expected step its alternatives, and whether it is optional; ``actions``: the
        fields of each observed action that have a value; ``pairs``: positions of a step and an action, and
        the JSON Pointers of the arguments that differ; ``compared_steps`` and ``compared_actions``: the
        positions that the contract compares; ``extras_fail``: whether an action that is not expected fails.
    """
    state = prepare_evaluation({**result.expected, "agent_run": result.agent_run}, Plugins())
    rules = TrajectoryRules.model_validate(state["contract"].get("trajectory") or {})
    steps, actions = expected_steps(state["expected_trajectory"]), state["actual_trajectory"]
    writing = [str(name) for name in as_list(state["agent_run"].get("writing_tools"))]
    selection = select_compared(actions, steps, rules, writing)
    compared_steps = list(_find_steps(steps, selection.steps))
    compared = {id(action) for action in selection.actions}
    compared_actions = [index for index, action in enumerate(actions) if id(action) in compared]
    return {
        "steps": [_describe_step(step) for step in steps],
        "actions": [
            {name: value for name, value in action.items() if value is not None} for action in actions
        ],
        "pairs": [
            (compared_steps[pair.step], compared_actions[pair.action], pair.differences)
            for pair in _list_pairs(selection, rules)
        ],
        "extras_fail": state["trajectory_match_mode"] in MODES_WITHOUT_EXTRAS
        or all(step.optional for step in selection.steps),
        "compared_steps": compared_steps,
        "compared_actions": compared_actions,
    }


def _describe_step(step: ExpectedStep) -> JsonObject:
    patterns = [pattern.model_dump(mode="json", exclude_unset=True) for pattern in step.patterns]
    return {"optional": step.optional, "alternatives": patterns}


def _find_steps(steps: Iterable[ExpectedStep], selected: Sequence[ExpectedStep]) -> Iterator[int]:
    """Yield the positions of the selected steps, which have lost the alternatives that are not compared."""
    kept = 0
    for index, step in enumerate(steps):
        if kept < len(selected) and all(pattern in step.patterns for pattern in selected[kept].patterns):
            yield index
            kept += 1


def _list_pairs(selection: Selection, rules: TrajectoryRules) -> Iterator[_Pair]:
    steps, actions = selection.steps, selection.actions
    if len(steps) * len(actions) > _MOST_COMPARED:
        return
    assigned = StepPairs.of(steps, actions, rules).assigned
    yield from (_Pair(step, action) for step, action in assigned.items())
    unused = {index: each for index, each in enumerate(actions) if index not in assigned.values()}
    for index, step in enumerate(steps):
        pair = None if index in assigned else _find_closest(index, step, unused, rules)
        if pair is not None:
            del unused[pair.action]
            yield pair


def _find_closest(
    index: int, step: ExpectedStep, unused: Mapping[int, Action], rules: TrajectoryRules
) -> _Pair | None:
    """Return the unused action of the same name that has the fewest differences."""
    pairs = [
        _Pair(index, action, [each.path for each in find_differences(pattern, unused[action], rules)])
        for pattern in step.patterns
        for action in unused
        if unused[action]["name"] == pattern.name
    ]
    return min(pairs, key=lambda pair: len(pair.differences), default=None)
