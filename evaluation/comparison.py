"""Compares two sets of runs, control and treatment, metric by metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Final, TypeAlias

from pydantic import BaseModel

from evaluation.errors import ContractError
from evaluation.metrics.baseline import read_measurements
from evaluation.metrics.metric_table import DIRECTIONS, METRICS
from evaluation.results.findings import OutcomeStatus
from evaluation.results.report import ReportModel
from evaluation.statistics.means import FEWEST, difference_interval
from evaluation.statistics.two_sample import (
    adjust_p_values,
    cliffs_delta,
    two_sample_p_value,
)
from evaluation.values import JsonObject, format_numbers


class Side(ReportModel):
    """One metric of one set of runs: its mean and the number of runs with a value."""

    runs: int
    scored: int
    mean: float | None


class MetricComparison(ReportModel):
    """One metric: treatment against control."""

    status: OutcomeStatus
    reason: str
    control: Side
    treatment: Side
    difference: float | None = None
    """Of the means, treatment minus control, in the metric's unit."""
    interval: tuple[float, float] | None = None
    """Of the difference."""
    interval_method: str | None = None
    """"Welch" for means, "Agresti-Caffo" for values that are all 0 or 1."""
    interval_reason: str | None = None
    """The reason why a scored metric has no interval."""
    effect_size: float | None = None
    """Cliff's delta, -1 to 1."""
    p_value: float | None = None
    """Of the test of Mann and Whitney, valid for one look at independent runs."""
    adjusted_p_value: float | None = None
    """After the correction, over all metrics that were scored."""
    shown: bool | None = None
    """Whether the adjusted p-value is at most alpha."""
    better: bool | None = None
    """Whether the treatment is better; None if no difference is shown or the better direction is unknown."""


class Comparison(ReportModel):
    """The comparison of two sets of runs; a difference that is not shown is no proof of equality."""

    status: OutcomeStatus
    reason: str
    metrics: dict[str, MetricComparison]


Run: TypeAlias = BaseModel | JsonObject
"""A report, its ``metrics``, or numbers by name."""
Column: TypeAlias = Sequence[float | None]
"""One metric of one side by run; None for a run without a value."""
_NO_SPREAD: Final = "all values of a side are equal, on both sides, so there is no spread to estimate"


def compare(
    control: Iterable[Run],
    treatment: Iterable[Run],
    *,
    metrics: Iterable[str] | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> Comparison:
    """Compare two sets of runs, metric by metric.

    For each: the means and their difference with its interval, Cliff's delta, a p-value adjusted over the
    metrics by Benjamini and Hochberg. A metric with fewer than two values on a side is not compared; its
    ``reason`` gives the counts. The runs of the two sides are independent samples.

    Args:
        control: Reports of ``evaluate``, their ``metrics``, or numbers by name.
        treatment: As for ``control``.
        metrics: The metrics to compare. Default: all that any run has.
        alpha: The accepted rate of false alarms, between 0 and 1. Intervals have the confidence 1 - alpha.
        seed: Of the permutations for small samples with ties, 0 or more.

    Raises:
        ContractError: ``alpha`` is not between 0 and 1, ``seed`` is negative, ``metrics`` is a text, or
            a run is not an object.
        MissingExtraError: SciPy is not installed.
    """
    _check_options(alpha, seed)
    if isinstance(metrics, str):
        raise ContractError(f"metrics is the text {metrics!r}; give a list of names")
    requested = None if metrics is None else tuple(metrics)
    known = {*METRICS, *(requested or ())}
    before, after = _read_runs(control, "control", known), _read_runs(treatment, "treatment", known)
    names = sorted({name for run in (*before, *after) for name in run}) if requested is None else requested
    tested = {
        name: _compare_columns(
            [run.get(name) for run in before], [run.get(name) for run in after], alpha, seed
        )
        for name in names
    }
    compared = _adjust_results(tested, alpha)
    scored = sum(result.status == "scored" for result in compared.values())
    runs = f"{len(before)} control and {len(after)} treatment runs"
    return Comparison(
        status="scored" if scored else "missing_data",
        reason=f"{scored} of {len(compared)} metrics over {runs}",
        metrics=compared,
    )


def _check_options(alpha: float, seed: int) -> None:
    if not 0.0 < alpha < 1.0 or seed < 0:
        raise ContractError(f"alpha must be between 0 and 1, and seed at least 0; not {alpha}, {seed}")


def _read_runs(runs: Iterable[Run], side: str, known: set[str]) -> list[Mapping[str, float]]:
    return [read_measurements(_as_json(run, f"{side}[{place}]"), known) for place, run in enumerate(runs)]


def _as_json(run: Run, place: str) -> JsonObject:
    if isinstance(run, BaseModel):
        return run.model_dump()
    if not isinstance(run, Mapping):
        raise ContractError(
            f"{place} is a {type(run).__name__}; give a report, its metrics, or numbers by name"
        )
    return run


def _compare_columns(control: Column, treatment: Column, alpha: float, seed: int) -> MetricComparison:
    before, after = _scored_values(control), _scored_values(treatment)
    sides = (_summarize_side(control), _summarize_side(treatment))
    if min(len(before), len(after)) < FEWEST:
        counts = (
            f"{len(before)} of {len(control)} control and {len(after)} of {len(treatment)} treatment runs"
        )
        reason = f"{counts} have a value; {FEWEST} are needed on each side"
        return MetricComparison(status="missing_data", reason=reason, control=sides[0], treatment=sides[1])
    measured = difference_interval(before, after, confidence=1.0 - alpha)
    return MetricComparison(
        status="scored",
        reason="",
        control=sides[0],
        treatment=sides[1],
        difference=fmean(after) - fmean(before),
        interval=measured[0] if measured else None,
        interval_method=measured[1] if measured else None,
        interval_reason=None if measured else _NO_SPREAD,
        effect_size=cliffs_delta(before, after),
        p_value=two_sample_p_value(before, after, seed),
    )


def _scored_values(column: Column) -> list[float]:
    return [value for value in column if value is not None]


def _summarize_side(column: Column) -> Side:
    values = _scored_values(column)
    return Side(runs=len(column), scored=len(values), mean=fmean(values) if values else None)


def _adjust_results(tested: Mapping[str, MetricComparison], alpha: float) -> dict[str, MetricComparison]:
    """Adjust the p-values over all metrics, and conclude from them."""
    p_values = {name: result.p_value for name, result in tested.items() if result.p_value is not None}
    adjusted = dict(zip(p_values, adjust_p_values([*p_values.values()]), strict=True))
    return {
        name: _conclude(name, result, adjusted[name], alpha) if name in adjusted else result
        for name, result in tested.items()
    }


def _conclude(metric: str, result: MetricComparison, p_value: float, alpha: float) -> MetricComparison:
    shown, direction = p_value <= alpha, DIRECTIONS.get(metric)
    is_higher = (result.effect_size or 0.0) > 0.0
    control, treatment = format_numbers(result.control.mean or 0.0, result.treatment.mean or 0.0)
    means = f"mean {control} in control, {treatment} in treatment"
    word = "a difference is shown" if shown else "no difference is shown"
    return result.model_copy(
        update={
            "reason": f"{metric}: {means}; {word} (adjusted p {p_value:.2g})",
            "adjusted_p_value": p_value,
            "shown": shown,
            "better": is_higher is (direction == "higher") if shown and direction else None,
        }
    )
