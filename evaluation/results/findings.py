"""What a node found out: checks, and the one shape in which they travel through the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

from typing_extensions import TypedDict

from evaluation.inputs.rules import Severity
from evaluation.values import JsonObject

FindingKind = Literal[
    "invalid_input",
    "policy",
    "response",
    "trajectory",
    "operational",
    "collaboration",
    "judge",
    "judge_error",
    "metric_error",
    "missing_data",
    "inconclusive",
    "regression",
    "drift",
    "anomaly",
]
OutcomeStatus = Literal["scored", "not_applicable", "missing_data", "error"]
OUTCOME_STATUSES: Final[tuple[OutcomeStatus, ...]] = ("scored", "not_applicable", "missing_data", "error")


class MetricOutcome(TypedDict):
    """One question with its answer; ``passed`` is None where it could not be answered."""

    kind: FindingKind
    metric: str
    passed: bool | None
    severity: Severity
    observed: object
    limit: object
    reason: str
    owner: str | None


class AuditFinding(TypedDict):
    """A breach of a requirement that holds for every answer."""

    id: str
    category: str
    kind: FindingKind
    severity: Severity
    metric: str
    reason: str
    where: str
    evidence: dict[str, object]
    owner: str | None
    recommended_action: str | None


class Unscored(TypedDict):
    """Why a metric has no value."""

    status: OutcomeStatus
    reason: str


def build_outcome(  # noqa: PLR0917
    kind: FindingKind,
    metric: str,
    passed: bool | None,
    severity: Severity,
    reason: str,
    observed: object = None,
    limit: object = None,
    owner: str | None = None,
) -> MetricOutcome:
    """Make a check; ``reason`` is a sentence that says what was compared."""
    return {
        "kind": kind,
        "metric": metric,
        "passed": passed,
        "severity": severity,
        "observed": observed,
        "limit": limit,
        "reason": reason,
        "owner": owner,
    }


def not_applicable(reason: str) -> Unscored:
    """Nothing was asked of this metric."""
    return {"status": "not_applicable", "reason": reason}


def missing_data(reason: str) -> Unscored:
    """Something was asked, and the run does not say."""
    return {"status": "missing_data", "reason": reason}


def unscored_error(reason: str) -> Unscored:
    """The metric could not be computed."""
    return {"status": "error", "reason": reason}


def build_group(
    scored: JsonObject,
    unscored: Mapping[str, Unscored],
    checks: Sequence[MetricOutcome],
    facts: JsonObject = MappingProxyType({}),
) -> JsonObject:
    """Make one metric group of the state.

    Args:
        scored: The values of metrics by name.
        unscored: Why other metrics have none.
        checks: What was asked of the group.
        facts: What stands beside the metrics and is none: names, positions, limits.

    Returns:
        Metrics and facts by name, beside ``status`` (the group's outcome), ``passed`` (True, False, or None
        where no check could be answered), ``counts`` (metrics by outcome), ``unscored`` (outcome and reason
        by metric) and ``checks``.
    """
    return {
        **scored,
        **facts,
        "status": group_status(scored, unscored),
        "passed": _passed(checks),
        "counts": _counts(scored, unscored),
        "unscored": dict(unscored),
        "checks": list(checks),
    }


def group_status(scored: JsonObject, unscored: Mapping[str, Unscored]) -> OutcomeStatus:
    """Say how a set of metrics ended: scored where any was, else the gravest reason why none was."""
    if scored:
        return "scored"
    found = {reason["status"] for reason in unscored.values()}
    return next((status for status in ("error", "missing_data") if status in found), "not_applicable")


_NONE: Final[Mapping[OutcomeStatus, int]] = dict.fromkeys(OUTCOME_STATUSES, 0)


def _passed(checks: Sequence[MetricOutcome]) -> bool | None:
    answers = {found["passed"] for found in checks}
    if False in answers:
        return False
    return None if None in answers or not answers else True


def _counts(scored: JsonObject, unscored: Mapping[str, Unscored]) -> dict[OutcomeStatus, int]:
    counts: dict[OutcomeStatus, int] = {**_NONE, "scored": len(scored)}
    for reason in unscored.values():
        counts[reason["status"]] += 1
    return counts
