"""Decides that executing a step again makes no progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Final, TypeAlias

from pydantic import Field

from orchestrator.retry.attempts import Attempt
from orchestrator.runtime.settings_model import SettingsModel
from orchestrator.state.plain_values import format_repr

_NAME_LENGTH: Final = 60

# One execution or one call repeats nothing, so a bound of 1 would end every step.
_Repetitions: TypeAlias = Annotated[
    int | None, Field(ge=2, description="a whole number of at least 2, or None for no rule")
]


class StallRules(SettingsModel):
    """Rules that end the executions of a step early; None switches a rule off.

    Attributes:
        same_output: Number of equal outputs in a row.
        same_tool_call: Number of calls of a tool with the same arguments, over all executions of the step.
        no_improvement: Number of executions in a row in which the best score (``Attempt.score``)
            does not rise above the score before them. If a report has a single check, or a monitor says yes
            or no, the score is 0 until it passes: the rule then bounds the number of executions.

    Raises:
        ConfigurationError: A value is neither a whole number of at least 2 nor None.
    """

    same_output: _Repetitions = 2
    same_tool_call: _Repetitions = 3
    no_improvement: _Repetitions = 3


def find_stall(executions: Sequence[Attempt], rules: StallRules) -> str | None:
    """Returns why the current step makes no progress, in one sentence; None if it may.

    Args:
        executions: The executions of the step so far, in order.
        rules: When to end a step early.
    """
    found: list[str | None] = []
    if rules.same_output:
        found.append(_find_same_output(executions[-rules.same_output :], rules.same_output))
    if rules.same_tool_call:
        found.append(_find_same_tool_call(executions, rules.same_tool_call))
    if rules.no_improvement:
        found.append(_find_no_improvement(executions, rules.no_improvement))
    return next(filter(None, found), None)


def _find_same_output(last: Sequence[Attempt], times: int) -> str | None:
    # An execution that raised has no output, which is not the same output twice.
    outputs = {None if attempt.raised else attempt.output for attempt in last}
    is_same = len(last) == times and len(outputs) == 1 and None not in outputs
    return f"the last {times} executions gave the same output" if is_same else None


def _find_same_tool_call(executions: Sequence[Attempt], times: int) -> str | None:
    counts = Counter(call for attempt in executions for call in attempt.tool_calls)
    repeated = next(((name, count) for (name, _), count in counts.items() if count >= times), None)
    if repeated is None:
        return None
    name, count = repeated
    return f"the tool {format_repr(name, _NAME_LENGTH)} was called {count} times with the same arguments"


def _find_no_improvement(executions: Sequence[Attempt], times: int) -> str | None:
    scores = [attempt.score for attempt in executions]
    # The first of the last ``times`` executions may have brought the best score, so it counts as before.
    last = [score for score in scores[1 - times :] if score is not None]
    before = [score for score in scores[: 1 - times] if score is not None]
    if len(last) < times - 1 or not before or max(last) > max(before):
        return None
    return f"over the last {times} executions the best score of the report stayed at {max(before):.2g} of 1"
