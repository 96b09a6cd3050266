"""Computes intervals for differences between two values of the same item: paired samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean
from typing import Final, NamedTuple

from evaluation.errors import ContractError
from evaluation.statistics.intervals import Interval, upper_probability
from evaluation.statistics.means import FEWEST, is_rate, mean_variance
from evaluation.statistics.quantiles import t_quantile

_ADDED: Final = 0.5
"""Added to each of the four cells of a paired table of successes and failures."""


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
        return PairedDifference(fmean(differences), _rate_interval(differences, upper))
    mean = fmean(differences)
    half = t_quantile(upper, len(differences) - 1) * math.sqrt(mean_variance(differences))
    return PairedDifference(mean, Interval(mean - half, mean + half))


def _rate_interval(differences: Sequence[float], upper: float) -> Interval:
    better = sum(value > 0 for value in differences) + _ADDED
    worse = sum(value < 0 for value in differences) + _ADDED
    count = len(differences) + 4 * _ADDED
    mean = (better - worse) / count
    error = math.sqrt((better + worse) / count - mean * mean) / math.sqrt(count)
    half = NormalDist().inv_cdf(upper) * error
    return Interval(max(-1.0, mean - half), min(1.0, mean + half))
