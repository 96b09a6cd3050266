"""Scores how several agents work on one task: the right agent, the plan, agents that are stuck."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Final, Literal, TypeAlias

from rapidfuzz.distance import LCSseq

from evaluation.inputs.run import TrajectoryRules
from evaluation.metrics.trajectory.expected_steps import hashable_key
from evaluation.results.findings import (
    MetricOutcome,
    Score,
    build_outcome,
    missing_data,
    not_applicable,
)
from evaluation.results.state import Action
from evaluation.results.thresholds import check_bounds
from evaluation.sensitive.scanner import shorten
from evaluation.values import JsonObject

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


def never_expected(action: Action) -> int:  # noqa: ARG001
    """Return 0: the contract expects no action."""
    return 0


def score_collaboration(  # noqa: PLR0917
    actions: Sequence[Action],
    expected: Sequence[JsonObject],
    plan: Sequence[str] | None,
    rules: TrajectoryRules,
    bounds: Mapping[str, JsonObject],
    times_expected: TimesExpected = never_expected,
) -> tuple[dict[str, Score], list[MetricOutcome]]:
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
        *check_bounds("collaboration", bounds, scores, "critical"),
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
    actions: Sequence[Action], stuck_after: int, times_expected: TimesExpected = never_expected
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


def _check_identities(known: Score) -> Iterable[MetricOutcome]:
    # Without this finding the other values would look as if all agents were known.
    if isinstance(known, float) and known < 1:
        reason = f"the agent of {1 - known:.0%} of the actions is not recorded"
        yield build_outcome("missing_data", "collaboration_confidence", None, "info", reason, known, 1.0)


def _report_stuck_agents(stuck: Sequence[tuple[Action, int]], stuck_after: int) -> Iterable[MetricOutcome]:
    for action, times in stuck[:_MAX_REPORTED]:
        name = shorten(action["name"])
        reason = f"{name} was called {times} times in a row with the same arguments; call it once"
        yield build_outcome("anomaly", "stuck_runs", False, "warning", reason, times, stuck_after)
