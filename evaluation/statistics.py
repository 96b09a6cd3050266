"""Computes rates, differences of means, and their intervals, without SciPy."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from statistics import NormalDist, fmean
from typing import Final, NamedTuple

_TINY: Final = 1e-300
_STEPS: Final = 100_000
"""Far above the terms that any shape up to 1e8 needs."""
_LOG_ODDS: Final = 709.0
"""exp(709) is nearly the largest float."""


@lru_cache(maxsize=1024)
def t_quantile(probability: float, degrees: int) -> float:
    """Return the value that Student's t with at least one degree of freedom does not exceed."""
    # t^2 = degrees (1 - x) / x, where x is beta-distributed; the odds keep both tails precise.
    tail = 2.0 * min(probability, 1.0 - probability)
    size = math.sqrt(degrees) * math.exp(-_beta_log_odds(tail, degrees / 2.0, 0.5) / 2.0)
    return math.copysign(size, probability - 0.5)


def beta_quantile(probability: float, a: float, b: float) -> float:
    """Return the value that a beta variable with the positive shapes ``a`` and ``b`` does not exceed."""
    return 1.0 / (1.0 + math.exp(-_beta_log_odds(probability, a, b)))


def _beta_log_odds(probability: float, a: float, b: float) -> float:
    """Find log(x / (1 - x)) of the quantile x by bisection."""
    low, high = -_LOG_ODDS, _LOG_ODDS
    middle = 0.0
    while low < middle < high:
        is_below = _beta_cdf(middle, a, b) < probability
        low, high = (middle, high) if is_below else (low, middle)
        middle = (low + high) / 2.0
    return middle


def _beta_cdf(log_odds: float, a: float, b: float) -> float:
    """Compute the regularized incomplete beta function at x, given as log(x / (1 - x))."""
    x, rest = 1.0 / (1.0 + math.exp(-log_odds)), 1.0 / (1.0 + math.exp(log_odds))
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(scale + a * math.log(max(x, _TINY)) + b * math.log(max(rest, _TINY)))
    # The continued fraction converges fast on this side of the mean only.
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _continued_fraction(x, a, b) / a
    return 1.0 - front * _continued_fraction(rest, b, a) / b


def _continued_fraction(x: float, a: float, b: float) -> float:
    """Evaluate the fraction of the incomplete beta function by Lentz's method.

    Source: Abramowitz and Stegun (1964), Handbook of mathematical functions, 26.5.8.
    """
    numerator, inverse = 1.0, 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    value = inverse
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            inverse = 1.0 / _away_from_zero(1.0 + term * inverse)
            numerator = _away_from_zero(1.0 + term / numerator)
            value *= numerator * inverse
        if abs(numerator * inverse - 1.0) < 1e-15:  # noqa: PLR2004 - the precision of a float
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


_CONFIDENCE: Final = 0.95
"""Of every interval whose caller does not choose another one."""
_UPPER: Final = (1.0 + _CONFIDENCE) / 2.0
"""Probability below the upper end of such an interval."""
_DEVIATIONS: Final = NormalDist().inv_cdf(_UPPER)
"""Standard deviations from the mean of a normal distribution to that end."""


