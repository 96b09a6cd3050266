"""Scores one trajectory: the metrics, facts and checks that go into the state and the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from evaluation.inputs.trajectory_rules import MATCH_MODES, TrajectoryRules
from evaluation.metrics.trajectory.actions import ExpectedStep, ObservedAction
from evaluation.metrics.trajectory.argument_mismatches import explain_mismatch
from evaluation.metrics.trajectory.match_result import TrajectoryMatch
from evaluation.metrics.trajectory.matching import match_trajectory
from evaluation.metrics.trajectory.rules.idle_rules import find_idle_rule
from evaluation.metrics.trajectory.rules.prohibitions import check_rules
from evaluation.metrics.trajectory.selection import select_compared
from evaluation.plugins import ArgumentFunction
from evaluation.results.findings import (
    MetricOutcome,
    Score,
    Unscored,
    build_outcome,
    missing_data,
    not_applicable,
    unscored_error,
)
from evaluation.results.thresholds import check_bounds
from evaluation.sensitive.quoting import shorten
from evaluation.values import JsonObject

_PREFIX: Final = "trajectory_"
_NO_F1: Final = "precision or recall has no value"
_NO_SHARE: Final = {
    "score": _NO_F1,
    "precision": "no observed action was compared",
    "recall": "no required action is expected",
    "f1": _NO_F1,
    "alignment": "no action was observed and none required",
}
TRAJECTORY_METRICS: Final[Mapping[str, Literal["higher", "lower"]]] = dict.fromkeys(
    [f"{_PREFIX}{name}" for name in _NO_SHARE], "higher"
)
"""The metrics that may have a threshold, with the direction that is better; the group drops the prefix."""
_DIFFERENCES: Final = ("missing_actions", "extra_actions", "order_violations")
_PROHIBITED: Final = (
    "forbidden_actions",
    "failed_calls",
    "unreadable_arguments",
    "unexpected_writes",
    "recorded_writes",
)
_COUNTS: Final = ("expected_count", "optional_count", "actual_count", "matched_count")
_MAX_DIFFERENCES: Final = 5
_MAX_CHARACTERS: Final = 200
"""Most characters of a name in the report: a model may call a tool by a whole text."""
_VERDICT_METRICS: Final = frozenset({"trajectory_precision", "trajectory_recall", "trajectory_f1"})
"""Minima above 0 on these, of severity critical, replace the verdict of mode ``precision_recall``."""


class TrajectoryScores(NamedTuple):
    """The update of the state: scores by name, names and positions and counts, checks, errors."""

    scores: Mapping[str, Score]
    facts: JsonObject
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
    if expected is None and mode in MATCH_MODES:
        return _score_unmatched(actual, rules, bounds)
    return _score_match(match_trajectory(actual, expected or (), mode, rules, functions), rules, bounds)


def _score_unmatched(
    actual: Sequence[ObservedAction],
    rules: TrajectoryRules,
    bounds: Mapping[str, JsonObject],
) -> TrajectoryScores:
    """Check only the rules that need no expected trajectory."""
    scores = {name: _explain_unscored(name, "no expected trajectory was given", bounds) for name in _NO_SHARE}
    selection = select_compared(actual, (), rules)
    names = {
        "forbidden_actions": selection.forbidden,
        "failed_calls": selection.failed,
        "unreadable_arguments": selection.unreadable,
        # A contract that says nothing of actions permits them.
        "recorded_writes": [
            action.name
            for action in actual
            if rules.names_effects and action.name in selection.effects.recorded
        ],
    }
    rule_checks = [*check_rules(names, rules)]
    facts: JsonObject = {check["metric"]: _shorten_names(names[check["metric"]]) for check in rule_checks}
    idle = find_idle_rule(actual, (), selection, rules)
    idle_checks = [build_outcome("metric_error", "trajectory", None, "warning", idle)] if idle else []
    return TrajectoryScores(scores, facts, (*idle_checks, *rule_checks, *_check_bounds(scores, bounds)))


def _score_match(
    match: TrajectoryMatch, rules: TrajectoryRules, bounds: Mapping[str, JsonObject]
) -> TrajectoryScores:
    scores = {name: _read_share(match, name, bounds) for name in _NO_SHARE}
    names = {name: getattr(match, name) for name in _PROHIBITED}
    checks = (
        *_mode_checks(match, bounds),
        *check_rules(names, rules),
        *_check_bounds(scores, bounds),
    )
    errors = () if match.error is None else (f"trajectory: {match.error}",)
    return TrajectoryScores(scores, _match_facts(match), checks, errors)


def _match_facts(match: TrajectoryMatch) -> JsonObject:
    mismatches = [
        {**mismatch._asdict(), "name": shorten(mismatch.name, _MAX_CHARACTERS)}
        for mismatch in match.argument_mismatches
    ]
    return {
        "match_mode": match.mode,
        **{name: _shorten_names(getattr(match, name)) for name in (*_DIFFERENCES, *_PROHIBITED)},
        "argument_mismatches": mismatches,
        "mismatches_truncated": match.mismatches_truncated,
        **{name: getattr(match, name) for name in _COUNTS},
    }


def _shorten_names(names: Sequence[str]) -> list[str]:
    return [shorten(name, _MAX_CHARACTERS) for name in names]


def _read_share(match: TrajectoryMatch, name: str, bounds: Mapping[str, JsonObject]) -> Score:
    if match.error is not None:
        return unscored_error(match.error)
    value: float | None = getattr(match, name)
    return _explain_unscored(name, _NO_SHARE[name], bounds) if value is None else value


def _explain_unscored(name: str, reason: str, bounds: Mapping[str, JsonObject]) -> Unscored:
    """Say why a metric has no value; one that has a threshold lacks data."""
    return missing_data(reason) if f"{_PREFIX}{name}" in bounds else not_applicable(reason)


def _mode_checks(match: TrajectoryMatch, bounds: Mapping[str, JsonObject]) -> list[MetricOutcome]:
    if match.agrees is None:
        return [build_outcome("metric_error", "trajectory", None, "warning", match.reason)]
    if match.mode == "precision_recall" and any(_can_fail(bounds, metric) for metric in _VERDICT_METRICS):
        return []
    reason = match.reason
    differences = match.argument_mismatches[:_MAX_DIFFERENCES]
    if differences and not match.agrees:
        reason = f"{reason.rstrip('.')} ({'; '.join(map(explain_mismatch, differences))})."
    return [build_outcome("trajectory", "trajectory", match.agrees, "critical", reason, match.score, 1.0)]


def _can_fail(bounds: Mapping[str, JsonObject], metric: str) -> bool:
    """Return whether a threshold can fail a run: every trajectory has a share of at least 0."""
    bound = bounds.get(metric, {})
    minimum, severity = bound.get("min"), bound.get("severity", "critical")
    return isinstance(minimum, (int, float)) and minimum > 0 and severity == "critical"


def _check_bounds(scores: Mapping[str, Score], bounds: Mapping[str, JsonObject]) -> Iterator[MetricOutcome]:
    named = {f"{_PREFIX}{name}": score for name, score in scores.items()}
    return check_bounds("trajectory", bounds, named, "critical")
