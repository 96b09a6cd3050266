"""Scores one trajectory: the metrics, facts and checks that go into the state and the report."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from evaluation.checks.kinds.tools import describe_unknown
from evaluation.inputs.run import MATCH_MODES, TrajectoryRules
from evaluation.metrics.trajectory.expected_steps import ExpectedStep
from evaluation.metrics.trajectory.idle_rules import find_idle_rule
from evaluation.metrics.trajectory.match_result import TrajectoryMatch, explain_mismatch
from evaluation.metrics.trajectory.matching import match_trajectory
from evaluation.results.findings import (
    FindingKind,
    MetricOutcome,
    Score,
    Unscored,
    build_outcome,
    join_names,
    missing_data,
    not_applicable,
    unscored_error,
)
from evaluation.results.state import Action
from evaluation.results.thresholds import check_bounds
from evaluation.sensitive.scanner import shorten
from evaluation.values import JsonObject, Severity

_PREFIX: Final = "trajectory_"
_NO_F1: Final = "precision or recall has no value"
_NO_SHARE: Final = {
    "score": _NO_F1,
    "precision": "no observed action was compared",
    "recall": "no required action is expected",
    "f1": _NO_F1,
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
    actual: Sequence[Action],
    expected: Sequence[ExpectedStep] | None,
    mode: str,
    rules: TrajectoryRules,
    bounds: Mapping[str, JsonObject],
    recorded_writing: Collection[str] = (),
) -> TrajectoryScores:
    """Compare a trajectory with the expected one, and check the mode, the rules and the thresholds.

    Args:
        actual: the observed actions.
        expected: the expected steps; None if the contract expects nothing, which differs from no step.
        mode: one of ``MATCH_MODES``; any other is reported as an error of the case.
        rules: how actions are compared, and which are forbidden.
        bounds: normalised thresholds on ``TRAJECTORY_METRICS``, by name.
        recorded_writing: tools that change something by the run's own word.
    """
    if expected is None and mode in MATCH_MODES:
        return _score_unmatched(actual, rules, bounds, recorded_writing)
    match = match_trajectory(actual, expected or (), mode, rules, recorded_writing)
    scores = {name: _read_share(match, name, bounds) for name in _NO_SHARE}
    checks = (
        *_mode_checks(match, bounds),
        *_check_rules(actual, match, rules),
        *_check_bounds(scores, bounds),
    )
    errors = () if match.error is None else (f"trajectory: {match.error}",)
    return TrajectoryScores(scores, _match_facts(match), checks, errors)


def _score_unmatched(
    actual: Sequence[Action],
    rules: TrajectoryRules,
    bounds: Mapping[str, JsonObject],
    recorded_writing: Collection[str],
) -> TrajectoryScores:
    """Check only the rules that need no expected trajectory: such a contract permits other actions."""
    scores = {name: _explain_unscored(name, "no expected trajectory was given", bounds) for name in _NO_SHARE}
    match = match_trajectory(actual, (), "any_order", rules, recorded_writing)
    permitted = {"unexpected_writes"} if rules.names_effects else {"recorded_writes"}
    checks = [check for check in _check_rules(actual, match, rules) if check["metric"] not in permitted]
    facts: JsonObject = {
        check["metric"]: _shorten_names(match, check["metric"])
        for check in checks
        if check["metric"] in _PROHIBITED
    }
    idle = find_idle_rule(actual, (), (), rules)
    idle_checks = [build_outcome("metric_error", "trajectory", None, "warning", idle)] if idle else []
    return TrajectoryScores(scores, facts, (*idle_checks, *checks, *_check_bounds(scores, bounds)))


def _check_rules(
    actual: Sequence[Action], match: TrajectoryMatch, rules: TrajectoryRules
) -> Iterator[MetricOutcome]:
    """Check that nothing happened that the rules forbid."""
    if rules.forbidden_tools:
        problem = "Forbidden tools were called: {}; do not call them"
        yield _check_none("forbidden_actions", match.forbidden_actions, "critical", problem)
    if rules.failed_calls == "fail":
        problem = "Tool calls ended in an error, or did not run: {}; correct them"
        yield _check_none("failed_calls", match.failed_calls, "critical", problem)
    if match.unreadable_arguments:
        problem = "The arguments of tool calls are not a JSON object: {}; send an object"
        yield _check_none("unreadable_arguments", match.unreadable_arguments, "warning", problem)
    if rules.names_effects:
        problem = "Tools that change something were called beyond the expected calls: {}; do not call them"
        yield _check_none("unexpected_writes", match.unexpected_writes, "critical", problem)
    yield from _report_unknown(actual)
    if match.recorded_writes:
        yield _report_recorded_writes(match.recorded_writes, rules)


def _report_unknown(actual: Sequence[Action]) -> Iterator[MetricOutcome]:
    """Report a stated effect that may have happened: it breaks no rule by itself, but proves no success."""
    unknown = [each for each in actual if each["outcome"] == "unknown"]
    for last in unknown[-1:]:
        reason = describe_unknown(last["name"], last["result"])
        yield build_outcome("undecided", "unknown_effects", None, "info", reason, len(unknown), 0)


def _report_recorded_writes(calls: Sequence[str], rules: TrajectoryRules) -> MetricOutcome:
    """A contract that compares effects has to say whether these calls are among them: it needs a review."""
    reason = (
        f"Unexpected calls may change something: {join_names(calls)}; "
        "name these tools in trajectory.acting_tools or trajectory.reading_tools"
    )
    kind: FindingKind = "metric_error" if rules.names_effects else "trajectory"
    passed = None if rules.names_effects else False
    return build_outcome(kind, "recorded_writes", passed, "warning", reason, len(calls), 0)


def _check_none(metric: str, names: Sequence[str], severity: Severity, problem: str) -> MetricOutcome:
    reason = problem.format(join_names(names)) if names else f"{metric}: none"
    return build_outcome("trajectory", metric, not names, severity, reason, len(names), 0)


def _match_facts(match: TrajectoryMatch) -> JsonObject:
    return {
        "match_mode": match.mode,
        **{name: _shorten_names(match, name) for name in (*_DIFFERENCES, *_PROHIBITED)},
        "argument_mismatches": [
            {"name": shorten(name, _MAX_CHARACTERS), **difference._asdict()}
            for name, difference in match.argument_mismatches
        ],
        **{name: getattr(match, name) for name in _COUNTS},
    }


def _shorten_names(match: TrajectoryMatch, metric: str) -> list[str]:
    names: Iterable[str] = getattr(match, metric)
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
        reason = f"{reason.rstrip('.')} ({'; '.join(explain_mismatch(*each) for each in differences)})."
    return [build_outcome("trajectory", "trajectory", match.agrees, "critical", reason, match.score, 1.0)]


def _can_fail(bounds: Mapping[str, JsonObject], metric: str) -> bool:
    """Return whether a threshold can fail a run: every trajectory has a share of at least 0."""
    bound = bounds.get(metric, {})
    minimum, severity = bound.get("min"), bound.get("severity", "critical")
    return isinstance(minimum, (int, float)) and minimum > 0 and severity == "critical"


def _check_bounds(scores: Mapping[str, Score], bounds: Mapping[str, JsonObject]) -> Iterator[MetricOutcome]:
    named = {f"{_PREFIX}{name}": score for name, score in scores.items()}
    return check_bounds("trajectory", bounds, named, "critical")
