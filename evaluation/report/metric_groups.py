"""The metric groups of a report: scores, thresholds on them, and their findings as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, cast, get_args

from typing_extensions import TypedDict

from evaluation.findings import Finding, FindingKind, Group
from evaluation.sensitive.scanner import shorten
from evaluation.values import JsonObject, Severity, format_numbers

OutcomeStatus = Literal["scored", "not_applicable", "missing_data", "error"]
OUTCOME_STATUSES: Final[tuple[OutcomeStatus, ...]] = get_args(OutcomeStatus)
_GRAVITY: Final[tuple[OutcomeStatus, ...]] = ("scored", "error", "missing_data")


class Unscored(TypedDict):
    """The reason why a metric has no value."""

    status: OutcomeStatus
    reason: str


Score: TypeAlias = float | Unscored
"""A value, or the reason why there is none."""


def not_applicable(reason: str) -> Unscored:
    """Build the reason of a metric that nothing asks for."""
    return {"status": "not_applicable", "reason": reason}


def missing_data(reason: str) -> Unscored:
    """Build the reason of a metric whose data the run does not record."""
    return {"status": "missing_data", "reason": reason}


def unscored_error(reason: str) -> Unscored:
    """Build the reason of a metric that cannot be computed."""
    return {"status": "error", "reason": reason}


def build_group(
    scores: Mapping[str, Score],
    findings: Sequence[Finding],
    facts: JsonObject = MappingProxyType({}),
) -> JsonObject:
    """Build one metric group of the state.

    Args:
        scores: The metrics by name.
        findings: The findings of the group.
        facts: Further data, such as names, positions and limits.

    Returns:
        Metrics and facts by name, with ``status`` (of the group), ``passed`` (None if no question could be
        answered), ``counts`` (metrics by status), ``unscored`` (status and reason by metric) and ``checks``.
    """
    statuses = _list_statuses(scores)
    return {
        **{name: score for name, score in scores.items() if not isinstance(score, dict)},
        **facts,
        "status": group_status(scores),
        "passed": _all_passed(findings),
        "counts": {status: statuses.count(status) for status in OUTCOME_STATUSES},
        "unscored": {name: score for name, score in scores.items() if isinstance(score, dict)},
        "checks": [*map(_describe_finding, findings)],
    }


def group_status(scores: Mapping[str, Score]) -> OutcomeStatus:
    """Return "scored" if any metric has a value, else the gravest reason why none has."""
    statuses = _list_statuses(scores)
    return next((status for status in _GRAVITY if status in statuses), "not_applicable")


def _list_statuses(scores: Mapping[str, Score]) -> list[OutcomeStatus]:
    return [each["status"] if isinstance(each, dict) else "scored" for each in scores.values()]


def _all_passed(findings: Sequence[Finding]) -> bool | None:
    answers = {finding.passed for finding in findings}
    if False in answers:
        return False
    return None if None in answers or not answers else True


def _describe_finding(finding: Finding) -> JsonObject:
    return {
        "kind": finding.kind,
        "metric": finding.name,
        "passed": finding.passed,
        "severity": finding.severity,
        "observed": finding.observed,
        "limit": finding.limit,
        "reason": finding.reason,
        "owner": finding.owner,
    }


_MOST_NAMES: Final = 5


def join_names(names: Iterable[str]) -> str:
    """List up to five different names, each on one line and cut to 60 characters, and count the rest."""
    distinct = list(dict.fromkeys(names))
    more = len(distinct) - _MOST_NAMES
    shown = (shorten(name) for name in distinct[:_MOST_NAMES])
    text = ", ".join(name if name.isprintable() else ascii(name) for name in shown)
    return f"{text} and {more} more" if more > 0 else text


_UNITS: Final = ("_ms", "_usd")


def compare_with_bound(  # noqa: PLR0917
    group: Group, kind: FindingKind, metric: str, score: Score, bound: JsonObject, severity: Severity
) -> Finding:
    """Compare a score with a normalised threshold ({"min"?, "max"?, "severity"?, "owner"?}).

    Both bounds are inclusive: a value equal to its limit passes. Without a value, it is not known.

    Args:
        group: The group of the finding.
        kind: The kind of the finding.
        metric: The name of the metric.
        score: Its value, or the reason why it has none.
        bound: The threshold.
        severity: The severity of a breach if the threshold names none.
    """
    owner = cast("str | None", bound.get("owner"))
    stated = cast("Severity | None", bound.get("severity"))
    if isinstance(score, dict):
        text = f"{metric} has a threshold and no value: {score['reason']}"
        limit = bound.get("max", bound.get("min"))
        return Finding(
            metric, group, None, stated or "warning", "missing_data", text, limit=limit, owner=owner
        )
    low, high = _read_number(bound.get("min")), _read_number(bound.get("max"))
    is_below = low is not None and score < low
    passed = not is_below and (high is None or score <= high)
    limit = high if high is not None and not is_below else low
    observed, required = describe_comparison(score, bound)
    reason = f"{metric} is {observed}; it {'is, as required,' if passed else 'must be'} {required}"
    return Finding(metric, group, passed, stated or severity, kind, reason, score, limit, owner=owner)


def check_bounds(
    group: Group, kind: FindingKind, bounds: Mapping[str, JsonObject], scores: Mapping[str, Score]
) -> Iterator[Finding]:
    """Compare each threshold with its metric; a breach is critical by default."""
    for metric, bound in bounds.items():
        yield compare_with_bound(group, kind, metric, scores[metric], bound, "critical")


def limits_by_name(bounds: Mapping[str, JsonObject]) -> dict[str, object]:
    """Return the bounds by the names under which the report shows them."""
    most = {limit_name(metric): bound["max"] for metric, bound in bounds.items() if "max" in bound}
    least = {
        limit_name(metric, "minimum"): bound["min"] for metric, bound in bounds.items() if "min" in bound
    }
    return {**most, **least}


def limit_name(metric: str, side: str = "limit") -> str:
    """Name the limit of a metric, with the unit last: latency_ms gives latency_limit_ms."""
    for unit in _UNITS:
        if metric.endswith(unit):
            return f"{metric.removesuffix(unit)}_{side}{unit}"
    return f"{metric}_{side}"


def describe_comparison(value: float, bound: JsonObject) -> tuple[str, str]:
    """Write a value and its threshold ("at least 40", "at most 60", "40 to 60"); different numbers differ."""
    low, high = _read_number(bound.get("min")), _read_number(bound.get("max"))
    observed, *limits = format_numbers(value, *[side for side in (low, high) if side is not None])
    if len(limits) > 1:
        return observed, " to ".join(limits)
    return observed, f"{'at most' if low is None else 'at least'} {limits[0]}"


def _read_number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None
