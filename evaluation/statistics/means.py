"""Computes intervals for differences of means and of rates, and bounds for a further value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean
from typing import Final, Literal, NamedTuple

from evaluation.errors import ContractError
from evaluation.statistics.intervals import Interval, t_quantile, upper_probability

Method = Literal["Welch", "Agresti-Caffo"]
FEWEST: Final = 2
"""Values that each side needs: one value has no spread."""
_RATE: Final = frozenset({0.0, 1.0})
_ADDED: Final = 0.5
"""Added to each of the four cells of a paired table of successes and failures."""


def difference_interval(
    control: Sequence[float], treatment: Sequence[float], confidence: float = 0.95
) -> tuple[Interval, Method] | None:
    """Compute the interval of a difference of means (or rates), treatment minus control.

    If every value is 0 or 1, the interval is Agresti and Caffo's for a difference of rates, which needs no
    spread. Otherwise it is d ± t sqrt(s_1^2 / n_1 + s_2^2 / n_2). Both take the quantile of Student's t with
    the degrees of freedom of the smaller side: Welch's estimate of them gives too short an interval if a
    small side varies more. ``benchmarks/nominal_rates.py`` measures the coverage.

    Sources: Welch (1938), The significance of the difference between two means when the population variances
    are unequal, Biometrika 29; Agresti and Caffo (2000), Simple and effective confidence intervals for
    proportions and differences of proportions, The American Statistician 54.

    Args:
        control: Two or more values, each of a magnitude up to 1e150.
        treatment: As for ``control``.
        confidence: Between 0 and 1.

    Returns:
        None if neither side varies, because then no spread can be estimated.

    Raises:
        ContractError: ``confidence`` is not between 0 and 1.
    """
    upper = upper_probability(confidence)
    if is_rate(control, treatment):
        return _rate_interval(control, treatment, upper), "Agresti-Caffo"
    error = math.sqrt(mean_variance(control) + mean_variance(treatment))
    difference = fmean(treatment) - fmean(control)
    half = t_quantile(upper, min(len(control), len(treatment)) - 1) * error
    return (Interval(difference - half, difference + half), "Welch") if error > 0.0 else None


def is_rate(control: Sequence[float], treatment: Sequence[float]) -> bool:
    """Return whether every value is 0 or 1."""
    return _RATE.issuperset(control) and _RATE.issuperset(treatment)


def mean_variance(values: Sequence[float]) -> float:
    """Estimate the variance of the mean of two or more values."""
    if min(values) == max(values):  # the deviations of equal values may be rounding errors instead of 0
        return 0.0
    mean, count = fmean(values), len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (count - 1) / count


def _rate_interval(control: Sequence[float], treatment: Sequence[float], upper: float) -> Interval:
    # One success and one failure more on each side.
    (before, n), (after, m) = ((sum(side) + 1.0, len(side) + 2) for side in (control, treatment))
    before, after = before / n, after / m
    error = math.sqrt(before * (1.0 - before) / n + after * (1.0 - after) / m)
    half = t_quantile(upper, min(n, m) - 1) * error
    return Interval(max(-1.0, after - before - half), min(1.0, after - before + half))


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
    if is_rate(control, treatment):
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
