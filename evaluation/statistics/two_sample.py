"""Tests two samples: an adjustment for many tests, and a test that may be read after every pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal


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
