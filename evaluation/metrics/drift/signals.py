"""What a departure from the baseline means: its direction, whether it lasts, how severe it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

from evaluation.inputs.rules import DriftRules, Severity
from evaluation.metrics.drift.bands import Band, tolerance_of
from evaluation.metrics.drift.baseline import Measurements
from evaluation.metrics.drift.samples import SampleTest
from evaluation.results.findings import FindingKind

Direction = Literal["higher", "lower"]
Directions = Mapping[str, Direction]
_ROUNDING: Final = 1e-12
"""Relative to the baseline's value: a difference that arithmetic makes, and no run."""


class Signal(NamedTuple):
    """A metric that is not as it was."""

    metric: str
    kind: FindingKind
    observed: float
    baseline: float
    limit: float
    """The bound that was passed; of a test, alpha."""
    direction: Direction | None
    worse: bool | None
    """None where nothing says which direction is better."""
    sustained: bool | None
    """Whether the newest runs before breached as well; None where it was not asked."""
    severity: Severity
    reason: str

    def as_json(self) -> dict[str, object]:
        """Give the fields, and ``change``: observed less baseline, null where that is too large a number."""
        change = self.observed - self.baseline
        return {
            "metric": self.metric,
            "kind": self.kind,
            "observed": self.observed,
            "baseline": self.baseline,
            "change": change if math.isfinite(change) else None,
            "limit": self.limit,
            "direction": self.direction,
            "worse": self.worse,
            "sustained": self.sustained,
            "severity": self.severity,
            "reason": self.reason,
        }


def departure_signal(
    band: Band, observed: float, recent: Sequence[Measurements], rules: DriftRules, directions: Directions
) -> Signal | None:
    """Say what a value outside its band is; None where only rounding took it there.

    Without a direction of better, either side is a departure, and one from a single run is called drift.
    """
    low = observed < band.low
    limit = band.low if low else band.high
    if abs(observed - limit) <= _ROUNDING * abs(band.center):
        return None
    direction = _direction(band.metric, rules, directions)
    worse = None if direction is None else low is (direction == "higher")
    sustained = None if rules.sustained == 1 else _sustained(band, low, recent, rules.sustained - 1)
    return Signal(
        band.metric,
        "drift" if direction is None and band.kind == "regression" else band.kind,
        observed,
        band.center,
        limit,
        direction,
        worse,
        sustained,
        _severity(band.metric, worse, sustained, rules),
        f"{band.metric}: {observed:g} is {_word(worse)} the accepted {limit:g}; "
        f"{band.basis}: {band.center:g}{_lasting(sustained, rules.sustained)}",
    )


def movement_signal(moved: SampleTest, rules: DriftRules, directions: Directions) -> Signal:
    """Say what two samples that differ mean; a test over many runs is neither single nor sustained."""
    effect, (before, after) = moved.test.effect, moved.medians
    direction = _direction(moved.metric, rules, directions)
    worse = None if direction is None else (effect.delta < 0) is (direction == "higher")
    return Signal(
        moved.metric,
        "drift",
        after,
        before,
        rules.alpha,
        direction,
        worse,
        None,
        _severity(moved.metric, worse, None, rules),
        f"{moved.metric}: the values have moved (Cliff's delta {effect.delta:.2f}, from "
        f"{effect.interval.low:.2f} to {effect.interval.high:.2f}; adjusted p {moved.adjusted_p_value:.2g})",
    )


def _direction(metric: str, rules: DriftRules, directions: Directions) -> Direction | None:
    own = rules.tolerances.get(metric)
    return (own.better if own else None) or directions.get(metric)


def _sustained(band: Band, low: bool, recent: Sequence[Measurements], others: int) -> bool:
    newest = [run.values.get(band.metric) for run in recent[-others:]]
    breached = [value is not None and (value < band.low if low else value > band.high) for value in newest]
    return len(breached) == others and all(breached)


def _severity(metric: str, worse: bool | None, sustained: bool | None, rules: DriftRules) -> Severity:
    if worse is False or (worse is None and _unasked(metric, rules)):
        return "info"
    severity = tolerance_of(metric, rules).severity
    if sustained is None:
        return severity
    if sustained:
        return "critical"
    return "warning" if severity == "critical" else severity


def _unasked(metric: str, rules: DriftRules) -> bool:
    return rules.default is None and metric not in rules.tolerances


def _word(worse: bool | None) -> str:
    return "beyond" if worse is None else "worse than" if worse else "better than"


def _lasting(sustained: bool | None, runs: int) -> str:
    if sustained is None:
        return ""
    return f"; so it is in each of the newest {runs} runs" if sustained else "; a single breach"
