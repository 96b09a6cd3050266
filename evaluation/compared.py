"""What a comparison of two sets of runs says."""

from __future__ import annotations

from evaluation.results.findings import OutcomeStatus
from evaluation.results.report import Told
from evaluation.statistics.sequential import Verdict


class Side(Told):
    """One metric over one set of runs: what the mean is over is said beside it."""

    runs: int
    scored: int
    unscored: int
    mean: float | None


class Sequential(Told):
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


class MetricComparison(Told):
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


class Comparison(Told):
    """What two sets of runs say of each other; a difference that is not shown is no proof of equality."""

    status: OutcomeStatus
    reason: str
    alpha: float
    """Every interval has the confidence 1 - alpha."""
    seed: int
    control_runs: int
    treatment_runs: int
    metrics: dict[str, MetricComparison]
