"""Compares a run with its baseline: regression, drift, anomaly."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final, Literal, NamedTuple, TypedDict

from evaluation.contract.contract import DriftRules, Tolerance
from evaluation.findings import Finding, FindingKind
from evaluation.report.metric_groups import OUTCOME_STATUSES, Unscored, missing_data
from evaluation.statistics import Interval, change_rate, is_constant, prediction_bounds
from evaluation.values import JsonObject, Severity, as_list, as_object, format_numbers

_LARGEST: Final = 1e150
"""The largest number that is compared: the squares of larger ones overflow."""
_LISTS: Final = ("recent", "runs")
"""The names in a baseline that are not metrics."""

Measurements = Mapping[str, float]
"""Finite numbers by metric."""


class Baseline(NamedTuple):
    """A baseline after reading."""

    single: Measurements
    """One earlier run."""
    runs: Sequence[Measurements]
    """Many earlier runs."""
    recent: Sequence[Measurements]
    """The newest runs before this one, oldest first."""


def read_baseline(source: JsonObject, known: Container[str]) -> Baseline:
    """Read a baseline. An entry of a list that is not an object counts as a run without values."""
    single = read_measurements({name: value for name, value in source.items() if name not in _LISTS}, known)
    recent, runs = (
        [read_measurements(as_object(entry), known) for entry in as_list(source.get(name))] for name in _LISTS
    )
    return Baseline(single, runs, recent)


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


_DEFAULT_TOLERANCE: Final = Tolerance(relative=0.1)


class Band(NamedTuple):
    """The values of one metric that give no signal, bounds included."""

    kind: Literal["regression", "anomaly"]
    metric: str
    center: float
    bounds: Interval
    basis: str
    """Describes the centre."""
    only_informs: bool
    """Whether a value outside has the severity info, because nothing shows that it is unusual."""


def find_tolerance(metric: str, rules: DriftRules) -> Tolerance | None:
    """Return the tolerance that the rules give a metric: its own, or the default."""
    return rules.tolerances.get(metric) or rules.default


def build_bands(
    earlier: Baseline, current: Container[str], rules: DriftRules, directed: Container[str]
) -> Iterator[Band]:
    """Yield the bands around the numbers of one run, and around those of many.

    Around one run, the larger of the relative and the absolute tolerance is allowed on both sides. One run
    does not show how far runs vary, so only a tolerance of the rules can fail a check.

    Around many, harmless runs exceed the bounds at the accepted rate, all metrics together. The rate of each
    bound is the accepted rate divided by the number of metrics that can raise an alarm (Bonferroni), and by
    two if the metric has two bad sides. A metric with one value counts as one run. A metric that never varied
    has its tolerance as bounds; if the rules do not give it, a change is an alarm only after so many runs
    that it is rarer than the rate.

    Args:
        earlier: The earlier runs.
        current: The metrics of this run.
        rules: The accepted rate and the tolerances.
        directed: The metrics with a known better direction.
    """
    for metric, center in earlier.single.items():
        yield _tolerance_band("regression", metric, center, "the baseline", rules)
    history = _values_by_metric(earlier.runs)
    tested = [metric for metric, values in history.items() if len(values) > 1 and metric in current]
    alarming = sum(metric in directed or find_tolerance(metric, rules) is not None for metric in tested)
    rate = rules.false_alarm_rate / max(1, alarming)
    for metric, values in history.items():
        yield _band_around(metric, values, rules, rate if metric in directed else rate / 2.0)


def _values_by_metric(runs: Sequence[Measurements]) -> dict[str, list[float]]:
    history: dict[str, list[float]] = {}
    for run in runs:
        for metric, value in run.items():
            history.setdefault(metric, []).append(value)
    return history


def _band_around(metric: str, values: Sequence[float], rules: DriftRules, rate: float) -> Band:
    if len(values) == 1:
        return _tolerance_band("regression", metric, values[0], "one run", rules)
    if is_constant(values):
        band = _tolerance_band("anomaly", metric, values[0], f"each of {len(values)} runs", rules)
        return band._replace(only_informs=band.only_informs and change_rate(len(values)) > rate)
    bounds = prediction_bounds(values, rate)
    return Band("anomaly", metric, fmean(values), bounds, f"mean of {len(values)} runs", only_informs=False)


def _tolerance_band(
    kind: Literal["regression", "anomaly"], metric: str, center: float, basis: str, rules: DriftRules
) -> Band:
    stated = find_tolerance(metric, rules)
    tolerance = stated or _DEFAULT_TOLERANCE
    allowed = max(tolerance.relative * abs(center), tolerance.absolute)
    bounds = Interval(center - allowed, center + allowed)
    return Band(kind, metric, center, bounds, basis, only_informs=stated is None)


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


class Signal(TypedDict):
    """A metric that has changed, as the report shows it."""

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
    current: Mapping[str, float], baseline: JsonObject, rules: DriftRules, directions: Directions
) -> tuple[JsonObject, list[Finding]]:
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
    earlier = read_baseline(baseline, {*current, *directions, *rules.tolerances})
    bands = list(build_bands(earlier, current, rules, directions))
    present = [band for band in bands if band.metric in current]
    compared = {band.metric for band in present}
    unscored = _find_unscored(bands, compared, rules)
    departures = [
        _describe_departure(band, current[band.metric], earlier.recent, rules, directions)
        for band in present
        if _is_outside(band, current[band.metric])
    ]
    # An improvement is a signal too, but no failure.
    failed = [_report(signal) for signal in departures if signal["worse"] is not False]
    findings = [*failed, *_report_unscored(unscored, compared, rules)]
    decisive = {band.metric for band in present if _can_decide(band, earlier.recent, rules, directions)}
    counts = {**dict.fromkeys(OUTCOME_STATUSES, 0), "missing_data": len(unscored), "scored": len(compared)}
    return {
        "status": "scored" if compared else "missing_data",
        # An open question must not count as a pass.
        "passed": False if failed else None if findings else True,
        "compared": len(compared),
        "decisive": len(decisive),
        "counts": counts,
        "signals": departures,
        "unscored": unscored,
    }, findings


def _report(signal: Signal) -> Finding:
    metric, severity, kind, reason = signal["metric"], signal["severity"], signal["kind"], signal["reason"]
    return Finding(metric, "drift", False, severity, kind, reason, signal["observed"], signal["limit"])


def _find_unscored(bands: Sequence[Band], compared: Container[str], rules: DriftRules) -> dict[str, Unscored]:
    """Return why a metric of the tolerances or of the baseline is not compared."""
    missing = {
        **{metric: missing_data("the baseline does not have it") for metric in rules.tolerances},
        **{band.metric: missing_data("the run has no number for it") for band in bands},
    }
    return {metric: reason for metric, reason in missing.items() if metric not in compared}


def _is_outside(band: Band, observed: float) -> bool:
    """Return whether a value is outside of its band, and not only by rounding."""
    low, high = band.bounds
    return max(low - observed, observed - high) > _ROUNDING * abs(band.center)


def _describe_departure(
    band: Band, observed: float, recent: Sequence[Measurements], rules: DriftRules, directions: Directions
) -> Signal:
    """Describe a value outside its band.

    Without a direction of better, both sides count, and a departure from a single run is called drift.
    """
    is_low = observed < band.bounds.low
    limit = band.bounds.low if is_low else band.bounds.high
    direction = directions.get(band.metric)
    worse = None if direction is None else is_low is (direction == "higher")
    # The current run is one of the runs in a row, so only the others are looked up.
    sustained = None if rules.sustained == 1 else _is_sustained(band, is_low, recent, rules.sustained - 1)
    value, accepted, center = format_numbers(observed, limit, band.center)
    word = "beyond" if worse is None else "worse than" if worse else "better than"
    return {
        "metric": band.metric,
        "kind": band.kind if band.kind == "anomaly" else _COMPARED[worse],
        "observed": observed,
        "baseline": band.center,
        "change": observed - band.center,
        "limit": limit,
        "direction": direction,
        "worse": worse,
        "sustained": sustained,
        "severity": _severity(band, worse, sustained, rules),
        "reason": f"{band.metric}: {value} is {word} the accepted {accepted}; "
        f"{band.basis}: {center}{_describe_duration(sustained, rules.sustained)}",
    }


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
    has_no_bad_side = worse is None and find_tolerance(band.metric, rules) is None
    if worse is False or has_no_bad_side or band.only_informs:
        return "info"
    severity = (find_tolerance(band.metric, rules) or _DEFAULT_TOLERANCE).severity
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


def _report_unscored(
    unscored: Mapping[str, Unscored], compared: Collection[str], rules: DriftRules
) -> Iterator[Finding]:
    """Yield one for each metric that a tolerance names, and one for an empty result."""
    for metric, tolerance in rules.tolerances.items():
        if metric in unscored:
            reason = f"{metric} has a tolerance and cannot be compared: {unscored[metric]['reason']}"
            yield Finding(metric, "drift", None, tolerance.severity, "missing_data", reason)
    if not compared:
        reason = "nothing could be compared with the baseline"
        yield Finding("baseline", "drift", None, "info", "missing_data", reason)
