"""Compares a run with its baseline: regression, drift, anomaly."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from evaluation.contract.contract import DriftRules, Tolerance
from evaluation.findings import OUTCOME_STATUSES, Finding, FindingKind, Unscored
from evaluation.measures.metric_table import Direction
from evaluation.statistics import Interval
from evaluation.values import JsonObject, Severity, as_list, as_object, format_numbers

_LARGEST: Final = 1e150
"""The largest number that is compared: the squares of larger ones overflow."""
_LISTS: Final = ("recent", "runs")
"""The names in a baseline that are not metrics."""
_DEFAULT_TOLERANCE: Final = Tolerance(relative=0.1)
_FEWEST: Final = 5
"""Runs from which a value outside of their range is an alarm without a tolerance."""
_ROUNDING: Final = 1e-12
"""Relative to the baseline's value: a difference this small comes from arithmetic."""
_COMPARED: Final[Mapping[bool | None, FindingKind]] = {
    True: "regression",
    False: "improvement",
    None: "drift",
}
"""The kind of a departure from one run, by whether it is worse."""

Measurements = Mapping[str, float]
"""Finite numbers by metric."""
Directions = Mapping[str, Direction]


def compare_with_baseline(
    current: Measurements, baseline: JsonObject, rules: DriftRules, directions: Directions
) -> tuple[JsonObject, list[Finding]]:
    """Compare one run with earlier runs.

    The content of the baseline decides how:

    - Numbers of one run are compared by tolerances. The signal is a regression, or drift if no direction of
      better is known. It has the severity info unless the rules give a tolerance.
    - ``runs``, the numbers of several runs, span a range; a value outside, by more than the tolerance, is an
      anomaly. Without a tolerance it is more than information after five runs.
    - ``recent``, the newest runs before this one, oldest first, tells sustained breaches from single ones.

    A run is flat or grouped as in a report (see ``read_measurements``). The metrics of the baseline and of
    the tolerances are compared; other metrics of ``current`` are ignored.

    Args:
        current: This run's finite numbers by metric.
        baseline: As above. It may hold anything; a value that is no number counts as missing.
        rules: Tolerances, and how many runs in a row have to breach.
        directions: The better direction of each metric.

    Returns:
        The signals and their counts (``decisive`` counts the metrics whose change can be more than
        information), and the outcomes that did not pass: one for each signal that is not an improvement, and
        those that could not be answered.
    """
    known = {*current, *directions, *rules.tolerances}
    single = {name: value for name, value in baseline.items() if name not in _LISTS}
    recent, runs = (
        [read_measurements(as_object(run), known) for run in as_list(baseline.get(name))] for name in _LISTS
    )
    bands = [*_build_bands(read_measurements(single, known), runs, rules, directions)]
    present = [band for band in bands if band.metric in current]
    compared = {band.metric for band in present}
    missing = dict.fromkeys(rules.tolerances, "the baseline does not have it")
    missing |= dict.fromkeys((band.metric for band in bands), "the run has no number for it")
    missing = {metric: reason for metric, reason in missing.items() if metric not in compared}
    departures = [
        _describe_departure(band, current[band.metric], recent, rules)
        for band in present
        if band.excludes(current[band.metric])
    ]
    # An improvement is a signal too, but no failure.
    failed = [finding for finding, _ in departures if not finding.passed]
    findings = [*failed, *_report_missing(missing, rules, is_empty=not compared)]
    counts = {**dict.fromkeys(OUTCOME_STATUSES, 0), "missing_data": len(missing), "scored": len(compared)}
    return {
        "status": "scored" if compared else "missing_data",
        # An open question must not count as a pass.
        "passed": False if failed else None if findings else True,
        "compared": len(compared),
        "decisive": len({band.metric for band in present if _can_decide(band, recent, rules)}),
        "counts": counts,
        "signals": [signal for _, signal in departures],
        "unscored": {
            metric: Unscored(status="missing_data", reason=reason) for metric, reason in missing.items()
        },
    }, findings


def read_measurements(source: JsonObject, known: Container[str]) -> Measurements:
    """Read the numbers of one run. True counts as 1, False as 0; anything that is no number is left out.

    Args:
        source: A report (its judge's score is one of the numbers), its ``metrics`` ({"operational": {...},
            ...}), or numbers by name. In a report and in a group, only known metrics are read; elsewhere
            everything is a metric.
        known: The names of metrics. A quantity in the ``sources`` of a group is one as well.
    """
    inner = source.get("metrics")
    entries = dict(_metric_entries(inner if isinstance(inner, Mapping) else source, known))
    # A report holds the judge's score outside its metrics.
    score = as_object(as_object(source.get("judge")).get("result")).get("score")
    if score is not None and "judge_score" in known:
        entries["judge_score"] = score
    return {
        metric: float(value)
        for metric, value in entries.items()
        if isinstance(value, int | float) and abs(value) <= _LARGEST
    }


def _metric_entries(groups: JsonObject, known: Container[str]) -> Iterator[tuple[str, object]]:
    for group, values in groups.items():
        if not isinstance(values, Mapping):
            yield group, values
            continue
        sources = as_object(values.get("sources"))
        for name, value in values.items():
            # Outside its group a metric of the trajectory has a prefix.
            prefixed = f"{group}_{name}"
            if name in sources or name in known:
                yield name, value
            elif group == "trajectory" and prefixed in known:
                yield prefixed, value


