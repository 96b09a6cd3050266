"""Scores one trajectory, and how several agents work on it: metrics, facts and checks for the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final, Literal, NamedTuple, TypeAlias

from rapidfuzz.distance import LCSseq

from evaluation.checks.kinds.tools import describe_unknown
from evaluation.contract.run import MATCH_MODES, TrajectoryRules
from evaluation.findings import Finding, FindingKind
from evaluation.measures.trajectory.expected_steps import ExpectedStep, hashable_key
from evaluation.measures.trajectory.idle_rules import find_idle_rule
from evaluation.measures.trajectory.match_result import TrajectoryMatch
from evaluation.measures.trajectory.matching import match_trajectory
from evaluation.report.metric_groups import (
    Score,
    Unscored,
    check_bounds,
    join_names,
    missing_data,
    not_applicable,
    unscored_error,
)
from evaluation.report.state import Action
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
_MAX_CHARACTERS: Final = 200
"""Most characters of a name in the report: a model may call a tool by a whole text."""
_VERDICT_METRICS: Final = frozenset({"trajectory_precision", "trajectory_recall", "trajectory_f1"})
"""Minima above 0 on these, of severity critical, replace the verdict of mode ``precision_recall``."""


class TrajectoryScores(NamedTuple):
    """The update of the state: scores by name, names and positions and counts, checks, errors."""

    scores: Mapping[str, Score]
    facts: JsonObject
    checks: tuple[Finding, ...]
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
    checks = [check for check in _check_rules(actual, match, rules) if check.name not in permitted]
    facts: JsonObject = {
        check.name: _shorten_names(match, check.name) for check in checks if check.name in _PROHIBITED
    }
    idle = find_idle_rule(actual, (), (), rules)
    idle_checks = [Finding("trajectory", "trajectory", None, "warning", "metric_error", idle)] if idle else []
    return TrajectoryScores(scores, facts, (*idle_checks, *checks, *_check_bounds(scores, bounds)))


def _check_rules(
    actual: Sequence[Action], match: TrajectoryMatch, rules: TrajectoryRules
) -> Iterator[Finding]:
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


def _report_unknown(actual: Sequence[Action]) -> Iterator[Finding]:
    """Report a stated effect that may have happened: it breaks no rule by itself, but proves no success."""
    unknown = [each for each in actual if each["outcome"] == "unknown"]
    for last in unknown[-1:]:
        reason = describe_unknown(last["name"], last["result"])
        yield Finding("unknown_effects", "trajectory", None, "info", "undecided", reason, len(unknown), 0)


def _report_recorded_writes(calls: Sequence[str], rules: TrajectoryRules) -> Finding:
    """A contract that compares effects has to say whether these calls are among them: it needs a review."""
    reason = (
        f"Unexpected calls may change something: {join_names(calls)}; "
        "name these tools in trajectory.acting_tools or trajectory.reading_tools"
    )
    kind: FindingKind = "metric_error" if rules.names_effects else "trajectory"
    passed = None if rules.names_effects else False
    return Finding("recorded_writes", "trajectory", passed, "warning", kind, reason, len(calls), 0)


def _check_none(metric: str, names: Sequence[str], severity: Severity, problem: str) -> Finding:
    reason = problem.format(join_names(names)) if names else f"{metric}: none"
    return Finding(metric, "trajectory", not names, severity, "trajectory", reason, len(names), 0)


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


def _mode_checks(match: TrajectoryMatch, bounds: Mapping[str, JsonObject]) -> list[Finding]:
    if match.agrees is None:
        return [Finding("trajectory", "trajectory", None, "warning", "metric_error", match.reason)]
    if match.mode == "precision_recall" and any(_can_fail(bounds, metric) for metric in _VERDICT_METRICS):
        return []
    return [
        Finding(
            "trajectory", "trajectory", match.agrees, "critical", "trajectory", match.reason, match.score, 1.0
        )
    ]


def _can_fail(bounds: Mapping[str, JsonObject], metric: str) -> bool:
    """Return whether a threshold can fail a run: every trajectory has a share of at least 0."""
    bound = bounds.get(metric, {})
    minimum, severity = bound.get("min"), bound.get("severity", "critical")
    return isinstance(minimum, (int, float)) and minimum > 0 and severity == "critical"


def _check_bounds(scores: Mapping[str, Score], bounds: Mapping[str, JsonObject]) -> Iterator[Finding]:
    named = {f"{_PREFIX}{name}": score for name, score in scores.items()}
    return check_bounds("trajectory", "trajectory", bounds, named)


COLLABORATION_METRICS: Final[Mapping[str, Literal["higher", "lower"]]] = {
    "agent_accuracy": "higher",
    "plan_adherence": "higher",
    "collaboration_confidence": "higher",
    "stuck_runs": "lower",
}
_ONE_AGENT: Final = not_applicable("no agent is named, and no hand-off was made or expected")
_NO_AGENT_EXPECTED: Final = not_applicable("no expected action names its agent")
_NO_ACTION: Final = missing_data("no action was recorded")
_MAX_REPORTED: Final = 5


TimesExpected: TypeAlias = Callable[[Action], int]
"""Returns how often the contract expects an action."""


def score_collaboration(  # noqa: PLR0917
    actions: Sequence[Action],
    expected: Sequence[JsonObject],
    plan: Sequence[str] | None,
    rules: TrajectoryRules,
    bounds: Mapping[str, JsonObject],
    times_expected: TimesExpected,
) -> tuple[dict[str, Score], list[Finding]]:
    """Score which agent did what, and which agent handed over to which; and check the scores.

    - ``agent_accuracy``: expected actions that the expected agent did / expected actions with an agent.
    - ``plan_adherence``: longest common subsequence of planned and observed names / planned names.
    - ``collaboration_confidence``: actions whose agent is known / actions.
    - ``stuck_runs``: how often one agent repeats an action with equal arguments ``rules.stuck_after`` times,
      and more often than expected.

    A failed action counts as made only if ``rules.failed_calls`` is ``count``.
    """
    stuck = find_stuck_actions(actions, rules.stuck_after, times_expected)
    scores: dict[str, Score] = {
        **_score_agents(actions, expected, rules),
        "plan_adherence": _plan_adherence(actions, plan),
        "stuck_runs": len(stuck) if actions else _NO_ACTION,
    }
    return scores, [
        *check_bounds("trajectory", "collaboration", bounds, scores),
        *_check_identities(scores["collaboration_confidence"]),
        *_report_stuck_agents(stuck, rules.stuck_after),
    ]


def _score_agents(
    actions: Sequence[Action], expected: Sequence[JsonObject], rules: TrajectoryRules
) -> dict[str, Score]:
    every_action: list[Mapping[str, object]] = [*actions, *expected]
    if not [each for each in every_action if each.get("agent") or each.get("kind") == "handoff"]:
        return {"agent_accuracy": _ONE_AGENT, "collaboration_confidence": _ONE_AGENT}
    made = [action for action in actions if action["error"] is None or rules.failed_calls == "count"]
    due, known = _count_agent_actions(expected), sum(action["agent"] is not None for action in actions)
    # Multisets: an action that is expected twice must be done twice.
    done = (_count_agent_actions(made) & due).total()
    return {
        "agent_accuracy": done / due.total() if due else _NO_AGENT_EXPECTED,
        "collaboration_confidence": known / len(actions) if actions else _NO_ACTION,
    }


def _count_agent_actions(actions: Iterable[Mapping[str, object]]) -> Counter[object]:
    known = (action for action in actions if action.get("agent") is not None)
    return Counter((action.get("agent"), action.get("name")) for action in known)


def _plan_adherence(actions: Sequence[Action], plan: Sequence[str] | None) -> Score:
    if not plan:
        return not_applicable("the run states no plan")
    return LCSseq.similarity(list(plan), [action["name"] for action in actions]) / len(plan)


def find_stuck_actions(
    actions: Sequence[Action], stuck_after: int, times_expected: TimesExpected
) -> list[tuple[Action, int]]:
    """List the actions repeated at least ``stuck_after`` times in a row, with the number of times.

    A repetition is left out if the contract expects the action as often.
    """
    stuck, times = [], 1
    for action, after in zip_longest(actions, actions[1:]):
        if after is not None and _is_same_action(action, after):
            times += 1
            continue
        if times >= stuck_after and times > times_expected(action):
            stuck.append((action, times))
        times = 1
    return stuck


def _is_same_action(action: Action, after: Action) -> bool:
    if action["name"] != after["name"] or action["agent"] != after["agent"]:
        return False
    if action["args_text"] != after["args_text"]:
        return False
    args, others = action["args"], after["args"]
    return args == others and hashable_key(args) == hashable_key(others)


def _check_identities(known: Score) -> Iterable[Finding]:
    # Without this finding the other values would look as if all agents were known.
    if isinstance(known, float) and known < 1:
        reason = f"the agent of {1 - known:.0%} of the actions is not recorded"
        yield Finding(
            "collaboration_confidence", "trajectory", None, "info", "missing_data", reason, known, 1.0
        )


def _report_stuck_agents(stuck: Sequence[tuple[Action, int]], stuck_after: int) -> Iterable[Finding]:
    for action, times in stuck[:_MAX_REPORTED]:
        name = shorten(action["name"])
        reason = f"{name} was called {times} times in a row with the same arguments; call it once"
        yield Finding("stuck_runs", "trajectory", False, "warning", "anomaly", reason, times, stuck_after)
