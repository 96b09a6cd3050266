"""Compares two sets of runs, metric by metric: control and treatment, or A and B."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, TypeAlias

from pydantic import BaseModel

from evaluation.errors import ContractError
from evaluation.metrics.drift.baseline import read_measurements
from evaluation.metrics.registry import DIRECTIONS, is_metric
from evaluation.results.findings import OutcomeStatus, Unscored, missing_data
from evaluation.results.report import ReportModel
from evaluation.statistics.bootstrap import Difference, mean_difference
from evaluation.statistics.intervals import Interval
from evaluation.statistics.sequential import Verdict, sequential_test
from evaluation.statistics.two_sample import TwoSampleTest, adjust_p_values, two_sample_test
from evaluation.values import JsonObject


class Side(ReportModel):
    """One metric of one set of runs: its mean and the number of runs with a value."""

    runs: int
    scored: int
    unscored: int
    mean: float | None


class Sequential(ReportModel):
    """A verdict that stays valid if the comparison is repeated while runs arrive.

    Runs are paired by position: the first control run with the first treatment run.
    """

    verdict: Verdict
    p_value: float
    pairs: int
    ties: int
    unscored_pairs: int
    """Pairs with a run that has no value."""
    unpaired_runs: int
    """Runs of the longer side beyond the shorter."""


class MetricComparison(ReportModel):
    """One metric: treatment against control."""

    status: OutcomeStatus
    reason: str
    control: Side
    treatment: Side
    difference: float | None = None
    """Mean of the treatment minus mean of the control, in the metric's unit."""
    interval: tuple[float, float] | None = None
    """Bootstrap interval of the difference."""
    interval_method: str | None = None
    effect_size: float | None = None
    """Cliff's delta, -1 to 1."""
    effect_interval: tuple[float, float] | None = None
    p_value: float | None = None
    """Of the test of Mann and Whitney, valid for one look at independent runs."""
    adjusted_p_value: float | None = None
    """After Benjamini and Hochberg, over all scored metrics."""
    shown: bool | None = None
    """Whether the adjusted p-value is at most alpha."""
    better: bool | None = None
    """Whether the treatment is better; None if no difference is shown or the better direction is unknown."""
    sequential: Sequential | None = None


class Comparison(ReportModel):
    """The comparison of two sets of runs; a difference that is not shown is no proof of equality."""

    status: OutcomeStatus
    reason: str
    alpha: float
    """Every interval has the confidence 1 - alpha."""
    seed: int
    control_runs: int
    treatment_runs: int
    metrics: dict[str, MetricComparison]


Run: TypeAlias = BaseModel | JsonObject
"""A report, its ``metrics``, or numbers by name."""
_FEWEST: Final = 2
"""Values that each side needs: one value has no spread."""


Column: TypeAlias = Sequence[float | None]
"""One metric of one side, by run; None if a run has no value."""


@dataclass(frozen=True, slots=True)
class _Tested:
    difference: Difference
    test: TwoSampleTest


