"""Computes bootstrap intervals for differences of means."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Final, Literal

from evaluation.statistics.intervals import Interval
from evaluation.statistics.scipy_extra import import_scipy_stats

Method = Literal["BCa", "percentile"]
_RESAMPLES: Final = 9_999
_MIN_RESAMPLES: Final = 999
_MAX_DRAWS: Final = 50_000_000
"""Values drawn in total, about two seconds of work. Large samples are resampled less often."""
_BATCH_VALUES: Final = 1_000_000
"""Values in memory at a time."""
_LARGEST_FOR_BCA: Final = 2_000
"""The acceleration of BCa costs the square of the sample's size, and it vanishes as the sample grows."""


def difference_interval(
    control: Sequence[float], treatment: Sequence[float], *, confidence: float = 0.95, seed: int = 0
) -> tuple[Interval, Method]:
    """Compute the interval of a difference of means (or rates), treatment minus control.

    It is bias-corrected and accelerated (BCa) up to 2,000 values per side. With more values, or if a side has
    no spread, it is the percentile interval. The same seed and data give the same interval.

    Source: Efron (1987), Better bootstrap confidence intervals, JASA 82; by ``scipy.stats.bootstrap``.

    Args:
        control: Two or more values, each of a magnitude up to 1e150.
        treatment: As for ``control``.
        confidence: Between 0 and 1.
        seed: Of NumPy's default generator, 0 or more.

    Raises:
        MissingExtraError: SciPy is not installed.
    """
    is_small = max(len(control), len(treatment)) <= _LARGEST_FOR_BCA
    if is_small and min(control) < max(control) and min(treatment) < max(treatment):
        interval = _resample(control, treatment, confidence, seed, "BCa")
        # BCa gives NaN for a spread below the precision of the numbers.
        if not math.isnan(interval.low + interval.high):
            return interval, "BCa"
    return _resample(control, treatment, confidence, seed, "percentile"), "percentile"


def _resample(
    control: Sequence[float], treatment: Sequence[float], confidence: float, seed: int, method: Method
) -> Interval:
    stats, size = import_scipy_stats(), max(len(control), len(treatment))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy warns of degenerate data; the caller checks the result
        result = stats.bootstrap(
            (control, treatment),
            lambda before, after, axis: after.mean(axis=axis) - before.mean(axis=axis),
            n_resamples=max(_MIN_RESAMPLES, min(_RESAMPLES, _MAX_DRAWS // size)),
            batch=max(1, _BATCH_VALUES // size),
            confidence_level=confidence,
            method=method,
            rng=seed,
        )
    return Interval(*map(float, result.confidence_interval))
