"""Computes rates, their confidence intervals, and the chance that several trials all succeed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
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
