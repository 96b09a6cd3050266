"""Compares two samples: a test, an effect size, and a test that may be read after every run."""

from __future__ import annotations

import importlib
import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean
from types import ModuleType
from typing import Final, Literal

from evaluation.errors import MissingExtraError

_SMALL: Final = 8
"""SciPy takes the normal approximation for ties, which does not hold its level below this size."""


def cliffs_delta(control: Sequence[float], treatment: Sequence[float]) -> float:
    """Estimate the chance that a treatment value is higher than a control value, minus the chance of lower.

    Source: Cliff (1993), Dominance statistics, Psychological Bulletin 114.

    Args:
        control: One or more values.
        treatment: As for ``control``.
    """
    # Bisection in the sorted other side: n log m instead of n times m comparisons.
    others = sorted(control)
    signs = (bisect_left(others, value) + bisect_right(others, value) - len(others) for value in treatment)
    return fmean(signs) / len(others)


def two_sample_p_value(control: Sequence[float], treatment: Sequence[float], seed: int = 0) -> float:
    """Test two independent samples by Mann and Whitney's U, two-sided.

    U and Cliff's delta are the same quantity in two scales (delta = 2U / nm - 1), so the p-value and the
    effect always agree. The test does not detect a change of spread alone.

    Source: Mann and Whitney (1947), Annals of Mathematical Statistics 18; by ``scipy.stats.mannwhitneyu``:
    exact for small samples, by permutation if they have ties, else normal with corrections for ties and
    continuity.

    Args:
        control: One or more values.
        treatment: As for ``control``.
        seed: Of the permutations, 0 or more.

    Raises:
        MissingExtraError: SciPy is not installed.
    """
    stats = _import_scipy()
    has_ties = len({*control, *treatment}) < len(control) + len(treatment)
    is_small = min(len(control), len(treatment)) <= _SMALL
    method = stats.PermutationMethod(rng=seed) if has_ties and is_small else "auto"
    return float(stats.mannwhitneyu(control, treatment, method=method).pvalue)


def adjust_p_values(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for the number of tests.

    Of the results with an adjusted p-value up to alpha, a share of at most alpha is expected to be false.

    Source: Benjamini and Hochberg (1995), Controlling the false discovery rate, JRSS B 57.

    Args:
        p_values: Each from 0 to 1.
    """
    adjusted, least = [1.0] * len(p_values), 1.0
    ranked = sorted(enumerate(p_values, 1), key=lambda pair: pair[1], reverse=True)
    for rank, (place, value) in zip(range(len(ranked), 0, -1), ranked, strict=True):
        least = min(least, value * len(ranked) / rank)
        adjusted[place - 1] = least
    return adjusted


def _import_scipy() -> ModuleType:
    # On first use: SciPy takes about a second, and most runs do not need it.
    try:
        return importlib.import_module("scipy.stats")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "this statistic needs SciPy, which is not installed; run: pip install scipy"
        ) from error


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """The result of the test after some pairs."""

    verdict: Literal["undecided", "treatment_higher", "treatment_lower"]
    p_value: float
    """Valid at any time: it is at most alpha with probability alpha, however often it is read."""
    pairs: int
    ties: int


def sequential_test(pairs: Sequence[tuple[float, float]], alpha: float = 0.05) -> SequentialTest:
    """Test pairs of finite values (control, treatment) in the order in which they arrived.

    If neither side is better, the treatment has the higher value in half of the pairs that differ. The test
    checks only this, so it needs no bound, variance or distribution of the metric. The evidence is the
    likelihood of the observed signs, averaged over all chances from 0 to 1, divided by their likelihood for
    chance 1/2:

    E_n = 2^n B(1 + higher, 1 + lower).

    Without a difference, E_n is a martingale of mean 1. It exceeds 1/alpha at any time with probability
    alpha at most (Ville's inequality), so a decision stands once it is made.

    Sources: Robbins (1970), Statistical methods related to the law of the iterated logarithm, Annals of
    Mathematical Statistics 41; Johari et al. (2022), Always valid inference, Operations Research 70.
    """
    signs = [treatment > control for control, treatment in pairs if treatment != control]
    evidence = [_log_evidence(higher, count - higher) for count, higher in enumerate(accumulate(signs), 1)]
    deciding = (sign for sign, value in zip(signs, evidence, strict=True) if value >= -math.log(alpha))
    is_higher = next(deciding, None)
    return SequentialTest(
        "undecided" if is_higher is None else "treatment_higher" if is_higher else "treatment_lower",
        math.exp(-max([0.0, *evidence])),
        pairs=len(pairs),
        ties=len(pairs) - len(signs),
    )


def _log_evidence(higher: int, lower: int) -> float:
    # Logarithms, because E_n grows by up to a factor of 2 with each pair.
    beta = math.lgamma(1 + higher) + math.lgamma(1 + lower) - math.lgamma(2 + higher + lower)
    return (higher + lower) * math.log(2.0) + beta
