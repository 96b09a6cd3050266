"""The metrics and checks of one trajectory, as the state and the report hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeGuard

from evaluation.inputs.rules import MATCH_MODES, MatchMode, TrajectoryRules
from evaluation.metrics.trajectory.actions import ExpectedStep, ObservedAction
from evaluation.metrics.trajectory.match import match_trajectory, select
from evaluation.metrics.trajectory.outcome import ArgumentMismatch, TrajectoryMatch, listed, quotable, shown
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
"""What can have a threshold, and which direction is better; a group holds them without the prefix."""
_PREFIX: Final = "trajectory_"
_LOCAL: Final = {name: name.removeprefix(_PREFIX) for name in TRAJECTORY_METRICS}
_NO_F1: Final = "precision or recall has no value"
_NO_SHARE: Final = {
    "trajectory_score": _NO_F1,
    "trajectory_precision": "no observed action was compared",
    "trajectory_recall": "no required action is expected",
    "trajectory_f1": _NO_F1,
    "trajectory_alignment": "no action was observed and none required",
}
_FORBIDDEN: Final = "forbidden actions"
_FAILED: Final = "calls that ended in an error"
_UNREADABLE: Final = "calls whose arguments are no JSON object"
_VERDICT: Final = frozenset({"trajectory_precision", "trajectory_recall", "trajectory_f1"})
"""Thresholds that stand for the verdict of mode ``precision_recall``."""


class TrajectoryScores(NamedTuple):
    """What is put into the state: values by name, reasons where there is none, checks, errors."""

    scored: JsonObject
    facts: JsonObject
    """What stands beside the metrics: names, positions, counts."""
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
    """Compare a trajectory with the expected one, and judge it by the mode, the rules and the thresholds.

    Args:
        actual: the observed actions.
        expected: the expected steps; None where nothing was expected, which is not the same as no step.
        mode: one of ``MATCH_MODES``; any other is an error of the case.
        rules: how actions are compared, and what is forbidden.
        functions: the functions that argument rules name.
        bounds: normalised thresholds by name, those of ``TRAJECTORY_METRICS``.
    """
    if not _is_mode(mode):
        return _unsupported(actual, mode, rules, bounds)
    if expected is None:
        return _nothing_expected(actual, rules, bounds)
    match = match_trajectory(actual, expected, mode, rules, functions)
    values = _values(match)
    unscored = _unscored(match, values, bounds)
    checks = (
        *_verdict(match, bounds),
        *_rule_checks(_of_match(match), rules),
        *_bound_checks(values, unscored, bounds),
    )
    errors = () if match.error is None else (f"trajectory: {match.error}",)
    return TrajectoryScores(_scored(values), _facts_of(match), _local(unscored), checks, errors)


def _values(match: TrajectoryMatch) -> dict[str, float | None]:
    return {
        "trajectory_score": match.score,
        "trajectory_precision": match.precision,
        "trajectory_recall": match.recall,
        "trajectory_f1": match.f1,
        "trajectory_alignment": match.alignment,
    }


def _is_mode(mode: str) -> TypeGuard[MatchMode]:
    return mode in MATCH_MODES


def _unsupported(
    actual: Sequence[ObservedAction], mode: str, rules: TrajectoryRules, bounds: Mapping[str, JsonObject]
) -> TrajectoryScores:
    problem = f"the match mode {shown(mode)} is not supported; use one of {', '.join(MATCH_MODES)}"
    unscored = dict.fromkeys(TRAJECTORY_METRICS, unscored_error(problem))
    seen = _of_actions(actual, rules)
    checks = (
        build_outcome("metric_error", "trajectory", None, "warning", problem),
        *_rule_checks(seen, rules),
        *_bound_checks({}, unscored, bounds),
    )
    return TrajectoryScores(
        {}, _asked(seen, rules), _local(unscored), checks, (f"trajectory_match_mode: {problem}",)
    )


def _nothing_expected(
    actual: Sequence[ObservedAction], rules: TrajectoryRules, bounds: Mapping[str, JsonObject]
) -> TrajectoryScores:
    reason = "no expected trajectory was given"
    unscored = {name: _without(reason, name in bounds) for name in TRAJECTORY_METRICS}
    seen = _of_actions(actual, rules)
    checks = (*_rule_checks(seen, rules), *_bound_checks({}, unscored, bounds))
    return TrajectoryScores({}, _asked(seen, rules), _local(unscored), checks)


class _Seen(NamedTuple):
    """What the rules ask for whatever is expected."""

    forbidden: Sequence[str]
    failed: Sequence[str]
    unreadable: Sequence[str]


def _of_match(match: TrajectoryMatch) -> _Seen:
    return _Seen(match.forbidden_actions, match.failed_calls, match.unreadable_arguments)


def _of_actions(actual: Sequence[ObservedAction], rules: TrajectoryRules) -> _Seen:
    selected = select(actual, (), rules)
    return _Seen(selected.forbidden, selected.failed, selected.unreadable)


def _asked(seen: _Seen, rules: TrajectoryRules) -> JsonObject:
    asked = {
        "forbidden_actions": (seen.forbidden, bool(rules.forbidden_tools)),
        "failed_calls": (seen.failed, rules.failed_calls == "fail"),
        "unreadable_arguments": (seen.unreadable, bool(seen.unreadable)),
    }
    return {name: quotable(names) for name, (names, wanted) in asked.items() if wanted}


def _scored(values: Mapping[str, float | None]) -> JsonObject:
    return {_LOCAL[name]: value for name, value in values.items() if value is not None}


def _facts_of(match: TrajectoryMatch) -> JsonObject:
    return {
        "match_mode": match.mode,
        "missing_actions": quotable(match.missing_actions),
        "extra_actions": quotable(match.extra_actions),
        "order_violations": quotable(match.order_violations),
        "argument_mismatches": [_mismatch(each) for each in match.argument_mismatches],
        "mismatches_truncated": match.mismatches_truncated,
        "forbidden_actions": quotable(match.forbidden_actions),
        "failed_calls": quotable(match.failed_calls),
        "unreadable_arguments": quotable(match.unreadable_arguments),
        "expected_count": match.expected_count,
        "optional_count": match.optional_count,
        "actual_count": match.actual_count,
        "matched_count": match.matched_count,
    }


def _mismatch(each: ArgumentMismatch) -> JsonObject:
    return {
        "name": quotable([each.name])[0],
        "expected_index": each.expected_index,
        "observed_index": each.observed_index,
        "path": each.path,
        "problem": each.problem,
        "expected": each.expected,
        "actual": each.actual,
    }


def _unscored(
    match: TrajectoryMatch, values: Mapping[str, float | None], bounds: Mapping[str, JsonObject]
) -> dict[str, Unscored]:
    absent = [name for name, value in values.items() if value is None]
    if match.error is not None:
        return dict.fromkeys(absent, unscored_error(match.error))
    return {name: _without(_NO_SHARE[name], name in bounds) for name in absent}


def _without(reason: str, asked: bool) -> Unscored:
    return missing_data(reason) if asked else not_applicable(reason)


def _local(unscored: Mapping[str, Unscored]) -> dict[str, Unscored]:
    return {_LOCAL[name]: reason for name, reason in unscored.items()}


def _verdict(match: TrajectoryMatch, bounds: Mapping[str, JsonObject]) -> list[MetricOutcome]:
    if match.agrees is None:
        return [build_outcome("metric_error", "trajectory", None, "warning", match.reason)]
    if match.mode == "precision_recall" and not _VERDICT.isdisjoint(bounds):
        return []
    return [
        build_outcome("trajectory", "trajectory", match.agrees, "critical", match.reason, match.score, 1.0)
    ]


def _rule_checks(seen: _Seen, rules: TrajectoryRules) -> list[MetricOutcome]:
    found = []
    if rules.forbidden_tools:
        found.append(_none_of("forbidden_actions", seen.forbidden, "critical", _FORBIDDEN))
    if rules.failed_calls == "fail":
        found.append(_none_of("failed_calls", seen.failed, "critical", _FAILED))
    if seen.unreadable:
        found.append(_none_of("unreadable_arguments", seen.unreadable, "warning", _UNREADABLE))
    return found


def _none_of(
    metric: str, names: Sequence[str], severity: Literal["warning", "critical"], what: str
) -> MetricOutcome:
    reason = f"{what}: {len(names)} ({listed(names)})" if names else f"{what}: none"
    return build_outcome("trajectory", metric, not names, severity, reason, len(names), 0)


def _bound_checks(
    values: Mapping[str, float | None], unscored: Mapping[str, Unscored], bounds: Mapping[str, JsonObject]
) -> list[MetricOutcome]:
    return [_bound_check(name, bound, values.get(name), unscored) for name, bound in bounds.items()]


def _bound_check(
    name: str, bound: JsonObject, value: float | None, unscored: Mapping[str, Unscored]
) -> MetricOutcome:
    if value is None:
        return unanswered_bound(name, bound, unscored[name]["reason"])
    return compare_with_bound("trajectory", name, value, bound, "critical")
