"""Node: compares the actions of a run with the expected ones, and scores how several agents work on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Final, TypeAlias

from rapidfuzz.distance import LCSseq

from evaluation.checks.kinds.tools import describe_unknown
from evaluation.contract.contract import MATCH_MODES, EvaluationContract, ExpectedAction, TrajectoryRules
from evaluation.contract.run import AgentRun, convert_calls
from evaluation.findings import (
    Finding,
    OutcomeStatus,
    Score,
    Unscored,
    build_group,
    check_bounds,
    group_status,
    join_names,
)
from evaluation.measures.action_differences import find_misspelt_tool, fits_step
from evaluation.measures.metric_table import SHARES
from evaluation.measures.trajectory_matching import TrajectoryMatch, match_trajectory
from evaluation.nodes.prepare_evaluation import normalize_calls
from evaluation.plugins import Plugins
from evaluation.report.redaction import build_excerpt
from evaluation.report.report_model import Action, EvaluationState, PreparedState
from evaluation.sensitive.scanner import shorten
from evaluation.texts.normal import is_same_tool
from evaluation.values import JsonObject, Severity

_PREFIX: Final = "trajectory_"
"""Of the names of metrics; the group drops it."""
_NO_F1: Final = "precision or recall has no value"
_NO_SHARE: Final = {
    "score": _NO_F1,
    "precision": "no observed action was compared",
    "recall": "no action is expected",
    "f1": _NO_F1,
}
_DIFFERENCES: Final = ("missing_actions", "extra_actions", "order_violations")
_PROHIBITED: Final[Mapping[str, tuple[Severity, str]]] = {
    "forbidden_actions": ("critical", "Forbidden tools were called: {}; do not call them"),
    "unreadable_arguments": (
        "warning",
        "The arguments of tool calls are not a JSON object: {}; send an object",
    ),
    "unexpected_writes": (
        "critical",
        "Tools that change something were called beyond the expected calls: {}; do not call them",
    ),
}
"""What must not happen, with the severity and the reason."""
_COUNTS: Final = ("expected_count", "actual_count", "matched_count")
_MAX_CHARACTERS: Final = 200
"""Most characters of a name in the report: a model may call a tool by a whole text."""
_VERDICT_METRICS: Final = frozenset({"trajectory_precision", "trajectory_recall", "trajectory_f1"})
"""Minima above 0 on these, of severity critical, replace the verdict of mode ``precision_recall``."""


def evaluate_trajectory(state: PreparedState, plugins: Plugins) -> EvaluationState:  # noqa: ARG001
    """Compare the trajectory with the expected one by the configured mode, and score the collaboration."""
    rules, mode = state["demands"].rules, state["trajectory_match_mode"]
    # No expectation differs from the expectation of nothing; an unknown mode is an error of the case.
    is_compared = rules.expected_trajectory is not None or mode not in MATCH_MODES
    match = match_trajectory(
        state["actual_trajectory"],
        rules.expected_trajectory or (),
        mode if is_compared else "any_order",
        rules.trajectory,
    )
    scores, checks, facts = (_report_match if is_compared else _report_unmatched)(state, match)
    shared, shared_findings = _score_collaboration(state)
    # An unrecorded action proves nothing.
    checks = checks if "tool_calls" in state["agent_run"] else [*map(_withdraw_pass, checks)]
    findings = [*checks, *shared_findings]
    called = [each for each in state["findings"] if each.group == "trajectory"]
    metrics = build_group({**scores, **shared}, [*called, *findings], facts)
    errors = [f"trajectory: {match.error}"] if is_compared and match.error is not None else []
    return {
        # build_group saw the collaboration too, which has scores even if no trajectory is expected.
        "trajectory_metrics": {**metrics, "status": group_status(scores)},
        "findings": [*state["findings"], *findings],
        "errors": [*state["errors"], *errors],
    }


def _withdraw_pass(check: Finding) -> Finding:
    if not check.passed:
        return check
    reason = "the run does not record its actions (tool_calls)"
    return replace(check, kind="missing_data", passed=None, severity="warning", reason=reason)


def count_unexpected_writes(
    calls: Sequence[Mapping[str, object]], contract: EvaluationContract, acting: Sequence[str]
) -> int:
    """Count the calls of tools that act beyond the calls that a contract expects.

    A call that has not ended, or whose effect is unknown, counts as one that acted.

    Args:
        calls: records of the orchestrator, in order.
        contract: has ``expected_trajectory``.
        acting: names of the tools that act.
    """
    rules = contract.trajectory.model_copy(update={"acting_tools": [*acting]})
    run = AgentRun.model_validate({"messages": [], **convert_calls(calls)})
    actions: list[Action] = [
        {**each, "outcome": "acted", "error": None} if each["outcome"] == "unknown" else each
        for each in normalize_calls(run, rules)
    ]
    match = match_trajectory(actions, contract.expected_trajectory or (), "any_order", rules)
    return len(match.unexpected_writes)


_Report: TypeAlias = tuple[dict[str, Score], list[Finding], JsonObject]
"""Scores by name; checks; names, positions and counts."""


def _report_match(state: PreparedState, match: TrajectoryMatch) -> _Report:
    """Check the mode, the rules and the thresholds."""
    bounds, shares = state["thresholds"], match.shares
    scores = {name: _read_share(match, shares[name], name, bounds) for name in SHARES}
    checks = [
        *_check_mode(match, bounds),
        *_check_prohibitions(match, state["demands"].rules.trajectory, _PROHIBITED),
        *_report_unknown(state["actual_trajectory"]),
        *_check_recorded_writes(state),
        *_check_shares(scores, bounds),
    ]
    return scores, checks, _list_facts(match)


def _report_unmatched(state: PreparedState, match: TrajectoryMatch) -> _Report:
    """Check only the rules that need no expected trajectory: such a contract permits other actions."""
    actual, rules, bounds = state["actual_trajectory"], state["demands"].rules.trajectory, state["thresholds"]
    scores = {name: _explain_unscored(name, "no expected trajectory was given", bounds) for name in SHARES}
    checks = [*_check_prohibitions(match, rules, ("forbidden_actions", "unreadable_arguments"))]
    facts: JsonObject = {check.name: _shorten_names(match, check.name) for check in checks}
    misspelt = find_misspelt_tool(actual, (), rules) if rules.model_fields_set else None
    first = [_report_error(misspelt)] if misspelt else []
    return {**scores}, [*first, *checks, *_report_unknown(actual), *_check_shares(scores, bounds)], facts


def _check_prohibitions(
    match: TrajectoryMatch, rules: TrajectoryRules, metrics: Iterable[str]
) -> Iterator[Finding]:
    """Check that nothing happened that the rules forbid."""
    is_asked = {
        "forbidden_actions": bool(rules.forbidden_tools),
        "unreadable_arguments": bool(match.unreadable_arguments),
        "unexpected_writes": rules.acting_tools is not None,
    }
    for metric in filter(is_asked.get, metrics):
        names, (severity, problem) = getattr(match, metric), _PROHIBITED[metric]
        reason = problem.format(join_names(names)) if names else f"{metric}: none"
        yield Finding(metric, "trajectory", not names, severity, "trajectory", reason, len(names), 0)


def _report_unknown(actual: Sequence[Action]) -> Iterator[Finding]:
    """Report a stated effect that may have happened: it breaks no rule by itself, but proves no success."""
    unknown = [each for each in actual if each["outcome"] == "unknown"]
    for last in unknown[-1:]:
        reason = describe_unknown(last["name"], last["result"], last["error"])
        yield Finding("unknown_effects", "trajectory", None, "info", "undecided", reason, len(unknown), 0)


def _check_recorded_writes(state: PreparedState) -> Iterator[Finding]:
    """Report calls that act by the run's own word, or under another spelling of an acting tool."""
    rules, expected = state["demands"].rules.trajectory, state["demands"].rules.expected_trajectory or ()
    if rules.acting_tools is None:
        return
    known = {*rules.acting_tools, *(name for step in expected for name in step.names)}
    others = (each["name"] for each in state["actual_trajectory"] if each["name"] not in known)
    acting = {*rules.acting_tools, *state["agent_run"].get("acting_tools", ())}
    names = [name for name in others if any(is_same_tool(name, other) for other in acting)]
    if names:
        reason = f"Unexpected calls may change something: {join_names(names)}; name them in acting_tools"
        yield Finding("recorded_writes", "trajectory", None, "warning", "metric_error", reason, len(names), 0)


