"""Scores one trajectory: the metrics, facts and checks that go into the state and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeGuard

from evaluation.inputs.rules import MATCH_MODES, MatchMode, Severity, TrajectoryRules
from evaluation.metrics.trajectory.actions import ExpectedStep, ObservedAction
from evaluation.metrics.trajectory.argument_mismatches import explain_mismatch
from evaluation.metrics.trajectory.match_result import (
    TrajectoryMatch,
    list_names,
    quote_name,
    shorten_names,
)
from evaluation.metrics.trajectory.matching import match_trajectory
from evaluation.metrics.trajectory.selection import select_compared
from evaluation.plugins import ArgumentFunction
from evaluation.results.findings import (
    MetricOutcome,
    Unscored,
    build_outcome,
    missing_data,
    not_applicable,
    unscored_error,
)
from evaluation.results.thresholds import compare_with_bound, unanswered_bound
from evaluation.values import JsonObject

TRAJECTORY_METRICS: Final[Mapping[str, Literal["higher", "lower"]]] = MappingProxyType(
    {
        "trajectory_score": "higher",
        "trajectory_precision": "higher",
        "trajectory_recall": "higher",
        "trajectory_f1": "higher",
        "trajectory_alignment": "higher",
    }
)
"""The metrics that may have a threshold, with the direction that is better; the group drops the prefix."""
_PREFIX: Final = "trajectory_"
_SHORT_NAMES: Final = {name: name.removeprefix(_PREFIX) for name in TRAJECTORY_METRICS}
_NO_F1: Final = "precision or recall has no value"
_NO_SHARE: Final = {
    "trajectory_score": _NO_F1,
    "trajectory_precision": "no observed action was compared",
    "trajectory_recall": "no required action is expected",
    "trajectory_f1": _NO_F1,
    "trajectory_alignment": "no action was observed and none required",
}
_MAX_DIFFERENCES: Final = 5
_FORBIDDEN: Final = ("Forbidden tools were called", "do not call them")
_FAILED: Final = ("Tool calls ended in an error", "correct them")
_UNREADABLE: Final = ("The arguments of tool calls are no JSON object", "send an object")
_VERDICT_METRICS: Final = frozenset({"trajectory_precision", "trajectory_recall", "trajectory_f1"})
"""Thresholds on these replace the verdict of mode ``precision_recall``."""


class TrajectoryScores(NamedTuple):
    """The update of the state: values by name, reasons for missing values, checks, errors."""

    scored: JsonObject
    facts: JsonObject
    """Reported with the metrics: names, positions, counts."""
    unscored: Mapping[str, Unscored]
    checks: tuple[MetricOutcome, ...]
    errors: tuple[str, ...] = ()


def score_trajectory(  # noqa: PLR0917
    actual: Sequence[ObservedAction],
    expected: Sequence[ExpectedStep] | None,
    mode: str,
    rules: TrajectoryRules,
    functions: Mapping[str, ArgumentFunction],
    bounds: Mapping[str, JsonObject],
) -> TrajectoryScores:
    """Compare a trajectory with the expected one, and check the mode, the rules and the thresholds.

    Args:
        actual: the observed actions.
        expected: the expected steps; None if the contract expects nothing, which differs from no step.
        mode: one of ``MATCH_MODES``; any other is reported as an error of the case.
        rules: how actions are compared, and which are forbidden.
        functions: the functions that argument rules name.
        bounds: normalised thresholds on ``TRAJECTORY_METRICS``, by name.
    """
    if not _is_match_mode(mode):
        problem = f"the match mode {quote_name(mode)} is not supported; use one of {', '.join(MATCH_MODES)}"
        unscored = dict.fromkeys(TRAJECTORY_METRICS, unscored_error(problem))
        return _score_unmatched(actual, rules, bounds, unscored, problem)
    if expected is None:
        reason = "no expected trajectory was given"
        unscored = {name: _unscored_reason(reason, name in bounds) for name in TRAJECTORY_METRICS}
        return _score_unmatched(actual, rules, bounds, unscored)
    match = match_trajectory(actual, expected, mode, rules, functions)
    values = _metric_values(match)
    unscored = _explain_unscored(match, values, bounds)
    names = _names_by_metric(match.forbidden_actions, match.failed_calls, match.unreadable_arguments)
    checks = (
        *_mode_checks(match, bounds),
        *_rule_checks(names, rules),
        *_check_bounds(values, unscored, bounds),
    )
    errors = () if match.error is None else (f"trajectory: {match.error}",)
    return TrajectoryScores(
        _short_values(values), _match_facts(match), _short_reasons(unscored), checks, errors
    )


def _metric_values(match: TrajectoryMatch) -> dict[str, float | None]:
    return {
        "trajectory_score": match.score,
        "trajectory_precision": match.precision,
        "trajectory_recall": match.recall,
        "trajectory_f1": match.f1,
        "trajectory_alignment": match.alignment,
    }


def _is_match_mode(mode: str) -> TypeGuard[MatchMode]:
    return mode in MATCH_MODES


def _score_unmatched(
    actual: Sequence[ObservedAction],
    rules: TrajectoryRules,
    bounds: Mapping[str, JsonObject],
    unscored: Mapping[str, Unscored],
    problem: str | None = None,
) -> TrajectoryScores:
    """Check only the rules that need no expected trajectory."""
    selection = select_compared(actual, (), rules)
    names = _names_by_metric(selection.forbidden, selection.failed, selection.unreadable)
    rule_checks = _rule_checks(names, rules)
    facts = {check["metric"]: shorten_names(names[check["metric"]]) for check in rule_checks}
    checks = (*rule_checks, *_check_bounds({}, unscored, bounds))
    if problem is None:
        return TrajectoryScores({}, facts, _short_reasons(unscored), checks)
    error = build_outcome("metric_error", "trajectory", None, "warning", problem)
    errors = (f"trajectory_match_mode: {problem}",)
    return TrajectoryScores({}, facts, _short_reasons(unscored), (error, *checks), errors)


def _short_values(values: Mapping[str, float | None]) -> JsonObject:
    return {_SHORT_NAMES[name]: value for name, value in values.items() if value is not None}


def _match_facts(match: TrajectoryMatch) -> JsonObject:
    return {
        "match_mode": match.mode,
        "missing_actions": shorten_names(match.missing_actions),
        "extra_actions": shorten_names(match.extra_actions),
        "order_violations": shorten_names(match.order_violations),
        "argument_mismatches": [
            {**each._asdict(), "name": shorten_names([each.name])[0]} for each in match.argument_mismatches
        ],
        "mismatches_truncated": match.mismatches_truncated,
        "forbidden_actions": shorten_names(match.forbidden_actions),
        "failed_calls": shorten_names(match.failed_calls),
        "unreadable_arguments": shorten_names(match.unreadable_arguments),
        "expected_count": match.expected_count,
        "optional_count": match.optional_count,
        "actual_count": match.actual_count,
        "matched_count": match.matched_count,
    }


def _explain_unscored(
    match: TrajectoryMatch, values: Mapping[str, float | None], bounds: Mapping[str, JsonObject]
) -> dict[str, Unscored]:
    absent = [name for name, value in values.items() if value is None]
    if match.error is not None:
        return dict.fromkeys(absent, unscored_error(match.error))
    return {name: _unscored_reason(_NO_SHARE[name], name in bounds) for name in absent}


def _unscored_reason(reason: str, has_threshold: bool) -> Unscored:
    return missing_data(reason) if has_threshold else not_applicable(reason)


def _short_reasons(unscored: Mapping[str, Unscored]) -> dict[str, Unscored]:
    return {_SHORT_NAMES[name]: reason for name, reason in unscored.items()}


def _mode_checks(match: TrajectoryMatch, bounds: Mapping[str, JsonObject]) -> list[MetricOutcome]:
    if match.agrees is None:
        return [build_outcome("metric_error", "trajectory", None, "warning", match.reason)]
    if match.mode == "precision_recall" and not _VERDICT_METRICS.isdisjoint(bounds):
        return []
    return [
        build_outcome(
            "trajectory", "trajectory", match.agrees, "critical", _explain_match(match), match.score, 1.0
        )
    ]


def _explain_match(match: TrajectoryMatch) -> str:
    differences = match.argument_mismatches[:_MAX_DIFFERENCES]
    if match.agrees or not differences:
        return match.reason
    return f"{match.reason.rstrip('.')} ({'; '.join(map(explain_mismatch, differences))})."


def _names_by_metric(
    forbidden: Sequence[str], failed: Sequence[str], unreadable: Sequence[str]
) -> dict[str, Sequence[str]]:
    return {"forbidden_actions": forbidden, "failed_calls": failed, "unreadable_arguments": unreadable}


def _rule_checks(names: Mapping[str, Sequence[str]], rules: TrajectoryRules) -> list[MetricOutcome]:
    checks = []
    if rules.forbidden_tools:
        checks.append(_check_none("forbidden_actions", names, "critical", _FORBIDDEN))
    if rules.failed_calls == "fail":
        checks.append(_check_none("failed_calls", names, "critical", _FAILED))
    if names["unreadable_arguments"]:
        checks.append(_check_none("unreadable_arguments", names, "warning", _UNREADABLE))
    return checks


def _check_none(
    metric: str, names: Mapping[str, Sequence[str]], severity: Severity, text: tuple[str, str]
) -> MetricOutcome:
    problem, instruction = text
    count, distinct = len(names[metric]), list(dict.fromkeys(names[metric]))
    reason = f"{problem}: {list_names(distinct)}; {instruction}" if count else f"{metric}: none"
    return build_outcome("trajectory", metric, not count, severity, reason, count, 0)


def _check_bounds(
    values: Mapping[str, float | None], unscored: Mapping[str, Unscored], bounds: Mapping[str, JsonObject]
) -> list[MetricOutcome]:
    return [_check_bound(name, bound, values.get(name), unscored) for name, bound in bounds.items()]


def _check_bound(
    name: str, bound: JsonObject, value: float | None, unscored: Mapping[str, Unscored]
) -> MetricOutcome:
    if value is None:
        return unanswered_bound(name, bound, unscored[name]["reason"])
    return compare_with_bound("trajectory", name, value, bound, "critical")
