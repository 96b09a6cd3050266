"""When executing a step again leads nowhere: a pure decision."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.errors import ConfigurationError
from orchestrator.judging.feedback import report_score
from orchestrator.state.graph_state import StepRecord
from orchestrator.state.plain_values import shown

_LEAST: Final = 2
_SHOWN_NAME: Final = 60


@dataclass(frozen=True, slots=True)
class StallRules:
    """What ends the executions of a step early; None leaves a rule out.

    Attributes:
        same_output: The same output so many times in a row.
        same_tool_call: The same tool call with the same arguments so many times, in one execution or in
            several.
        no_improvement: So many executions in a row, the best score of which (``feedback.report_score``) was
            there before or came with the first of them. Where a report has a single check, or a monitor says
            yes or no, the score is 0 until it passes: the rule then bounds the executions as such.

    Raises:
        ConfigurationError: A value that is no whole number of at least 2, and not None.
    """

    same_output: int | None = 2
    same_tool_call: int | None = 3
    no_improvement: int | None = 3

    def __post_init__(self) -> None:
        """Refuse values that are not accepted."""
        for name, given in (
            ("same_output", self.same_output),
            ("same_tool_call", self.same_tool_call),
            ("no_improvement", self.no_improvement),
        ):
            whole = isinstance(given, int) and not isinstance(given, bool)
            if given is not None and (not whole or given < _LEAST):
                raise ConfigurationError(
                    f"{name} is {given!r:.80}; give a whole number of at least {_LEAST}, or None for no rule"
                )


def stalled(records: Sequence[StepRecord], rules: StallRules) -> str | None:
    """Why the current step leads nowhere, in one sentence; None where it may still.

    Args:
        records: The executions so far, in their order; those of the step and the plan of the last one count.
        rules: What ends a step early.
    """
    if not records:
        return None
    of = (records[-1]["step_index"], records[-1]["replan"])
    step = [record for record in records if (record["step_index"], record["replan"]) == of]
    return (
        _same_output(step, rules.same_output)
        or _same_tool_call(step, rules.same_tool_call)
        or _no_improvement(step, rules.no_improvement)
    )


def _same_output(step: Sequence[StepRecord], times: int | None) -> str | None:
    if times is None or len(step) < times:
        return None
    last = step[-times:]
    answered = all(record["error"] is None for record in last)
    same = answered and len({record["result"] for record in last}) == 1
    return f"the last {times} executions gave the same output" if same else None


def _same_tool_call(step: Sequence[StepRecord], times: int | None) -> str | None:
    if times is None:
        return None
    calls = [call for record in step for call in record["tool_calls"]]
    counts = Counter((call["name"], _written(call["args"])) for call in calls)
    for (name, _), count in counts.items():
        if count >= times:
            return f"the tool {shown(name, _SHOWN_NAME)} was called {count} times with the same arguments"
    return None


def _written(args: object) -> str:
    """Arguments in one spelling: as JSON, in which true is not 1."""
    try:
        return json.dumps(args, sort_keys=True)
    except RecursionError:
        return repr(id(args))


def _no_improvement(step: Sequence[StepRecord], times: int | None) -> str | None:
    if times is None or len(step) < times:
        return None
    scores = [report_score(record["report"] or {}) for record in step]
    last = [score for score in scores[1 - times :] if score is not None]
    before = [score for score in scores[: 1 - times] if score is not None]
    if len(last) < times - 1 or not before or max(last) > max(before):
        return None
    return f"over the last {times} executions the best score of the report stayed at {max(before):.2g} of 1"
