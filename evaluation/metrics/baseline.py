"""Reads the numbers of earlier runs, and computes the band in which a metric counts as unchanged."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final, Literal, NamedTuple

from evaluation.inputs.contract import DriftRules, Tolerance
from evaluation.statistics.intervals import Interval
from evaluation.statistics.means import change_rate, is_constant, prediction_bounds
from evaluation.values import JsonObject, as_list, as_object

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


def has_tolerance(metric: str, rules: DriftRules) -> bool:
    """Return whether the rules give the metric a tolerance."""
    return rules.default is not None or metric in rules.tolerances


def tolerance_of(metric: str, rules: DriftRules) -> Tolerance:
    """Return a metric's tolerance: its own, the default of the rules, or 10 % relative."""
    return rules.tolerances.get(metric) or rules.default or _DEFAULT_TOLERANCE


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
    alarming = sum(metric in directed or has_tolerance(metric, rules) for metric in tested)
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
    tolerance = tolerance_of(metric, rules)
    allowed = max(tolerance.relative * abs(center), tolerance.absolute)
    bounds = Interval(center - allowed, center + allowed)
    return Band(kind, metric, center, bounds, basis, only_informs=not has_tolerance(metric, rules))
