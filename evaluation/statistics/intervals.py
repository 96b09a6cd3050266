"""Computes rates and their confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

from evaluation.errors import ContractError


class Interval(NamedTuple):
    """From ``low`` to ``high``, in the unit of the estimate."""

    low: float
    high: float


def two_sided_quantile(confidence: float) -> float:
    """Return the standard normal quantile of a two-sided interval: 1.96 for 0.95.

    Raises:
        ContractError: ``confidence`` is not between 0 and 1.
    """
    if not 0.0 < confidence < 1.0:
        raise ContractError(f"confidence has to be between 0 and 1, not {confidence}")
    return NormalDist().inv_cdf((1.0 + confidence) / 2.0)


@dataclass(frozen=True, slots=True)
class Proportion:
    """``successes`` out of ``trials``. Without a trial there is no value and no interval."""

    successes: int
    trials: int
    value: float | None
    interval: Interval | None


def proportion(successes: int, trials: int, confidence: float = 0.95) -> Proportion:
    """Compute a rate with Wilson's score interval.

    With p = successes / trials, n = trials and z the normal quantile:
    (p + z^2/2n ± z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n).

    Source: Wilson (1927), Probable inference, the law of succession, and statistical inference, JASA 22.

    Raises:
        ContractError: ``confidence`` is not between 0 and 1.
    """
    z = two_sided_quantile(confidence)
    if trials == 0:
        return Proportion(0, 0, None, None)
    rate, square = successes / trials, z * z / trials
    middle = (rate + square / 2) / (1 + square)
    half = z * math.sqrt(rate * (1 - rate) / trials + square / (4 * trials)) / (1 + square)
    # Rounding can lead slightly out of 0 to 1.
    interval = Interval(max(0.0, middle - half), min(1.0, middle + half))
    return Proportion(successes, trials, rate, interval)
