"""Two sets of runs against each other: control and treatment, A and B."""

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
    """One metric over one set of runs: what the mean is over is said beside it."""

    runs: int
    scored: int
    unscored: int
    mean: float | None


class Sequential(ReportModel):
    """The verdict that holds however often the comparison is repeated while runs arrive.

    Runs are paired by their places; the first control run with the first treatment run.
    """

    verdict: Verdict
    p_value: float
    pairs: int
    ties: int
    unscored_pairs: int
    """Pairs of which one run or both have no value."""
    unpaired_runs: int
    """Runs of the longer side beyond the shorter."""


class MetricComparison(ReportModel):
    """One metric: treatment against control."""

    status: OutcomeStatus
    reason: str
    control: Side
    treatment: Side
    difference: float | None = None
    """Of the means, treatment less control, in the metric's unit."""
    interval: tuple[float, float] | None = None
    """Of the difference, by bootstrap."""
    interval_method: str | None = None
    effect_size: float | None = None
    """Cliff's delta, -1 to 1."""
    effect_interval: tuple[float, float] | None = None
    p_value: float | None = None
    """Mann and Whitney's, for one look at independent runs."""
    adjusted_p_value: float | None = None
    """After Benjamini and Hochberg, over all metrics that were scored."""
    shown: bool | None = None
    """Whether the adjusted p-value is alpha at the most."""
    better: bool | None = None
    """Whether the treatment is better, where a difference is shown and the direction of better is known."""
    sequential: Sequential | None = None


class Comparison(ReportModel):
    """What two sets of runs say of each other; a difference that is not shown is no proof of equality."""

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
"""Values that each side needs."""


Column: TypeAlias = Sequence[float | None]
"""One metric of one side by run, None where a run has no value."""


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

    For each: the means and their difference with a bootstrap interval, Cliff's delta with its interval, a
    p-value adjusted over the metrics, and a sequential test that may be looked at after every run. A metric
    with fewer than two values on a side is not compared, and says so with its counts.

    Args:
        control: Reports of ``evaluate``, their ``metrics``, or numbers by name.
        treatment: Likewise; for the sequential test in the order of arrival.
        metrics: Which to compare; by default all that any run has.
        alpha: The accepted rate of false alarms, between 0 and 1.
        seed: Of the bootstrap, 0 or more; the same runs and seed give the same comparison.

    Raises:
        ContractError: ``alpha`` is not between 0 and 1, ``seed`` is negative, or a run is no object.
        MissingExtraError: SciPy is not installed.
    """
    if not 0.0 < alpha < 1.0 or seed < 0:
        raise ContractError(
            f"alpha has to lie between 0 and 1, seed has to be 0 or more; not {alpha}, {seed}"
        )
    wanted = () if metrics is None else tuple(dict.fromkeys(metrics))
    before, after = _read(control, "control", wanted), _read(treatment, "treatment", wanted)
    names = sorted({name for run in (*before, *after) for name in run}) if metrics is None else wanted
    columns = {name: (_column(name, before), _column(name, after)) for name in names}
    compared = _by_metric(columns, alpha, seed)
    scored = sum(one.status == "scored" for one in compared.values())
    return Comparison(
        status="scored" if scored else "missing_data",
        reason=f"{scored} of {len(names)} metrics over {len(before)} control and {len(after)} treatment runs",
        alpha=alpha,
        seed=seed,
        control_runs=len(before),
        treatment_runs=len(after),
        metrics=compared,
    )


def _read(runs: Iterable[Run], side: str, wanted: Sequence[str]) -> list[Mapping[str, float]]:
    def known(name: str) -> bool:
        return is_metric(name) or name in wanted

    return [
        read_measurements(_object(run, f"{side}[{place}]"), known).values for place, run in enumerate(runs)
    ]


def _object(run: Run, place: str) -> JsonObject:
    if isinstance(run, BaseModel):
        return run.model_dump()
    if not isinstance(run, Mapping):
        raise ContractError(
            f"{place} is a {type(run).__name__}; give a report, its metrics, or numbers by name"
        )
    return run


def _column(name: str, runs: Sequence[Mapping[str, float]]) -> Column:
    return [run.get(name) for run in runs]


def _scored(column: Column) -> list[float]:
    return [value for value in column if value is not None]


def _by_metric(
    columns: Mapping[str, tuple[Column, Column]], alpha: float, seed: int
) -> dict[str, MetricComparison]:
    found = {name: _tested(*sides, alpha, seed) for name, sides in columns.items()}
    tested = {name: one for name, one in found.items() if isinstance(one, _Tested)}
    p_values = dict(zip(tested, adjust_p_values([one.test.p_value for one in tested.values()]), strict=True))
    return {
        name: _told(name, columns[name], one, p_values[name], alpha)
        if isinstance(one, _Tested)
        else MetricComparison(
            status=one["status"],
            reason=one["reason"],
            control=_side(columns[name][0]),
            treatment=_side(columns[name][1]),
        )
        for name, one in found.items()
    }


def _tested(control: Column, treatment: Column, alpha: float, seed: int) -> _Tested | Unscored:
    before, after = _scored(control), _scored(treatment)
    if min(len(before), len(after)) < _FEWEST:
        have = f"{len(before)} of {len(control)} control and {len(after)} of {len(treatment)} treatment runs"
        return missing_data(f"{have} have a value; {_FEWEST} are needed on each side")
    difference = mean_difference(before, after, confidence=1.0 - alpha, seed=seed)
    return _Tested(difference, two_sample_test(before, after, confidence=1.0 - alpha))


def _told(
    metric: str, columns: tuple[Column, Column], found: _Tested, p_value: float, alpha: float
) -> MetricComparison:
    control, treatment = _side(columns[0]), _side(columns[1])
    effect, shown = found.test.effect, p_value <= alpha
    return MetricComparison(
        status="scored",
        reason=_sentence(metric, control, treatment, shown, p_value),
        control=control,
        treatment=treatment,
        difference=found.difference.value,
        interval=_ends(found.difference.interval),
        interval_method=found.difference.method,
        effect_size=effect.delta,
        effect_interval=_ends(effect.interval),
        p_value=found.test.p_value,
        adjusted_p_value=p_value,
        shown=shown,
        better=_better(metric, effect.delta) if shown else None,
        sequential=_sequential(*columns, alpha),
    )


def _side(column: Column) -> Side:
    values = _scored(column)
    return Side(
        runs=len(column),
        scored=len(values),
        unscored=len(column) - len(values),
        mean=fmean(values) if values else None,
    )


def _ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def _better(metric: str, delta: float) -> bool | None:
    direction = DIRECTIONS.get(metric)
    return None if direction is None or delta == 0.0 else (delta > 0.0) is (direction == "higher")


def _sentence(metric: str, control: Side, treatment: Side, shown: bool, p_value: float) -> str:
    means = f"{metric}: mean {control.mean:g} in control, {treatment.mean:g} in treatment"
    word = "a difference is shown" if shown else "no difference is shown"
    return f"{means}; {word} (adjusted p {p_value:.2g})"


def _sequential(control: Column, treatment: Column, alpha: float) -> Sequential:
    pairs = list(zip(control, treatment, strict=False))
    whole = [(before, after) for before, after in pairs if before is not None and after is not None]
    test = sequential_test(whole, alpha)
    return Sequential(
        verdict=test.verdict,
        p_value=test.p_value,
        pairs=test.pairs,
        ties=test.ties,
        unscored_pairs=len(pairs) - len(whole),
        unpaired_runs=abs(len(control) - len(treatment)),
    )
