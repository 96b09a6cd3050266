"""Compares a value with its threshold, in the same way for every metric group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, cast

from evaluation.results.findings import FindingKind, MetricOutcome, Score, build_outcome
from evaluation.values import JsonObject, Severity, format_numbers

_UNITS: Final = ("_ms", "_usd")


def compare_with_bound(
    kind: FindingKind, metric: str, value: float, bound: JsonObject, severity: Severity
) -> MetricOutcome:
    """Compare a value with a normalised threshold ({"min"?, "max"?, "severity"?, "owner"?}).

    Both bounds are inclusive: a value equal to its limit passes.
    """
    low, high = _read_number(bound.get("min")), _read_number(bound.get("max"))
    is_below = low is not None and value < low
    passed = not is_below and (high is None or value <= high)
    limit = high if high is not None and not is_below else low
    verb = "is, as required," if passed else "must be"
    observed, required = describe_comparison(value, bound)
    reason = f"{metric} is {observed}; it {verb} {required}"
    severity, owner = _read_reaction(bound, severity)
    return build_outcome(kind, metric, passed, severity, reason, value, limit, owner)


def check_bounds(
    kind: FindingKind, bounds: Mapping[str, JsonObject], scores: Mapping[str, Score], severity: Severity
) -> Iterator[MetricOutcome]:
    """Compare each threshold with its metric."""
    for metric, bound in bounds.items():
        score = scores[metric]
        if isinstance(score, dict):
            yield unanswered_bound(metric, bound, score["reason"])
        else:
            yield compare_with_bound(kind, metric, score, bound, severity)


def unanswered_bound(
    metric: str, bound: JsonObject, reason: str, severity: Severity = "warning"
) -> MetricOutcome:
    """Build the outcome of a threshold whose value the run lacks."""
    limit = bound.get("max", bound.get("min"))
    text = f"{metric} has a threshold and no value: {reason}"
    severity, owner = _read_reaction(bound, severity)
    return build_outcome("missing_data", metric, None, severity, text, None, limit, owner)


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


def _read_reaction(bound: JsonObject, default: Severity) -> tuple[Severity, str | None]:
    """Return severity and owner; the bound was validated as a ``Threshold``."""
    return cast("Severity", bound.get("severity", default)), cast("str | None", bound.get("owner"))