def compare(
    control: Iterable[Run],
    treatment: Iterable[Run],
    *,
    metrics: Iterable[str] | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> Comparison:
    """Compare two sets of runs, metric by metric.

    For each metric: the means, their difference with a bootstrap interval, Cliff's delta with its interval, a
    p-value adjusted over the metrics, and a sequential test that may be read after every run. A metric with
    fewer than two values on a side is not compared, and its reason gives the counts.

    Args:
        control: Reports of ``evaluate``, their ``metrics``, or numbers by name.
        treatment: The same; for the sequential test, in the order of arrival.
        metrics: The metrics to compare. Default: all metrics of any run.
        alpha: The accepted rate of false alarms, between 0 and 1.
        seed: Seed of the bootstrap, 0 or more; the same runs and seed give the same comparison.

    Raises:
        ContractError: ``alpha`` is not between 0 and 1, ``seed`` is negative, or a run is no object.
        MissingExtraError: SciPy is not installed.
    """
    if not 0.0 < alpha < 1.0 or seed < 0:
        raise ContractError(
            f"alpha has to lie between 0 and 1 and seed has to be 0 or more, not {alpha} and {seed}"
        )
    requested = () if metrics is None else tuple(dict.fromkeys(metrics))
    before = _read_runs(control, "control", requested)
    after = _read_runs(treatment, "treatment", requested)
    names = sorted({name for run in (*before, *after) for name in run}) if metrics is None else requested
    columns = {name: (_build_column(name, before), _build_column(name, after)) for name in names}
    compared = _compare_metrics(columns, alpha, seed)
    scored = sum(result.status == "scored" for result in compared.values())
    return Comparison(
        status="scored" if scored else "missing_data",
        reason=f"{scored} of {len(names)} metrics over {len(before)} control and {len(after)} treatment runs",
        alpha=alpha,
        seed=seed,
        control_runs=len(before),
        treatment_runs=len(after),
        metrics=compared,
    )


def _read_runs(runs: Iterable[Run], side: str, requested: Sequence[str]) -> list[Mapping[str, float]]:
    def is_known(name: str) -> bool:
        return is_metric(name) or name in requested

    return [
        read_measurements(_read_object(run, f"{side}[{place}]"), is_known).values
        for place, run in enumerate(runs)
    ]


def _read_object(run: Run, place: str) -> JsonObject:
    if isinstance(run, BaseModel):
        return run.model_dump()
    if not isinstance(run, Mapping):
        raise ContractError(
            f"{place} is a {type(run).__name__}; give a report, its metrics, or numbers by name"
        )
    return run


def _build_column(name: str, runs: Sequence[Mapping[str, float]]) -> Column:
    return [run.get(name) for run in runs]


def _present_values(column: Column) -> list[float]:
    return [value for value in column if value is not None]


def _compare_metrics(
    columns: Mapping[str, tuple[Column, Column]], alpha: float, seed: int
) -> dict[str, MetricComparison]:
    tests = {name: _test_metric(*sides, alpha, seed) for name, sides in columns.items()}
    scored = {name: test for name, test in tests.items() if isinstance(test, _Tested)}
    p_values = dict(
        zip(scored, adjust_p_values([test.test.p_value for test in scored.values()]), strict=True)
    )
    return {
        name: _build_comparison(name, columns[name], test, p_values[name], alpha)
        if isinstance(test, _Tested)
        else MetricComparison(
            status=test["status"],
            reason=test["reason"],
            control=_summarize_side(columns[name][0]),
            treatment=_summarize_side(columns[name][1]),
        )
        for name, test in tests.items()
    }


def _test_metric(control: Column, treatment: Column, alpha: float, seed: int) -> _Tested | Unscored:
    before, after = _present_values(control), _present_values(treatment)
    if min(len(before), len(after)) < _FEWEST:
        counts = (
            f"{len(before)} of {len(control)} control and {len(after)} of {len(treatment)} treatment runs"
        )
        return missing_data(f"{counts} have a value; {_FEWEST} are needed on each side")
    difference = mean_difference(before, after, confidence=1.0 - alpha, seed=seed)
    return _Tested(difference, two_sample_test(before, after, confidence=1.0 - alpha))


def _build_comparison(
    metric: str, columns: tuple[Column, Column], tested: _Tested, p_value: float, alpha: float
) -> MetricComparison:
    control, treatment = _summarize_side(columns[0]), _summarize_side(columns[1])
    effect, shown = tested.test.effect, p_value <= alpha
    return MetricComparison(
        status="scored",
        reason=_describe_result(metric, control, treatment, shown, p_value),
        control=control,
        treatment=treatment,
        difference=tested.difference.value,
        interval=_interval_ends(tested.difference.interval),
        interval_method=tested.difference.method,
        effect_size=effect.delta,
        effect_interval=_interval_ends(effect.interval),
        p_value=tested.test.p_value,
        adjusted_p_value=p_value,
        shown=shown,
        better=_is_better(metric, effect.delta) if shown else None,
        sequential=_run_sequential_test(*columns, alpha),
    )


def _summarize_side(column: Column) -> Side:
    values = _present_values(column)
    return Side(
        runs=len(column),
        scored=len(values),
        unscored=len(column) - len(values),
        mean=fmean(values) if values else None,
    )


def _interval_ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def _is_better(metric: str, delta: float) -> bool | None:
    direction = DIRECTIONS.get(metric)
    return None if direction is None or delta == 0.0 else (delta > 0.0) is (direction == "higher")


def _describe_result(metric: str, control: Side, treatment: Side, shown: bool, p_value: float) -> str:
    means = f"{metric}: mean {control.mean:g} in control, {treatment.mean:g} in treatment"
    word = "a difference is shown" if shown else "no difference is shown"
    return f"{means}; {word} (adjusted p {p_value:.2g})"


def _run_sequential_test(control: Column, treatment: Column, alpha: float) -> Sequential:
    pairs = list(zip(control, treatment, strict=False))
    complete = [(before, after) for before, after in pairs if before is not None and after is not None]
    test = sequential_test(complete, alpha)
    return Sequential(
        verdict=test.verdict,
        p_value=test.p_value,
        pairs=test.pairs,
        ties=test.ties,
        unscored_pairs=len(pairs) - len(complete),
        unpaired_runs=abs(len(control) - len(treatment)),
    )
