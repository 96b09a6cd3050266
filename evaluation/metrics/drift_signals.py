"""Compares a run with its baseline: regression, drift, anomaly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from evaluation.inputs.contract import DriftRules
from evaluation.metrics.baseline import (
    Band,
    Measurements,
    build_bands,
    has_tolerance,
    read_baseline,
    tolerance_of,
)
from evaluation.results.findings import (
    OUTCOME_STATUSES,
    FindingKind,
    MetricOutcome,
    Unscored,
    build_outcome,
    missing_data,
)
from evaluation.values import JsonObject, Severity, format_numbers

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
    change: float
    """Observed minus baseline."""
    limit: float
    """The bound that was exceeded."""
    direction: Direction | None
    worse: bool | None
    """None if no direction of better is known."""
    sustained: bool | None
    """Whether the newest earlier runs breached the bound too. None if the rules do not ask."""
    severity: Severity
    reason: str


def compare_with_baseline(
    current: Mapping[str, float], baseline: JsonObject | None, rules: DriftRules, directions: Directions
) -> tuple[JsonObject, list[MetricOutcome]]:
    """Compare one run with earlier runs.

    The content of the baseline decides how:

    - Numbers of one run are compared by tolerances. The signal is a regression, or drift if no direction of
      better is known. It has the severity info unless the rules give a tolerance.
    - ``runs``, the numbers of many runs, give prediction bounds; a value outside is an anomaly.
    - ``recent``, the newest runs before this one, oldest first, tells sustained breaches from single ones.

    A run is flat or grouped as in a report (see ``read_measurements``). The metrics of the baseline and of
    the tolerances are compared; other metrics of ``current`` are ignored.

    Args:
        current: This run's finite numbers by metric.
        baseline: As above. It may hold anything; a value that is no number counts as missing.
        rules: Tolerances, and the accepted rate of false alarms.
        directions: The better direction of each metric.

    Returns:
        The signals and their counts (``decisive`` counts the metrics whose change can be more than
        information), and the outcomes that did not pass: one for each signal that is not an improvement, and
        those that could not be answered.
    """
    if baseline is None:
        return {"status": "not_applicable", "reason": "there is no baseline", "signals": []}, []
    earlier = read_baseline(baseline, {*current, *directions, *rules.tolerances})
    bands = list(build_bands(earlier, current, rules, directions))
    compared = {band.metric: current[band.metric] for band in bands if band.metric in current}
    present = [band for band in bands if band.metric in compared]
    signals = [
        signal
        for band in present
        for signal in _list_departures(band, compared[band.metric], earlier.recent, rules, directions)
    ]
    missing: dict[str, Unscored] = {
        **{metric: missing_data("the baseline does not have it") for metric in rules.tolerances},
        **{band.metric: missing_data("the run has no number for it") for band in bands},
    }
    unscored = {metric: reason for metric, reason in missing.items() if metric not in compared}
    decisive = {band.metric for band in present if _can_decide(band, earlier.recent, rules, directions)}
    # An improvement is a signal too, but no failure.
    failed = [
        build_outcome(each.kind, each.metric, False, each.severity, each.reason, each.observed, each.limit)
        for each in signals
        if each.worse is not False
    ]
    outcomes = [*failed, *_open_outcomes(unscored, compared, rules)]
    return {
        "status": "scored" if compared else "missing_data",
        # An open outcome must not count as a pass.
        "passed": False if failed else None if outcomes else True,
        "compared": len(compared),
        "decisive": len(decisive),
        "counts": {
            **dict.fromkeys(OUTCOME_STATUSES, 0),
            "missing_data": len(unscored),
            "scored": len(compared),
        },
        "signals": [signal._asdict() for signal in signals],
        "unscored": unscored,
    }, outcomes


def _list_departures(
    band: Band, observed: float, recent: Sequence[Measurements], rules: DriftRules, directions: Directions
) -> Iterator[Signal]:
    """Yield the signal of a value outside its band, unless only rounding took it out.

    Without a direction of better, both sides count, and a departure from a single run is called drift.
    """
    low, high = band.bounds
    is_low = observed < low
    limit = low if is_low else high
    if low <= observed <= high or abs(observed - limit) <= _ROUNDING * abs(band.center):
        return
    direction = directions.get(band.metric)
    worse = None if direction is None else is_low is (direction == "higher")
    # The current run is one of the runs in a row, so only the others are looked up.
    sustained = None if rules.sustained == 1 else _is_sustained(band, is_low, recent, rules.sustained - 1)
    value, accepted, center = format_numbers(observed, limit, band.center)
    word = "beyond" if worse is None else "worse than" if worse else "better than"
    yield Signal(
        metric=band.metric,
        kind=band.kind if band.kind == "anomaly" else _COMPARED[worse],
        observed=observed,
        baseline=band.center,
        change=observed - band.center,
        limit=limit,
        direction=direction,
        worse=worse,
        sustained=sustained,
        severity=_severity(band, worse, sustained, rules),
        reason=f"{band.metric}: {value} is {word} the accepted {accepted}; "
        f"{band.basis}: {center}{_describe_duration(sustained, rules.sustained)}",
    )


def _is_sustained(band: Band, low: bool, recent: Sequence[Measurements], others: int) -> bool:
    newest = [run.get(band.metric) for run in recent[-others:]]
    breached = [
        value is not None and (value < band.bounds.low if low else value > band.bounds.high)
        for value in newest
    ]
    # With fewer earlier runs than the rules ask for, nothing shows that a breach lasts.
    return len(breached) == others and all(breached)


def _describe_duration(sustained: bool | None, runs: int) -> str:
    if sustained is None:
        return ""
    return f"; as in each of the newest {runs} runs" if sustained else "; a single breach"


def _severity(band: Band, worse: bool | None, sustained: bool | None, rules: DriftRules) -> Severity:
    has_no_bad_side = worse is None and not has_tolerance(band.metric, rules)
    if worse is False or has_no_bad_side or band.only_informs:
        return "info"
    severity = tolerance_of(band.metric, rules).severity
    if sustained:
        return "critical"
    # A single breach may be noise, so it is a warning at most.
    return "warning" if sustained is False and severity == "critical" else severity


def _can_decide(
    band: Band, recent: Sequence[Measurements], rules: DriftRules, directions: Directions
) -> bool:
    """Return whether a value outside the band is possible, and more than information.

    Measurements are not negative, unless the centre is, so nothing falls below a bound of 0.
    """
    direction = directions.get(band.metric)
    if direction == "higher" and band.bounds.low <= 0.0 <= band.center:
        return False
    worse = None if direction is None else True
    sustained = None if rules.sustained == 1 else len(recent) >= rules.sustained - 1
    return _severity(band, worse, sustained, rules) != "info"


def _open_outcomes(
    unscored: Mapping[str, Unscored], compared: Mapping[str, float], rules: DriftRules
) -> Iterator[MetricOutcome]:
    """Yield one for each metric that a tolerance names, and one for an empty result."""
    for metric, tolerance in rules.tolerances.items():
        if metric in unscored:
            reason = f"{metric} has a tolerance and cannot be compared: {unscored[metric]['reason']}"
            yield build_outcome("missing_data", metric, None, tolerance.severity, reason)
    if not compared:
        reason = "nothing could be compared with the baseline"
        yield build_outcome("missing_data", "baseline", None, "info", reason)
