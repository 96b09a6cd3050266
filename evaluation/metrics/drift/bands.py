"""Computes the band in which a metric counts as unchanged, around one earlier run or around many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from evaluation.inputs.rules import DriftRules, Tolerance
from evaluation.metrics.drift.baseline import Measurements
from evaluation.results.findings import Unscored, missing_data
from evaluation.statistics.outliers import center_and_spread

_DEFAULT_TOLERANCE: Final = Tolerance(relative=0.1)


class Band(NamedTuple):
    """The values of one metric that give no signal, bounds included."""

    kind: Literal["regression", "anomaly"]
    metric: str
    center: float
    low: float
    high: float
    basis: str
    """Describes the centre."""


def tolerance_of(metric: str, rules: DriftRules) -> Tolerance:
    """Return a metric's tolerance: its own, the default of the rules, or 10 % relative."""
    return rules.tolerances.get(metric) or rules.default or _DEFAULT_TOLERANCE


def bands_around_one(values: Mapping[str, float], rules: DriftRules) -> Iterator[Band]:
    """Allow the larger of the relative and the absolute tolerance on both sides."""
    for metric, center in values.items():
        yield Band("regression", metric, center, *_tolerance_bounds(metric, center, rules), "the baseline")


def bands_around_many(
    runs: Sequence[Measurements], rules: DriftRules
) -> tuple[list[Band], dict[str, Unscored]]:
    """Allow the configured number of deviations around the centre of earlier runs.

    ``center_and_spread`` has the formulas. If the runs do not vary at all, they count as one run, and the
    tolerances apply.

    Returns:
        The bands, and why some metrics have none: fewer than ``min_runs`` values.
    """
    history = _values_by_metric(runs)
    bands = [
        _band_around(metric, values, rules)
        for metric, values in history.items()
        if len(values) >= rules.min_runs
    ]
    unscored = {
        metric: missing_data(
            f"{len(values)} of {len(runs)} earlier runs have a value; {rules.min_runs} are needed"
        )
        for metric, values in history.items()
        if len(values) < rules.min_runs
    }
    return bands, unscored


def _values_by_metric(runs: Sequence[Measurements]) -> dict[str, list[float]]:
    history: dict[str, list[float]] = {}
    for run in runs:
        for metric, value in run.values.items():
            history.setdefault(metric, []).append(value)
        for metric in run.faults:  # a metric with faults only is reported too
            history.setdefault(metric, [])
    return history


def _band_around(metric: str, values: Sequence[float], rules: DriftRules) -> Band:
    center, spread = center_and_spread(values, rules.method)
    # Any change would be infinitely many deviations away.
    if spread == 0.0:
        bounds = _tolerance_bounds(metric, center, rules)
        return Band("anomaly", metric, center, *bounds, f"each of {len(values)} runs")
    basis = f"{'median' if rules.method == 'mad' else 'mean'} of {len(values)} runs"
    allowed = rules.deviations * spread
    return Band("anomaly", metric, center, center - allowed, center + allowed, basis)


def _tolerance_bounds(metric: str, center: float, rules: DriftRules) -> tuple[float, float]:
    tolerance = tolerance_of(metric, rules)
    allowed = max(tolerance.relative * abs(center), tolerance.absolute)
    return center - allowed, center + allowed
