"""The arms by name. To add one, write a class with ``answer`` in a module of its own, and list it here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from benchmarks.effect.arms.base import Arm
from benchmarks.effect.arms.checked import CHECKED
from benchmarks.effect.arms.crewai import CrewAI
from benchmarks.effect.arms.orchestrated import (
    Orchestrated,
    derive_by_rules,
    leave_open,
    use_official,
)
from benchmarks.effect.arms.pydantic_ai import PydanticAI
from benchmarks.effect.arms.reflection import Reflection
from benchmarks.effect.arms.unjudged import BlindRetries, OneShot
from orchestrator import RetryPolicy
from orchestrator.retry import FeedbackRule, ResampleRule
from orchestrator.retry.policy import RetryRule

_planned = partial(Orchestrated, is_planned=True)


def _retried(name: str, *rules: RetryRule) -> Orchestrated:
    """Return the arm with contracts from the task under another policy."""
    return Orchestrated(f"from-task-{name}", derive_by_rules, policy=RetryPolicy(strategies=rules))


ARMS: Mapping[str, Arm] = {
    arm.name: arm
    for arm in (
        OneShot(),
        BlindRetries(),
        Orchestrated("no-contract", leave_open),
        _planned("no-contract-planned", leave_open),
        Orchestrated("from-task", derive_by_rules),
        _planned("from-task-planned", derive_by_rules),
        Orchestrated("official-contract", use_official),
        _planned("official-contract-planned", use_official),
        _retried("resample", ResampleRule()),
        _retried("turn", FeedbackRule(last_output="turn")),
        _retried("hot", FeedbackRule(last_output="none", temperature=1.0)),
        _retried("then-resample", FeedbackRule(last_output="none", times=1), ResampleRule()),
        PydanticAI(),
        CrewAI(),
        Reflection(),
        *CHECKED,
    )
}
