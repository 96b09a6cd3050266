"""Many tests at once."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.statistics.scipy_extra import scipy_stats


def adjusted(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that, of those at most alpha, a share of alpha is expected to be false.

    Source: Benjamini and Hochberg (1995), Controlling the false discovery rate, JRSS B 57; by
    ``scipy.stats.false_discovery_control``.

    Args:
        p_values: Each from 0 to 1.

    Raises:
        MissingExtraError: SciPy is not installed.
    """
    if not p_values:
        return []
    return [float(value) for value in scipy_stats().false_discovery_control(p_values)]
