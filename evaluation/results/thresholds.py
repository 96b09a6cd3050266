"""A value against its bound: one definition for every metric group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evaluation.inputs.rules import Severity
from evaluation.results.findings import FindingKind, MetricOutcome, build_outcome
from evaluation.values import JsonObject

_UNITS: Final = ("_ms", "_usd")


def compare_with_bound(
    kind: FindingKind, metric: str, value: float, bound: JsonObject, severity: Severity
) -> MetricOutcome:
    """Compare a value with a normalised threshold ({"min"?, "max"?, "severity"?, "owner"?}).

    Both bounds are inclusive: a value equal to its limit passes.
    """
    low, high = _number(bound.get("min")), _number(bound.get("max"))
    below, above = low is not None and value < low, high is not None and value > high
    limit = low if below else high if high is not None else low
    passed = not below and not above
    word = "is within" if passed else "is below the minimum" if below else "exceeds the limit"
    reason = f"{metric}: {value:g} {word} {_shown(low, high) if passed else f'{limit:g}'}"
    return build_outcome(
        kind, metric, passed, _severity(bound, severity), reason, value, limit, _owner(bound)
    )


def unanswered_bound(
    metric: str, bound: JsonObject, reason: str, severity: Severity = "warning"
) -> MetricOutcome:
    """Say that a threshold cannot be judged, since the run lacks its value: a finding of its own."""
    limit = bound.get("max", bound.get("min"))
    text = f"{metric} has a threshold and no value: {reason}"
    return build_outcome(
        "missing_data", metric, None, _severity(bound, severity), text, None, limit, _owner(bound)
    )


def limits_by_name(bounds: Mapping[str, JsonObject]) -> dict[str, object]:
    """Name the bounds of metrics, to stand beside their values."""
    most = {limit_name(metric): bound["max"] for metric, bound in bounds.items() if "max" in bound}
    least = {
        limit_name(metric, "minimum"): bound["min"] for metric, bound in bounds.items() if "min" in bound
    }
    return {**most, **least}


def limit_name(metric: str, side: str = "limit") -> str:
    """Name the limit of a metric, the unit last: latency_ms gives latency_limit_ms."""
    for unit in _UNITS:
        if metric.endswith(unit):
            return f"{metric.removesuffix(unit)}_{side}{unit}"
    return f"{metric}_{side}"


def _shown(low: float | None, high: float | None) -> str:
    return f"{'-inf' if low is None else f'{low:g}'} .. {'inf' if high is None else f'{high:g}'}"


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _severity(bound: JsonObject, default: Severity) -> Severity:
    given = bound.get("severity")
    return given if given in {"info", "warning", "critical"} else default


def _owner(bound: JsonObject) -> str | None:
    owner = bound.get("owner")
    return owner if isinstance(owner, str) else None
