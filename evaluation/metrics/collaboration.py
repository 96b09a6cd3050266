"""Several agents on one task: hand-offs, the right agent, the plan, and agents that are stuck."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Final, Literal

from rapidfuzz.distance import LCSseq

from evaluation.results.findings import MetricOutcome, Unscored, build_outcome, missing_data, not_applicable
from evaluation.results.state import Action
from evaluation.results.thresholds import compare_with_bound, unanswered_bound
from evaluation.values import JsonObject

COLLABORATION_METRICS: Final[Mapping[str, Literal["higher", "lower"]]] = {
    "handoff_continuity": "higher",
    "handoff_accuracy": "higher",
    "agent_accuracy": "higher",
    "plan_adherence": "higher",
    "collaboration_confidence": "higher",
    "stuck_runs": "lower",
}
_ONE_AGENT: Final = not_applicable("no agent is named, and no hand-off was made or expected")
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Collaboration:
    """What was found out about the work of several agents."""

    scored: Mapping[str, object]
    unscored: Mapping[str, Unscored]
    checks: tuple[MetricOutcome, ...]


def collaboration(
    actions: Sequence[Action],
    expected: Sequence[JsonObject],
    plan: Sequence[str] | None,
    stuck_after: int,
    bounds: Mapping[str, JsonObject],
) -> Collaboration:
    """Score who did what, and who handed over to whom.

    - ``handoff_continuity``: hand-offs after which their target acts next / hand-offs with a next action.
    - ``handoff_accuracy``: expected hand-offs (from, to) that were made / expected hand-offs.
    - ``agent_accuracy``: expected actions with an agent that this agent did / such expected actions.
    - ``plan_adherence``: longest common subsequence of planned and done names / planned names.
    - ``collaboration_confidence``: actions whose agent is known / actions.
    - ``stuck_runs``: how often one agent did the same, arguments and all, ``stuck_after`` times in a row.
    """
    parts = {**_of_agents(actions, expected), "plan_adherence": _plan_adherence(actions, plan)}
    scored: dict[str, object] = {name: value for name, value in parts.items() if isinstance(value, float)}
    unscored = {name: value for name, value in parts.items() if not isinstance(value, float)}
    stuck = stuck_actions(actions, stuck_after)
    if actions:
        scored["stuck_runs"] = len(stuck)
    checks = [*_bounded(scored, unscored, bounds), *_anonymous(scored), *_stuck(stuck, stuck_after)]
    return Collaboration(scored, unscored, tuple(checks))


def _of_agents(actions: Sequence[Action], expected: Sequence[JsonObject]) -> dict[str, float | Unscored]:
    named = any(one["agent"] or one["kind"] == "handoff" for one in actions)
    wanted = any(one.get("agent") or one.get("kind") == "handoff" for one in expected)
    if not named and not wanted:
        return dict.fromkeys(
            ("handoff_continuity", "handoff_accuracy", "agent_accuracy", "collaboration_confidence"),
            _ONE_AGENT,
        )
    return {
        "handoff_continuity": _continuity(actions),
        "handoff_accuracy": _accuracy(_handoffs(actions), _handoffs(expected), "no hand-off is expected"),
        "agent_accuracy": _accuracy(_doers(actions), _doers(expected), "no expected action names its agent"),
        "collaboration_confidence": _confidence(actions),
    }


def _continuity(actions: Sequence[Action]) -> float | Unscored:
    pairs = [(one, after) for one, after in pairwise(actions) if one["kind"] == "handoff"]
    if not pairs:
        return not_applicable("no hand-off was followed by an action")
    known = [(one["target"], after["agent"]) for one, after in pairs if one["target"] and after["agent"]]
    if not known:
        return missing_data("no hand-off names both its target and who acted next")
    return sum(target == agent for target, agent in known) / len(known)


def _handoffs(actions: Iterable[Mapping[str, object]]) -> Counter[object]:
    return Counter((one.get("agent"), one.get("target")) for one in actions if one.get("kind") == "handoff")


def _doers(actions: Iterable[Mapping[str, object]]) -> Counter[object]:
    return Counter((one.get("agent"), one.get("name")) for one in actions if one.get("agent") is not None)


def _accuracy(seen: Counter[object], wanted: Counter[object], reason: str) -> float | Unscored:
    return (seen & wanted).total() / wanted.total() if wanted else not_applicable(reason)


def _confidence(actions: Sequence[Action]) -> float | Unscored:
    known = sum(one["agent"] is not None for one in actions)
    return known / len(actions) if actions else missing_data("no action was recorded")


def _plan_adherence(actions: Sequence[Action], plan: Sequence[str] | None) -> float | Unscored:
    if not plan:
        return not_applicable("the run states no plan")
    return LCSseq.similarity(list(plan), [one["name"] for one in actions]) / len(plan)


def stuck_actions(actions: Sequence[Action], stuck_after: int) -> list[tuple[Action, int]]:
    """Find what was done again and again: the action and how many times in a row."""
    found, times = [], 1
    for one, after in zip_longest(actions, actions[1:]):
        if after is not None and _same(one, after):
            times += 1
            continue
        found += [(one, times)] if times >= stuck_after else []
        times = 1
    return found


def _same(one: Action, after: Action) -> bool:
    if one["name"] != after["name"] or one["agent"] != after["agent"] or one["args"] != after["args"]:
        return False
    # True equals 1 in Python, and not in JSON.
    return json.dumps(one["args"], sort_keys=True) == json.dumps(after["args"], sort_keys=True)


def _bounded(
    scored: Mapping[str, object], unscored: Mapping[str, Unscored], bounds: Mapping[str, JsonObject]
) -> Iterable[MetricOutcome]:
    for metric, bound in bounds.items():
        value = scored.get(metric)
        if isinstance(value, (int, float)):
            yield compare_with_bound("collaboration", metric, value, bound, "critical")
        else:
            known = unscored.get(metric, missing_data("no action was recorded"))
            yield unanswered_bound(metric, bound, known["reason"])


def _anonymous(scored: Mapping[str, object]) -> Iterable[MetricOutcome]:
    """Say that identities are missing: less is known than the other values of the group suggest."""
    known = scored.get("collaboration_confidence")
    if isinstance(known, float) and known < 1:
        reason = f"the agent of {1 - known:.0%} of the actions is not recorded"
        yield build_outcome("missing_data", "collaboration_confidence", None, "info", reason, known, 1.0)


def _stuck(stuck: Sequence[tuple[Action, int]], stuck_after: int) -> Iterable[MetricOutcome]:
    for action, times in stuck[:_SHOWN]:
        reason = f"{action['name'][:60]} was done {times} times in a row with the same arguments"
        yield build_outcome("anomaly", "stuck_runs", False, "warning", reason, times, stuck_after)
