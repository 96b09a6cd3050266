"""Computes the interval of a paired difference of means or rates, and bounds for a further value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean
from typing import Final, NamedTuple

from evaluation.errors import ContractError
from evaluation.statistics.intervals import Interval, t_quantile, upper_probability

FEWEST: Final = 2
"""Pairs that an interval needs: one value has no spread."""
_RATE: Final = frozenset({0.0, 1.0})
_ADDED: Final = 0.5
"""Added to each of the four cells of a paired table of successes and failures."""


def mean_variance(values: Sequence[float]) -> float:
    """Estimate the variance of the mean of two or more values."""
    if min(values) == max(values):  # the deviations of equal values may be rounding errors instead of 0
        return 0.0
    mean, count = fmean(values), len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (count - 1) / count


class PairedDifference(NamedTuple):
    """The mean difference, treatment minus control, and its interval."""

    mean: float
    interval: Interval


def paired_difference(
    control: Sequence[float], treatment: Sequence[float], confidence: float = 0.95
) -> PairedDifference:
    """Compute the mean of treatment minus control over items that have both values.

    If every value is 0 or 1, the interval is Agresti and Min's: Wald's with 0.5 added to each cell of the
    paired table, which holds its confidence also if no pair differs. Otherwise it is d ± t s / sqrt(n).

    Sources: Agresti and Min (2005), Simple improved confidence intervals for comparing matched proportions,
    Statistics in Medicine 24; Student (1908), The probable error of a mean, Biometrika 6.

    Args:
        control: A finite value for each item.
        treatment: The values of the same items in the same order.
        confidence: Between 0 and 1.

    Returns:
        With an infinite interval if there are fewer than two items.

    Raises:
        ContractError: ``confidence`` is not between 0 and 1, or the two sides differ in length.
    """
    upper = upper_probability(confidence)
    if len(control) != len(treatment):
        raise ContractError(
            f"{len(control)} control and {len(treatment)} treatment values; give both for every item"
        )
    if len(control) < FEWEST:
        return PairedDifference(math.nan, Interval(-math.inf, math.inf))
    differences = [after - before for before, after in zip(control, treatment, strict=True)]
    if _RATE.issuperset((*control, *treatment)):
        return PairedDifference(fmean(differences), _paired_rate_interval(differences, upper))
    mean = fmean(differences)
    half = t_quantile(upper, len(differences) - 1) * math.sqrt(mean_variance(differences))
    return PairedDifference(mean, Interval(mean - half, mean + half))


def _paired_rate_interval(differences: Sequence[float], upper: float) -> Interval:
    better = sum(value > 0 for value in differences) + _ADDED
    worse = sum(value < 0 for value in differences) + _ADDED
    count = len(differences) + 4 * _ADDED
    mean = (better - worse) / count
    error = math.sqrt((better + worse) / count - mean * mean) / math.sqrt(count)
    half = NormalDist().inv_cdf(upper) * error
    return Interval(max(-1.0, mean - half), min(1.0, mean + half))


_MOST_DEGREES: Final = 12
"""Degrees of freedom that are used at most: latencies have heavier tails than the normal distribution."""
_ROUNDING: Final = 1e-12
"""Relative difference of values that count as equal."""


def prediction_bounds(values: Sequence[float], rate: float) -> Interval:
    """Compute bounds for one further value: it exceeds each of them at this rate, and not more.

    With enough values, (n + 1) * rate >= 1, the bounds are order statistics, for any distribution.
    Otherwise they are those of Student's t, mean ± t s sqrt(1 + 1/n), and never within the earlier values.
    The upper bound of positive values is computed on their logarithms, which is exact for lognormal values
    and wider for normal ones. t has one degree of freedom less than there are different values, and 12 at
    most. The lower bound loses another one for each tie, because scores have ties at their ceiling, where
    they hide their spread. ``benchmarks/nominal_rates.py`` measures the rates.

    Source: Hahn and Meeker (1991), Statistical intervals, Wiley, sections 4.7 and 5.5.

    Args:
        values: Two or more values that vary.
        rate: Of exceeding one bound, between 0 and 1.
    """
    ordered, count = sorted(values), len(values)
    spare = math.floor((count + 1) * rate * (1.0 + _ROUNDING))
    if spare >= 1:
        return Interval(ordered[min(spare, count) - 1], ordered[max(0, count - spare)])
    different, widening = len(set(values)), math.sqrt(count + 1)
    lower_t, upper_t = _t_size(rate, 2 * different - count - 1), _t_size(rate, different - 1)
    lower = fmean(values) - lower_t * widening * math.sqrt(mean_variance(values))
    return Interval(min(lower, ordered[0]), max(_upper_bound(values, upper_t * widening), ordered[-1]))


def _t_size(rate: float, degrees: int) -> float:
    return -t_quantile(rate, max(1, min(degrees, _MOST_DEGREES)))


def _upper_bound(values: Sequence[float], width: float) -> float:
    if min(values) <= 0.0:
        return fmean(values) + width * math.sqrt(mean_variance(values))
    logarithms = [math.log(value) for value in values]
    bound = fmean(logarithms) + width * math.sqrt(mean_variance(logarithms))
    return math.exp(min(bound, _LARGEST_LOGARITHM))


_LARGEST_LOGARITHM: Final = 700.0


def is_constant(values: Sequence[float]) -> bool:
    """Return whether values differ by no more than rounding."""
    return max(values) - min(values) <= _ROUNDING * max(abs(value) for value in values)


def change_rate(count: int) -> float:
    """Return the greatest chance that ``count`` equal values are followed by a different one.

    With p the chance of another value, p (1 - p)^n is greatest at p = 1 / (n + 1).
    """
    return (count / (count + 1)) ** count / (count + 1)
