"""Quantiles of Student's t and of the beta distribution, for probabilities between 0 and 1, without SciPy."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

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
