"""Pairs the expected actions of a result with the observed ones, and shows a failed result in plain text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from evaluation.cases.case_result import CaseResult
from evaluation.contract.run import ExpectedAction, TrajectoryRules
from evaluation.measures.trajectory.expected_steps import Selection, select_compared
from evaluation.measures.trajectory.match_result import MODES_WITHOUT_EXTRAS, pair_closest
from evaluation.measures.trajectory.matching import StepPairs
from evaluation.nodes.prepare_evaluation import prepare_evaluation
from evaluation.plugins import Plugins
from evaluation.report.state import read_demands
from evaluation.reporting.result_files import clean_line
from evaluation.sensitive.scanner import shorten
from evaluation.values import JsonObject, as_object

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
        ``steps``: for each expected step its alternatives; ``actions``: the fields of each observed action
        that have a value; ``pairs``: positions of a step and an action, and the JSON Pointers of the
        arguments that differ; ``compared_steps`` and ``compared_actions``: the
        positions that the contract compares; ``extras_fail``: whether an action that is not expected fails.
    """
    state = prepare_evaluation({**result.expected, "agent_run": result.agent_run}, Plugins())
    contract, actions = read_demands(state).rules, state["actual_trajectory"]
    rules, steps = contract.trajectory, contract.expected_trajectory or []
    selection = select_compared(actions, steps, rules)
    compared_steps, compared_actions = (
        _find_places(steps, selection.steps),
        _find_places(actions, selection.actions),
    )
    return {
        "steps": [_describe_step(step) for step in steps],
        "actions": [
            {name: value for name, value in action.items() if value is not None} for action in actions
        ],
        "pairs": [
            (compared_steps[pair.step], compared_actions[pair.action], pair.differences)
            for pair in _list_pairs(selection, rules)
        ],
        "extras_fail": state["trajectory_match_mode"] in MODES_WITHOUT_EXTRAS or not selection.steps,
        "compared_steps": compared_steps,
        "compared_actions": compared_actions,
    }


def _describe_step(step: ExpectedAction) -> JsonObject:
    return {"alternatives": [each.model_dump(mode="json", exclude_unset=True) for each in step.patterns]}


def _find_places(items: Sequence[object], selected: Iterable[object]) -> list[int]:
    """Return the positions of the selected items."""
    kept = {id(item) for item in selected}
    return [index for index, item in enumerate(items) if id(item) in kept]


def _list_pairs(selection: Selection, rules: TrajectoryRules) -> Iterator[_Pair]:
    steps, actions = selection.steps, selection.actions
    if len(steps) * len(actions) > _MOST_COMPARED:
        return
    assigned = StepPairs.of(steps, actions, rules).assigned
    yield from (_Pair(step, action) for step, action in assigned.items())
    open_steps = {index: each for index, each in enumerate(steps) if index not in assigned}
    unused = {index: each for index, each in enumerate(actions) if index not in assigned.values()}
    for step, action, differences in pair_closest(open_steps, unused, rules):
        yield _Pair(step, action, [each.path for each in differences])


_MOST_CALLS: Final = 20
_LONGEST_CALL: Final = 70
_LONGEST_TEXT: Final = 400


class _Row(NamedTuple):
    mark: str
    expected: str
    actual: str


def describe_failure(result: CaseResult) -> str:
    """Return the status and the reasons, the expected calls beside the actual ones, and the answer, in lines.

    A call is marked by ``-`` if it is missing, ``!`` if its arguments differ, and ``+`` if it is not allowed.

    Args:
        result: The result, with its run.
    """
    answer = result.agent_run.get("final_output")
    first, *others = map(_shorten_line, result.reasons or ("",))
    lines = [f"{result.status}: {first}", *(f"  {reason}" for reason in others)]
    lines += _draw_calls([*_list_rows(result)])
    return "\n".join([*lines, "  no answer" if answer is None else f"  answer: {_shorten_line(str(answer))}"])


def _shorten_line(text: str, limit: int = _LONGEST_TEXT) -> str:
    return shorten(clean_line(text), limit)


def _draw_calls(rows: Sequence[_Row]) -> Iterator[str]:
    if not rows:
        return
    head = "expected call" if any(row.expected for row in rows) else ""
    width = max(len(head), *(len(row.expected) for row in rows))
    yield f"    {head:{width}}  actual call"
    for mark, expected, actual in rows[:_MOST_CALLS]:
        yield f"  {mark} {expected:{width}}  {actual}".rstrip()
    if (left := len(rows) - _MOST_CALLS) > 0:
        yield f"    and {left} more"


def _list_rows(result: CaseResult) -> Iterator[_Row]:
    """Yield the expected steps with their actions, and then the actions of no step."""
    paired: dict[str, Any] = dict(pair_actions(result))
    actual = [f"{number}. {_format_call(action)}" for number, action in enumerate(paired["actions"], start=1)]
    partners = {step: (action, differences) for step, action, differences in paired["pairs"]}
    for index, step in enumerate(paired["steps"]):
        expected = " or ".join(map(_format_call, step["alternatives"]))
        action, differences = partners.get(index, (None, ()))
        is_missing = action is None and index in paired["compared_steps"]
        mark = "!" if differences else "-" if is_missing else " "
        yield _Row(mark, expected, "" if action is None else actual[action])
    used = {action for action, _ in partners.values()}
    is_expecting = result.expected.get("expected_trajectory") is not None
    for index in sorted(set(range(len(actual))) - used):
        is_refused = is_expecting and paired["extras_fail"] and index in paired["compared_actions"]
        yield _Row("+" if is_refused else " ", "", actual[index])


def _format_call(call: object) -> str:
    fields = as_object(call)
    args = as_object(fields.get("args")).items()
    written = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in args)
    error = f" -> {fields['error']}" if fields.get("error") else ""
    return _shorten_line(f"{fields.get('name')}({written}){error}", _LONGEST_CALL)
