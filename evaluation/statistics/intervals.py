"""Computes rates, their confidence intervals, and the quantiles that intervals need, without SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import Final, NamedTuple

from evaluation.errors import ContractError

_TINY: Final = 1e-300
_STEPS: Final = 100_000
"""Far above the terms that any shape up to 1e8 needs."""
_LOG_ODDS: Final = 745.0
"""exp(-745) is the smallest positive float."""


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


class Interval(NamedTuple):
    """From ``low`` to ``high``, in the unit of the estimate."""

    low: float
    high: float


def upper_probability(confidence: float) -> float:
    """Return the probability below the upper end of a two-sided interval: 0.975 for 0.95.

    Raises:
        ContractError: ``confidence`` is not between 0 and 1.
    """
    if not 0.0 < confidence < 1.0:
        raise ContractError(f"confidence has to be between 0 and 1, not {confidence}")
    return (1.0 + confidence) / 2.0


@dataclass(frozen=True, slots=True)
class Proportion:
    """``successes`` out of ``trials``. Without a trial there is no value and no interval."""

    successes: int
    trials: int
    value: float | None
    interval: Interval | None


def proportion(successes: int, trials: int, confidence: float = 0.95) -> Proportion:
    """Compute a rate with its exact interval, which holds its confidence for every rate and every count.

    Source: Clopper and Pearson (1934), The use of confidence or fiducial limits illustrated in the case of
    the binomial, Biometrika 26.

    Raises:
        ContractError: ``confidence`` is not between 0 and 1.
    """
    if trials == 0:
        upper_probability(confidence)
        return Proportion(0, 0, None, None)
    return Proportion(successes, trials, successes / trials, _exact_interval(successes, trials, confidence))


def _exact_interval(successes: float, trials: int, confidence: float) -> Interval:
    upper = upper_probability(confidence)
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


def pass_hat_k(trials: Mapping[str, Sequence[bool]], k: int, confidence: float = 0.95) -> TrialRate:
    """Estimate the chance that k trials of a case all succeed.

    The mean of C(successes, k) / C(trials, k) over the cases with at least k trials; the interval is that of
    ``pass_at_k``.

    Source: Yao et al. (2024), tau-bench, arXiv 2406.12045, section 4.

    Args:
        trials: The outcomes of each case's trials.
        k: Number of trials, at least 1.
        confidence: Between 0 and 1.

    Raises:
        ContractError: ``confidence`` is not between 0 and 1.
    """
    return _rate_trials(trials, k, confidence, lambda count, total: math.comb(count, k) / math.comb(total, k))


def pass_at_k(trials: Mapping[str, Sequence[bool]], k: int, confidence: float = 0.95) -> TrialRate:
    """Estimate the chance that at least one of k trials of a case succeeds; arguments as for ``pass_hat_k``.

    The mean of 1 - C(failures, k) / C(trials, k) over the cases with at least k trials. The interval is
    Clopper and Pearson's, with the sum of the cases' chances as successes, and speaks of further cases of the
    same kind. It is exact for chances of 0 and 1, and rather too long for others, which vary less.

    Source: Chen et al. (2021), Evaluating large language models trained on code, arXiv 2107.03374.

    Raises:
        ContractError: ``confidence`` is not between 0 and 1.
    """
    return _rate_trials(
        trials, k, confidence, lambda count, total: 1 - math.comb(total - count, k) / math.comb(total, k)
    )


def _rate_trials(
    trials: Mapping[str, Sequence[bool]], k: int, confidence: float, chance: Callable[[int, int], float]
) -> TrialRate:
    enough = [outcomes for outcomes in trials.values() if len(outcomes) >= k]
    if not enough:
        return TrialRate(0, None, None)
    chances = [chance(sum(outcomes), len(outcomes)) for outcomes in enough]
    return TrialRate(
        len(chances), fmean(chances), _exact_interval(math.fsum(chances), len(chances), confidence)
    )
