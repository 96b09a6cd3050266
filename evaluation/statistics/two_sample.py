"""Tests whether two samples come from one distribution, and measures how far they differ."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from evaluation.statistics.intervals import Interval, two_sided_quantile
from evaluation.statistics.scipy_extra import import_scipy_stats


def cliffs_delta(
    control: Sequence[float], treatment: Sequence[float], confidence: float = 0.95
) -> tuple[float, Interval]:
    """Estimate the chance that a treatment value is higher than a control value, minus the chance of lower.

    The interval is Cliff's asymmetric one over the consistent estimate of delta's variance. If delta is 1 or
    -1, this variance is 0, and the bound is Wilson's for the smaller side: (n - z^2) / (n + z^2).

    Sources: Cliff (1993), Dominance statistics, Psychological Bulletin 114; Feng and Cliff (2004), Monte
    Carlo evaluation of ordinal d with improved confidence interval, Journal of Modern Applied Statistical
    Methods 3.

    Args:
        control: Two or more values.
        treatment: As for ``control``.
        confidence: Of the interval, between 0 and 1.
    """
    z = two_sided_quantile(confidence)
    # Bisection in the sorted other side: n log m instead of n times m comparisons.
    by_treatment = _dominance(treatment, sorted(control))
    delta = math.fsum(by_treatment) / len(by_treatment)
    by_control = [-dominance for dominance in _dominance(control, sorted(treatment))]
    variance = _delta_variance(
        delta, by_treatment, by_control, _share_of_differing(treatment, sorted(control))
    )
    fewest = min(len(control), len(treatment))
    return delta, _delta_interval(delta, variance, z, fewest)


def _dominance(values: Sequence[float], others: Sequence[float]) -> list[float]:
    """Compute for each value the share of the (sorted) others below it minus the share above it."""
    count = len(others)
    return [(bisect_left(others, value) + bisect_right(others, value) - count) / count for value in values]


def _share_of_differing(values: Sequence[float], others: Sequence[float]) -> float:
    """Compute the share of pairs with different values."""
    ties = sum(bisect_right(others, value) - bisect_left(others, value) for value in values)
    return 1.0 - ties / (len(values) * len(others))


def _delta_variance(delta: float, rows: Sequence[float], columns: Sequence[float], differing: float) -> float:
    n, m = len(rows), len(columns)
    of_rows = math.fsum((value - delta) ** 2 for value in rows) / (n - 1)
    of_columns = math.fsum((value - delta) ** 2 for value in columns) / (m - 1)
    of_pairs = (differing - delta * delta) * n * m / (n * m - 1)
    return ((m - 1) * of_rows + (n - 1) * of_columns + of_pairs) / (n * m)


def _delta_interval(delta: float, variance: float, z: float, fewest: int) -> Interval:
    if abs(delta) == 1.0:  # no overlap, and so no variance to estimate
        inner = (fewest - z * z) / (fewest + z * z)
        return Interval(inner, 1.0) if delta > 0 else Interval(-1.0, -inner)
    rest = 1.0 - delta * delta
    half = z * math.sqrt(variance) * math.sqrt(rest * rest + z * z * variance)
    scale = rest + z * z * variance
    return Interval(max(-1.0, (delta * rest - half) / scale), min(1.0, (delta * rest + half) / scale))


def two_sample_p_value(control: Sequence[float], treatment: Sequence[float]) -> float:
    """Test two independent samples by Mann and Whitney's U, two-sided.

    U and Cliff's delta are the same quantity in two scales (delta = 2U / nm - 1), so the p-value and the
    effect always agree. The test does not detect a change of spread alone.

    Source: Mann and Whitney (1947), Annals of Mathematical Statistics 18; by ``scipy.stats.mannwhitneyu``:
    exact for small samples without ties, else normal with corrections for ties and continuity.

    Raises:
        MissingExtraError: SciPy is not installed.
    """
    result = import_scipy_stats().mannwhitneyu(control, treatment, alternative="two-sided")
    return float(result.pvalue)


def adjust_p_values(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for the number of tests.

    Of the results with an adjusted p-value up to alpha, a share of at most alpha is expected to be false.

    Source: Benjamini and Hochberg (1995), Controlling the false discovery rate, JRSS B 57; by
    ``scipy.stats.false_discovery_control``.

    Args:
        p_values: Each from 0 to 1.

    Raises:
        MissingExtraError: SciPy is not installed.
    """
    return import_scipy_stats().false_discovery_control(p_values).tolist() if p_values else []
