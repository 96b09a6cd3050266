"""Which metrics there are, which group judges each, and which direction is better."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from evaluation.metrics.collaboration import COLLABORATION_METRICS
from evaluation.metrics.operational import OPERATIONAL_METRICS
from evaluation.metrics.response.scores import RESPONSE_METRICS
from evaluation.metrics.trajectory import TRAJECTORY_METRICS
from evaluation.values import JsonObject

Direction = Literal["higher", "lower"]
Group = Literal["response", "operational", "trajectory", "judge"]
JUDGE_METRICS: Final[Mapping[str, Direction]] = {"judge_score": "higher"}

METRICS: Final[Mapping[str, Direction | None]] = {
    **RESPONSE_METRICS,
    **OPERATIONAL_METRICS,
    **TRAJECTORY_METRICS,
    **COLLABORATION_METRICS,
    **JUDGE_METRICS,
}
"""Every metric, with the direction that is better; None where neither is."""
DIRECTIONS: Final[Mapping[str, Direction]] = {
    metric: direction for metric, direction in METRICS.items() if direction is not None
}
_GROUPS: Final[Mapping[str, Group]] = {
    **dict.fromkeys(RESPONSE_METRICS, "response"),
    **dict.fromkeys(JUDGE_METRICS, "judge"),
    **dict.fromkeys((*TRAJECTORY_METRICS, *COLLABORATION_METRICS), "trajectory"),
}


def direction_of(metric: str) -> Direction | None:
    """Say which direction is better; of a custom resource, less."""
    return METRICS.get(metric, "lower")


def group_of(metric: str) -> Group:
    """Say which group judges a threshold; a name that nothing else knows is a custom resource."""
    return _GROUPS.get(metric, "operational")


def bounds_of(group: Group, thresholds: Mapping[str, JsonObject]) -> dict[str, JsonObject]:
    """Pick the thresholds that a group judges."""
    return {metric: bound for metric, bound in thresholds.items() if group_of(metric) == group}


def is_metric(name: str) -> bool:
    """Say whether a number of this name is one by which runs are compared."""
    return name in METRICS
