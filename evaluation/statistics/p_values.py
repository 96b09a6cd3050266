"""Adjusts p-values for the number of tests."""

from __future__ import annotations

from collections.abc import Sequence


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