@dataclass(frozen=True, slots=True)
class Band:
    """The values of one metric that give no signal, bounds included."""

    metric: str
    center: float
    bounds: Interval
    basis: str
    """Describes the centre."""
    is_anomaly: bool
    """Whether a value outside is an anomaly among several runs, and not a difference from one."""
    direction: Direction | None
    severity: Severity | None
    """Severity of a value outside; None if it only informs, because nothing shows that it is bad."""

    def excludes(self, value: float) -> bool:
        """Return whether a value is outside, and not only by rounding."""
        return max(self.bounds.low - value, value - self.bounds.high) > _ROUNDING * abs(self.center)


def _build_bands(
    single: Measurements, runs: Sequence[Measurements], rules: DriftRules, directions: Directions
) -> Iterator[Band]:
    """Yield the bands around the numbers of one run, and around the numbers of several."""
    history: dict[str, list[float]] = {}
    for run in runs:
        for metric, value in run.items():
            history.setdefault(metric, []).append(value)
    for metric, value in single.items():
        yield _build_band(metric, [value], "the baseline", rules, directions.get(metric))
    for metric, values in history.items():
        basis = "one run" if len(values) == 1 else f"mean of {len(values)} runs"
        yield _build_band(metric, values, basis, rules, directions.get(metric))


def _build_band(
    metric: str, values: Sequence[float], basis: str, rules: DriftRules, direction: Direction | None
) -> Band:
    """Build the band from the lowest to the highest value, wider by the larger of both tolerances.

    Few runs do not show how far runs vary, so without a tolerance of the rules they only inform.
    """
    stated = rules.tolerances.get(metric) or rules.default
    tolerance, center = stated or _DEFAULT_TOLERANCE, fmean(values)
    allowed = max(tolerance.relative * abs(center), tolerance.absolute)
    bounds = Interval(min(values) - allowed, max(values) + allowed)
    may_fail = stated is not None or (direction is not None and len(values) >= _FEWEST)
    severity = tolerance.severity if may_fail else None
    return Band(metric, center, bounds, basis, len(values) > 1, direction, severity)


def _describe_departure(
    band: Band, observed: float, recent: Sequence[Measurements], rules: DriftRules
) -> tuple[Finding, JsonObject]:
    """Describe a value outside its band: as a finding, and as the signal that the report shows.

    Without a direction of better, both sides count, and a departure from a single run is called drift.
    ``sustained`` says whether the newest earlier runs breached the bound too; None if the rules do not ask.
    """
    is_low = observed < band.bounds.low
    limit = band.bounds.low if is_low else band.bounds.high
    worse = None if band.direction is None else is_low is (band.direction == "higher")
    # The current run is one of the runs in a row, so only the others are looked up.
    sustained = None if rules.sustained == 1 else _is_sustained(band, is_low, recent, rules.sustained - 1)
    value, accepted, center = format_numbers(observed, limit, band.center)
    word = "beyond" if worse is None else "worse than" if worse else "better than"
    reason = (
        f"{band.metric}: {value} is {word} the accepted {accepted}; "
        f"{band.basis}: {center}{_describe_duration(sustained, rules.sustained)}"
    )
    kind: FindingKind = "anomaly" if band.is_anomaly else _COMPARED[worse]
    severity = _choose_severity(band, worse, sustained)
    return Finding(band.metric, "drift", worse is False, severity, kind, reason, observed, limit), {
        "metric": band.metric,
        "kind": kind,
        "observed": observed,
        "baseline": band.center,
        "change": observed - band.center,
        "limit": limit,
        "direction": band.direction,
        "worse": worse,
        "sustained": sustained,
        "severity": severity,
        "reason": reason,
    }


def _is_sustained(band: Band, is_low: bool, recent: Sequence[Measurements], others: int) -> bool:
    newest = [run.get(band.metric) for run in recent[-others:]]
    breached = [
        value is not None and (value < band.bounds.low if is_low else value > band.bounds.high)
        for value in newest
    ]
    # With fewer earlier runs than the rules ask for, nothing shows that a breach lasts.
    return len(breached) == others and all(breached)


def _describe_duration(sustained: bool | None, runs: int) -> str:
    if sustained is None:
        return ""
    return f"; as in each of the newest {runs} runs" if sustained else "; a single breach"


def _choose_severity(band: Band, worse: bool | None, sustained: bool | None) -> Severity:
    if worse is False or band.severity is None:
        return "info"
    if sustained:
        return "critical"
    # A single breach may be noise, so it is a warning at most.
    return "warning" if sustained is False and band.severity == "critical" else band.severity


def _can_decide(band: Band, recent: Sequence[Measurements], rules: DriftRules) -> bool:
    """Return whether a value outside the band is possible, and more than information.

    Measurements are not negative, unless the centre is, so nothing falls below a bound of 0.
    """
    if band.direction == "higher" and band.bounds.low <= 0.0 <= band.center:
        return False
    sustained = None if rules.sustained == 1 else len(recent) >= rules.sustained - 1
    return _choose_severity(band, None, sustained) != "info"


def _report_missing(missing: Mapping[str, str], rules: DriftRules, *, is_empty: bool) -> Iterator[Finding]:
    """Yield one for each metric that a tolerance names, and one for an empty result."""
    for metric, tolerance in rules.tolerances.items():
        if metric in missing:
            reason = f"{metric} has a tolerance and cannot be compared: {missing[metric]}"
            yield Finding(metric, "drift", None, tolerance.severity, "missing_data", reason)
    if is_empty:
        reason = "nothing could be compared with the baseline"
        yield Finding("baseline", "drift", None, "info", "missing_data", reason)
