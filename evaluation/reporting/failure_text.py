"""Describes a result that is not accepted, in plain text for the output of a test."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from evaluation.evalset.case_result import CaseResult
from evaluation.reporting.action_pairs import pair_actions
from evaluation.reporting.result_files import clean_line
from evaluation.sensitive.quoting import shorten
from evaluation.values import as_object

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
        expected += " (optional)" if step["optional"] else ""
        action, differences = partners.get(index, (None, ()))
        is_missing = action is None and index in paired["compared_steps"] and not step["optional"]
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
