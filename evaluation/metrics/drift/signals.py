"""Rates a departure from the baseline: its direction, whether it lasts, how severe it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

from evaluation.inputs.rules import DriftRules
from evaluation.metrics.drift.bands import Band, has_tolerance, tolerance_of
from evaluation.metrics.drift.baseline import Measurements
from evaluation.results.findings import FindingKind
from evaluation.values import Severity, format_numbers

Direction = Literal["higher", "lower"]
Directions = Mapping[str, Direction]
_ROUNDING: Final = 1e-12
"""Relative to the baseline's value: a difference this small comes from arithmetic."""

_COMPARED: Final[Mapping[bool | None, FindingKind]] = {
    True: "regression",
    False: "improvement",
    None: "drift",
}
"""The kind of a departure from one run, by whether it is worse."""


class Signal(NamedTuple):
    """A metric that has changed."""

    metric: str
    kind: FindingKind
    observed: float
    baseline: float
    limit: float
    """The bound that was exceeded."""
    direction: Direction | None
    worse: bool | None
    """None if no direction of better is known."""
    sustained: bool | None
    """Whether the newest earlier runs breached the bound too. None if the rules do not ask."""
    severity: Severity
    reason: str

    def as_json(self) -> dict[str, object]:
        """Return the fields, and ``change``: observed minus baseline."""
        return {**self._asdict(), "change": self.observed - self.baseline}


def departure_signal(
    band: Band, observed: float, recent: Sequence[Measurements], rules: DriftRules, directions: Directions
) -> Signal | None:
    """Return the signal of a value outside its band, or None if it is inside or only rounding took it out.

    Without a direction of better, both sides count, and a departure from a single run is called drift.
    """
    low, high = band.bounds
    is_low = observed < low
    limit = low if is_low else high
    if low <= observed <= high or abs(observed - limit) <= _ROUNDING * abs(band.center):
        return None
    direction = directions.get(band.metric)
    worse = None if direction is None else is_low is (direction == "higher")
    # The current run is one of the runs in a row, so only the others are looked up.
    sustained = None if rules.sustained == 1 else _is_sustained(band, is_low, recent, rules.sustained - 1)
    value, accepted, center = format_numbers(observed, limit, band.center)
    return Signal(
        metric=band.metric,
        kind=band.kind if band.kind == "anomaly" else _COMPARED[worse],
        observed=observed,
        baseline=band.center,
        limit=limit,
        direction=direction,
        worse=worse,
        sustained=sustained,
        severity=_severity(band, worse, sustained, rules),
        reason=f"{band.metric}: {value} is {_compare_word(worse)} the accepted {accepted}; "
        f"{band.basis}: {center}{_describe_duration(sustained, rules.sustained)}",
    )


def can_decide(band: Band, recent: Sequence[Measurements], rules: DriftRules, directions: Directions) -> bool:
    """Return whether a value outside the band is possible, and more than information.

    Measurements are not negative, unless the centre is, so nothing falls below a bound of 0.
    """
    direction = directions.get(band.metric)
    if direction == "higher" and band.bounds.low <= 0.0 <= band.center:
        return False
    worse = None if direction is None else True
    sustained = None if rules.sustained == 1 else len(recent) >= rules.sustained - 1
    return _severity(band, worse, sustained, rules) != "info"


def _is_sustained(band: Band, low: bool, recent: Sequence[Measurements], others: int) -> bool:
    newest = [run.values.get(band.metric) for run in recent[-others:]]
    breached = [
        value is not None and (value < band.bounds.low if low else value > band.bounds.high)
        for value in newest
    ]
    # With fewer earlier runs than the rules ask for, nothing shows that a breach lasts.
    return len(breached) == others and all(breached)


def _severity(band: Band, worse: bool | None, sustained: bool | None, rules: DriftRules) -> Severity:
    has_no_bad_side = worse is None and not has_tolerance(band.metric, rules)
    if worse is False or has_no_bad_side or band.only_informs:
        return "info"
    severity = tolerance_of(band.metric, rules).severity
    if sustained is None:
        return severity
    if sustained:
        return "critical"
    # A single breach may be noise, so it is a warning at most.
    return "warning" if severity == "critical" else severity


def _compare_word(worse: bool | None) -> str:
    return "beyond" if worse is None else "worse than" if worse else "better than"


def _describe_duration(sustained: bool | None, runs: int) -> str:
    if sustained is None:
        return ""
    return f"; as in each of the newest {runs} runs" if sustained else "; a single breach"