def _list_facts(match: TrajectoryMatch) -> JsonObject:
    return {
        "match_mode": match.mode,
        **{name: _shorten_names(match, name) for name in (*_DIFFERENCES, *_PROHIBITED)},
        "argument_mismatches": [
            {
                "name": shorten(name, _MAX_CHARACTERS),
                "path": each.path,
                "problem": each.problem,
                "expected": build_excerpt(each.expected),
                "actual": build_excerpt(each.actual),
            }
            for name, each in match.argument_mismatches
        ],
        **{name: getattr(match, name) for name in _COUNTS},
    }


def _shorten_names(match: TrajectoryMatch, metric: str) -> list[str]:
    names: Iterable[str] = getattr(match, metric)
    return [shorten(name, _MAX_CHARACTERS) for name in names]


def _read_share(
    match: TrajectoryMatch, value: float | None, name: str, bounds: Mapping[str, JsonObject]
) -> Score:
    if match.error is not None:
        return Unscored(status="error", reason=match.error)
    return _explain_unscored(name, _NO_SHARE[name], bounds) if value is None else value


def _explain_unscored(name: str, reason: str, bounds: Mapping[str, JsonObject]) -> Unscored:
    """Say why a metric has no value; one that has a threshold lacks data."""
    status: OutcomeStatus = "missing_data" if f"{_PREFIX}{name}" in bounds else "not_applicable"
    return Unscored(status=status, reason=reason)


