"""Checks the prohibitions of a contract, for any expected trajectory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evaluation.inputs.trajectory_rules import TrajectoryRules
from evaluation.metrics.trajectory.match_result import list_names
from evaluation.results.findings import MetricOutcome, build_outcome
from evaluation.values import Severity


def check_rules(names: Mapping[str, Sequence[str]], rules: TrajectoryRules) -> list[MetricOutcome]:
    """Check the forbidden tools, the failed calls and the arguments that cannot be read."""
    checks = []
    if rules.forbidden_tools:
        problem = "Forbidden tools were called: {}; do not call them"
        checks.append(_check_none("forbidden_actions", names, "critical", problem))
    if rules.failed_calls == "fail":
        problem = "Tool calls ended in an error, or did not run: {}; correct them"
        checks.append(_check_none("failed_calls", names, "critical", problem))
    if names["unreadable_arguments"]:
        problem = "The arguments of tool calls are not a JSON object: {}; send an object"
        checks.append(_check_none("unreadable_arguments", names, "warning", problem))
    return checks


def check_unexpected_writes(
    names: Mapping[str, Sequence[str]], rules: TrajectoryRules
) -> Iterator[MetricOutcome]:
    """Check that no writing tool was called beyond the expected calls."""
    if rules.names_effects:
        problem = "Tools that change something were called beyond the expected calls: {}; do not call them"
        yield _check_none("unexpected_writes", names, "critical", problem)


def check_recorded_writes(
    names: Mapping[str, Sequence[str]], rules: TrajectoryRules, severity: Severity
) -> Iterator[MetricOutcome]:
    """Report unexpected calls that change something by the run's own word alone.

    A contract that compares effects has to say whether these calls are among them: the run needs a review.
    """
    calls = names["recorded_writes"]
    if not calls:
        return
    reason = (
        f"The run says that unexpected calls change something: {list_names(list(dict.fromkeys(calls)))}; "
        "name these tools in trajectory.writing_tools or trajectory.reading_tools"
    )
    if rules.names_effects:
        yield build_outcome("metric_error", "recorded_writes", None, severity, reason, len(calls), 0)
    else:
        yield build_outcome("trajectory", "recorded_writes", False, severity, reason, len(calls), 0)


def _check_none(
    metric: str, names: Mapping[str, Sequence[str]], severity: Severity, problem: str
) -> MetricOutcome:
    count, distinct = len(names[metric]), list(dict.fromkeys(names[metric]))
    reason = problem.format(list_names(distinct)) if count else f"{metric}: none"
    return build_outcome("trajectory", metric, not count, severity, reason, count, 0)
