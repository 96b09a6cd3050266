"""Checks that the tools which a contract names in ``must_call`` were called successfully."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from evaluation.checks import CheckContext, ToolUse
from evaluation.checks.kinds.tools import ToolCalls
from evaluation.metrics.trajectory.match_result import list_names
from evaluation.results.findings import FindingKind, MetricOutcome, build_outcome
from evaluation.results.state import Action
from evaluation.values import Severity

MUST_CALL: Final = "must_call"
_CALLS: Final = ("tool", "action")
"""The kinds of actions that are calls."""


def read_tool_calls(actions: Iterable[Action]) -> tuple[ToolUse, ...]:
    """Return the actions that are calls, as checks read them."""
    return tuple(
        ToolUse(action["name"], action["args"], action["result"], action["error"], action["not_run"])
        for action in actions
        if action["kind"] in _CALLS
    )


def check_required_calls(
    names: Sequence[str], actions: Sequence[Action], *, is_recorded: bool
) -> Iterator[MetricOutcome]:
    """Check that each tool was called at least once without an error.

    Args:
        names: The tools.
        actions: The observed actions; thoughts and hand-offs are no calls.
        is_recorded: Whether the run records its actions at all.
    """
    if not names:
        return
    calls = read_tool_calls(actions)
    context = CheckContext("", tool_calls=calls)
    passed = {name: ToolCalls(tool=name, min=1).evaluate(context).passed for name in names}
    missing = [name for name, answer in passed.items() if not answer]
    if not is_recorded:
        problem = "the run does not record its actions (tool_calls), so nothing shows that {} were called"
        yield _build("missing_data", None, "warning", problem, missing)
    elif failed := [name for name, answer in passed.items() if answer is False]:
        problem = (
            f"Tools that have to be called successfully were not: {{}}; {_describe_failure(failed, calls)}"
        )
        yield _build("trajectory", False, "critical", problem, failed)
    elif missing:
        problem = "The answers of tools that have to be called describe an error: {}; have a person look"
        yield _build("inconclusive", None, "warning", problem, missing)
    else:
        yield build_outcome("trajectory", MUST_CALL, True, "critical", "each tool was called", 0, 0)


def _describe_failure(failed: Sequence[str], calls: Sequence[ToolUse]) -> str:
    made = [call for call in calls if call.name in failed]
    if not {call.name for call in made}.issuperset(failed):
        return "call each of them"
    reasons = {call.not_run for call in made}
    if reasons == {"denied"}:
        return "their calls were denied, so they did not run; go on without them, and say so"
    return "their calls ended in an error; call each of them"


def _build(
    kind: FindingKind, passed: bool | None, severity: Severity, problem: str, names: Sequence[str]
) -> MetricOutcome:
    return build_outcome(kind, MUST_CALL, passed, severity, problem.format(list_names(names)), len(names), 0)