class Interval(NamedTuple):
    """From ``low`` to ``high``, in the unit of the estimate."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Proportion:
    """``successes`` out of ``trials``. Without a trial there is no value and no interval."""

    successes: int
    trials: int
    value: float | None
    interval: Interval | None


def proportion(successes: int, trials: int, confidence: float = _CONFIDENCE) -> Proportion:
    """Compute a rate with its exact interval, which holds its confidence for every rate and every count.

    Source: Clopper and Pearson (1934), The use of confidence or fiducial limits illustrated in the case of
    the binomial, Biometrika 26.

    Args:
        successes: At most ``trials``.
        trials: Number of trials.
        confidence: Between 0 and 1.
    """
    if trials == 0:
        return Proportion(0, 0, None, None)
    return Proportion(successes, trials, successes / trials, _exact_interval(successes, trials, confidence))


def _exact_interval(successes: float, trials: int, confidence: float) -> Interval:
    # Half of the error is on each side.
    upper = (1.0 + confidence) / 2.0
    failures = trials - successes
    low = beta_quantile(1.0 - upper, successes, failures + 1) if successes > 0 else 0.0
    high = beta_quantile(upper, successes + 1, failures) if failures > 0 else 1.0
    return Interval(low, high)


class TrialRate(NamedTuple):
    """The mean over ``cases`` of the chance that trials of a case succeed, and its interval.

    Without a case there is no value and no interval.
    """

    cases: int
    value: float | None
    interval: Interval | None


def pass_hat_k(trials: Mapping[str, Sequence[bool]], k: int) -> TrialRate:
    """Estimate the chance that k trials of a case all succeed.

    The mean of C(successes, k) / C(trials, k) over the cases with at least k trials. The interval is Clopper
    and Pearson's, with the sum of the cases' chances as successes, and speaks of further cases of the same
    kind. It is exact for chances of 0 and 1, and rather too long for others, which vary less.

    Source: Yao et al. (2024), tau-bench, arXiv 2406.12045, section 4.

    Args:
        trials: The outcomes of each case's trials.
        k: Number of trials, at least 1.
    """
    enough = [outcomes for outcomes in trials.values() if len(outcomes) >= k]
    if not enough:
        return TrialRate(0, None, None)
    chances = [math.comb(sum(outcomes), k) / math.comb(len(outcomes), k) for outcomes in enough]
    interval = _exact_interval(math.fsum(chances), len(chances), _CONFIDENCE)
    return TrialRate(len(chances), fmean(chances), interval)


def pass_at_k(trials: Mapping[str, Sequence[bool]], k: int) -> float | None:
    """Estimate the chance that at least one of k trials of a case succeeds; None if no case has k trials.

    The mean of 1 - C(failures, k) / C(trials, k) over the cases with at least k trials.

    Source: Chen et al. (2021), Evaluating large language models trained on code, arXiv 2107.03374.

    Args:
        trials: The outcomes of each case's trials.
        k: Number of trials, at least 1.
    """
    failed = {name: [not outcome for outcome in outcomes] for name, outcomes in trials.items()}
    value = pass_hat_k(failed, k).value
    return None if value is None else 1.0 - value


_SAMPLES: Final = 1000
_MANY: Final = 5000
"""Samples of more values have the same percentiles as the normal distribution."""


def resampled_interval(values: Sequence[float], span: Interval) -> Interval:
    """Compute the 95 % interval of the mean of independent values from samples of them with replacement.

    The percentiles are moved outwards, because samples vary less than the values do. Equal values do not vary
    in any sample: then the bounds allow for as many values at either end of the span as an exact interval
    allows for. Each call draws the same samples.

    Sources: Efron and Tibshirani (1993), An introduction to the bootstrap, chapter 13; Hesterberg (2015),
    What teachers should know about the bootstrap, The American Statistician 69.

    Args:
        values: Finite values, such as one for each task.
        span: The lowest and the highest possible value.

    Returns:
        The whole span if there are fewer than two values.
    """
    count = len(values)
    if count < FEWEST:
        return span
    if max(values) - min(values) <= _ROUNDING * max(map(abs, values)):  # equal but for rounding
        rare = 1.0 - (0.5 * (1.0 - _CONFIDENCE)) ** (1.0 / count)
        return Interval(*(values[0] + rare * (end - values[0]) for end in span))
    if count > _MANY:
        half = _DEVIATIONS * math.sqrt(mean_variance(values))
        return Interval(fmean(values) - half, fmean(values) + half)
    # The variance of a sample is that of the values times (n - 1) / n.
    upper = _DEVIATIONS * math.sqrt(count / (count - 1))
    means = sorted(sum(draw(values)) / count for draw in _draw_samples(count))
    spare = math.floor(NormalDist().cdf(-upper) * _SAMPLES)
    return Interval(means[spare], means[-1 - spare])


@lru_cache(maxsize=2)
def _draw_samples(count: int) -> list[Callable[[Sequence[float]], Sequence[float]]]:
    drawn = random.Random(count)  # noqa: S311 - no secret
    return [itemgetter(*drawn.choices(range(count), k=count)) for _ in range(_SAMPLES)]


FEWEST: Final = 2
"""Pairs that an interval needs: one value has no spread."""
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


def paired_difference(control: Sequence[float], treatment: Sequence[float]) -> PairedDifference:
    """Compute the mean of treatment minus control over items that have both values.

    If every value is 0 or 1, the interval is Agresti and Min's: Wald's with 0.5 added to each cell of the
    paired table, which holds its confidence also if no pair differs. Otherwise it is d ± t s / sqrt(n).

    Sources: Agresti and Min (2005), Simple improved confidence intervals for comparing matched proportions,
    Statistics in Medicine 24; Student (1908), The probable error of a mean, Biometrika 6.

    Args:
        control: A finite value for each item.
        treatment: The values of the same items in the same order.

    Returns:
        With an infinite interval if there are fewer than two items.
    """
    if len(control) < FEWEST:
        return PairedDifference(math.nan, Interval(-math.inf, math.inf))
    differences = [after - before for before, after in zip(control, treatment, strict=True)]
    if {0.0, 1.0}.issuperset((*control, *treatment)):
        return PairedDifference(fmean(differences), _paired_rate_interval(differences))
    mean = fmean(differences)
    half = t_quantile(_UPPER, len(differences) - 1) * math.sqrt(mean_variance(differences))
    return PairedDifference(mean, Interval(mean - half, mean + half))


def _paired_rate_interval(differences: Sequence[float]) -> Interval:
    better = sum(value > 0 for value in differences) + _ADDED
    worse = sum(value < 0 for value in differences) + _ADDED
    count = len(differences) + 4 * _ADDED
    mean = (better - worse) / count
    half = _DEVIATIONS * (math.sqrt((better + worse) / count - mean * mean) / math.sqrt(count))
    return Interval(max(-1.0, mean - half), min(1.0, mean + half))


_ROUNDING: Final = 1e-12
"""Relative difference of values that count as equal."""
