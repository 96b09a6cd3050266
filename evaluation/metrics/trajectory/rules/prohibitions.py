"""Checks the prohibitions of a contract, for any expected trajectory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evaluation.inputs.trajectory_rules import TrajectoryRules
from evaluation.metrics.trajectory.match_result import list_names
from evaluation.results.findings import FindingKind, MetricOutcome, build_outcome
from evaluation.values import Severity

Names = Mapping[str, Sequence[str]]
"""The names of actions by the metric that reports them."""


def check_rules(names: Names, rules: TrajectoryRules) -> Iterator[MetricOutcome]:
    """Check that nothing happened that the rules forbid, as far as ``names`` has the metric.

    Args:
        names: the actions that a rule may forbid, by metric.
        rules: the contract's rules.
    """
    if rules.forbidden_tools:
        problem = "Forbidden tools were called: {}; do not call them"
        yield _check_none("forbidden_actions", names, "critical", problem)
    if rules.failed_calls == "fail":
        problem = "Tool calls ended in an error, or did not run: {}; correct them"
        yield _check_none("failed_calls", names, "critical", problem)
    if names["unreadable_arguments"]:
        problem = "The arguments of tool calls are not a JSON object: {}; send an object"
        yield _check_none("unreadable_arguments", names, "warning", problem)
    if rules.names_effects and "unexpected_writes" in names:
        problem = "Tools that change something were called beyond the expected calls: {}; do not call them"
        yield _check_none("unexpected_writes", names, "critical", problem)
    if names["recorded_writes"]:
        yield _report_recorded_writes(names["recorded_writes"], rules)


def _report_recorded_writes(calls: Sequence[str], rules: TrajectoryRules) -> MetricOutcome:
    """A contract that compares effects has to say whether these calls are among them: it needs a review."""
    reason = (
        f"Unexpected calls may change something: {list_names(list(dict.fromkeys(calls)))}; "
        "name these tools in trajectory.writing_tools or trajectory.reading_tools"
    )
    kind: FindingKind = "metric_error" if rules.names_effects else "trajectory"
    passed = None if rules.names_effects else False
    return build_outcome(kind, "recorded_writes", passed, "warning", reason, len(calls), 0)


def _check_none(metric: str, names: Names, severity: Severity, problem: str) -> MetricOutcome:
    count, distinct = len(names[metric]), list(dict.fromkeys(names[metric]))
    reason = problem.format(list_names(distinct)) if count else f"{metric}: none"
    return build_outcome("trajectory", metric, not count, severity, reason, count, 0)
