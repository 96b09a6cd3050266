"""Computes rates, their confidence intervals, and the chance that several trials all succeed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from evaluation.errors import ContractError
from evaluation.statistics.quantiles import beta_quantile


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
    upper = upper_probability(confidence)
    if trials == 0:
        return Proportion(0, 0, None, None)
    failures = trials - successes
    low = beta_quantile(1.0 - upper, successes, failures + 1) if successes else 0.0
    high = beta_quantile(upper, successes + 1, failures) if failures else 1.0
    return Proportion(successes, trials, successes / trials, Interval(low, high))


def pass_hat_k(trials: Mapping[str, Sequence[bool]], k: int) -> float | None:
    """Estimate the chance that k trials of a task all succeed.

    The mean of C(successes, k) / C(trials, k) over the tasks with at least k trials; None if there is none.

    Source: Yao et al. (2024), tau-bench, arXiv 2406.12045, section 4.

    Args:
        trials: The outcomes of each task's trials.
        k: Number of trials, at least 1.
    """
    enough = [outcomes for outcomes in trials.values() if len(outcomes) >= k]
    chances = [math.comb(sum(outcomes), k) / math.comb(len(outcomes), k) for outcomes in enough]
    return fmean(chances) if chances else None