def _check_mode(match: TrajectoryMatch, bounds: Mapping[str, JsonObject]) -> Iterator[Finding]:
    if match.agrees is None:
        yield _report_error(match.reason)
    elif match.mode != "precision_recall" or not any(_can_fail(bounds, each) for each in _VERDICT_METRICS):
        score, reason = match.shares["score"], match.reason
        yield Finding("trajectory", "trajectory", match.agrees, "critical", "trajectory", reason, score, 1.0)


def _report_error(reason: str) -> Finding:
    return Finding("trajectory", "trajectory", None, "warning", "metric_error", reason)


def _can_fail(bounds: Mapping[str, JsonObject], metric: str) -> bool:
    """Return whether a threshold can fail a run: every trajectory has a share of at least 0."""
    bound = bounds.get(metric, {})
    minimum, severity = bound.get("min"), bound.get("severity", "critical")
    return isinstance(minimum, (int, float)) and minimum > 0 and severity == "critical"


def _check_shares(scores: Mapping[str, Score], bounds: Mapping[str, JsonObject]) -> Iterator[Finding]:
    named = {f"{_PREFIX}{name}": score for name, score in scores.items()}
    return check_bounds("trajectory", bounds, named)


_ONE_AGENT: Final = Unscored(
    status="not_applicable", reason="no agent is named, and no hand-off was made or expected"
)
_NO_AGENT_EXPECTED: Final = Unscored(status="not_applicable", reason="no expected action names its agent")
_NO_ACTION: Final = Unscored(status="missing_data", reason="no action was recorded")
_MAX_REPORTED: Final = 5
_STUCK_AFTER: Final = 3
"""Number of identical calls in a row that count as stuck."""


def _score_collaboration(state: PreparedState) -> tuple[dict[str, Score], list[Finding]]:
    """Score which agent did what, and which agent handed over to which; and check the scores.

    - ``agent_accuracy``: expected actions that the expected agent did / expected actions with an agent.
    - ``plan_adherence``: longest common subsequence of planned and observed names / planned names.
    - ``collaboration_confidence``: actions whose agent is known / actions.
    - ``stuck_runs``: how often one agent repeats an action with equal arguments three times or more, and more
      often than expected.

    A failed action does not count as made.
    """
    rules, actions = state["demands"].rules, state["actual_trajectory"]
    expected = rules.expected_trajectory or ()
    stuck = _find_stuck_actions(actions, expected, rules.trajectory)
    scores: dict[str, Score] = {
        **_score_agents(actions, expected),
        "plan_adherence": _plan_adherence(actions, state["agent_run"].get("plan") or ()),
        "stuck_runs": len(stuck) if actions else _NO_ACTION,
    }
    findings = [*check_bounds("collaboration", state["thresholds"], scores)]
    name = "collaboration_confidence"
    # Without this finding the other values would look as if all agents were known.
    if isinstance(known := scores[name], float) and known < 1:
        reason = f"the agent of {1 - known:.0%} of the actions is not recorded"
        findings.append(Finding(name, "trajectory", None, "info", "missing_data", reason, known, 1.0))
    return scores, [*findings, *map(_report_stuck, stuck[:_MAX_REPORTED])]


def _score_agents(actions: Sequence[Action], expected: Sequence[ExpectedAction]) -> dict[str, Score]:
    agents = {each["agent"] for each in actions} | {each.agent for each in expected}
    kinds = {each["kind"] for each in actions} | {each.kind for each in expected}
    if not any(agents) and "handoff" not in kinds:
        return {"agent_accuracy": _ONE_AGENT, "collaboration_confidence": _ONE_AGENT}
    # Multisets: an action that is expected twice must be done twice.
    due: Counter[tuple[str | None, str]]
    due = Counter((each.agent, str(each.name)) for each in expected if each.agent is not None)
    made = Counter((each["agent"], each["name"]) for each in actions if each["error"] is None)
    known = sum(action["agent"] is not None for action in actions)
    return {
        "agent_accuracy": (made & due).total() / due.total() if due else _NO_AGENT_EXPECTED,
        "collaboration_confidence": known / len(actions) if actions else _NO_ACTION,
    }


def _plan_adherence(actions: Sequence[Action], plan: Sequence[str]) -> Score:
    if not plan:
        return Unscored(status="not_applicable", reason="the run states no plan")
    return LCSseq.similarity(list(plan), [action["name"] for action in actions]) / len(plan)


def _find_stuck_actions(
    actions: Sequence[Action], expected: Sequence[ExpectedAction], rules: TrajectoryRules
) -> list[tuple[Action, int]]:
    """List the actions repeated at least three times in a row, with the number of times.

    A repetition is left out if the contract expects the action as often.
    """
    runs = [[*run] for _, run in groupby(actions, itemgetter("name", "agent", "args", "args_text"))]
    return [
        (run[0], len(run))
        for run in runs
        if len(run) >= _STUCK_AFTER and len(run) > sum(fits_step(step, run[0], rules) for step in expected)
    ]


def _report_stuck(repeated: tuple[Action, int]) -> Finding:
    action, times = repeated
    reason = (
        f"{shorten(action['name'])} was called {times} times in a row with the same arguments; call it once"
    )
    return Finding("stuck_runs", "trajectory", False, "warning", "anomaly", reason, times, _STUCK_AFTER)
