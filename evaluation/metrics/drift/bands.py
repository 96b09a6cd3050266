"""Within which bounds a metric is as it was: around one earlier run, or around many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

from evaluation.inputs.rules import DriftRules, Tolerance
from evaluation.metrics.drift.baseline import Measurements
from evaluation.results.findings import Unscored, missing_data, unscored_error
from evaluation.statistics.outliers import center_and_spread

DEFAULT_TOLERANCE: Final = Tolerance(relative=0.1)
"""For metrics that the rules say nothing of."""


class Band(NamedTuple):
    """The values of one metric that are no signal, bounds included."""

    kind: Literal["regression", "anomaly"]
    metric: str
    center: float
    low: float
    high: float
    basis: str
    """What the centre is."""


def tolerance_of(metric: str, rules: DriftRules) -> Tolerance:
    """Find a metric's tolerance: its own, the default of the rules, or 10 % relative."""
    return rules.tolerances.get(metric) or rules.default or DEFAULT_TOLERANCE


def steady_metrics(current: Mapping[str, float], values: Mapping[str, float], rules: DriftRules) -> list[str]:
    """Name the metrics without a tolerance of their own that are within the default one.

    They would be found within their bands as well; most metrics of most runs are, and need none.
    """
    default = rules.default or DEFAULT_TOLERANCE
    relative, absolute, own = default.relative, default.absolute, rules.tolerances
    return [
        metric
        for metric, center in values.items()
        if metric in current
        and metric not in own
        and abs(current[metric] - center) <= max(relative * abs(center), absolute)
    ]


def bands_around_one(values: Mapping[str, float], rules: DriftRules) -> list[Band]:
    """Allow on either side the larger of the relative and the absolute tolerance."""
    return [
        Band("regression", metric, center, *_tolerated(metric, center, rules), "the baseline")
        for metric, center in values.items()
    ]


def bands_around_many(
    runs: Sequence[Measurements], rules: DriftRules
) -> tuple[list[Band], dict[str, Unscored]]:
    """Allow the configured number of deviations around the centre of earlier runs (see ``usual``).

    Runs that do not vary at all are as one run: the tolerances say what is allowed.

    Returns:
        The bands, and why some metrics have none: fewer than ``min_runs`` values, or too large ones.
    """
    bands: list[Band] = []
    unscored: dict[str, Unscored] = {}
    for metric, values in _history(runs).items():
        found = _band(metric, values, len(runs), rules)
        if isinstance(found, Band):
            bands.append(found)
        else:
            unscored[metric] = found
    return bands, unscored


def _history(runs: Sequence[Measurements]) -> dict[str, list[float]]:
    history: dict[str, list[float]] = {}
    for run in runs:
        for metric, value in run.values.items():
            history.setdefault(metric, []).append(value)
        for metric in run.faults:
            history.setdefault(metric, [])
    return history


def _band(metric: str, values: Sequence[float], runs: int, rules: DriftRules) -> Band | Unscored:
    if len(values) < rules.min_runs:
        return missing_data(f"{len(values)} of {runs} earlier runs have a value; {rules.min_runs} are needed")
    try:
        found = center_and_spread(values, rules.method)
    except OverflowError:
        return unscored_error("the values of the earlier runs are too large to be averaged")
    if found.spread == 0.0:
        bounds = _tolerated(metric, found.center, rules)
        return Band("anomaly", metric, found.center, *bounds, f"each of {len(values)} runs")
    basis = f"{'median' if rules.method == 'mad' else 'mean'} of {len(values)} runs"
    allowed = rules.deviations * found.spread
    return Band("anomaly", metric, found.center, found.center - allowed, found.center + allowed, basis)


def _tolerated(metric: str, center: float, rules: DriftRules) -> tuple[float, float]:
    tolerance = tolerance_of(metric, rules)
    allowed = max(tolerance.relative * abs(center), tolerance.absolute)
    return center - allowed, center + allowed
