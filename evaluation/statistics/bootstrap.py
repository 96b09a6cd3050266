"""Estimates a difference of means with a bootstrap interval."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, Literal

from evaluation.errors import ContractError
from evaluation.statistics.intervals import Interval, two_sided_quantile
from evaluation.statistics.scipy_extra import import_scientific

Method = Literal["BCa", "percentile"]
RESAMPLES: Final = 9_999
_MIN_RESAMPLES: Final = 999
_MAX_DRAWS: Final = 50_000_000
"""Values drawn in total, about two seconds of work. Large samples are resampled less often."""
_BATCH_VALUES: Final = 1_000_000
"""Values in memory at a time."""
_LARGEST_FOR_BCA: Final = 2_000
"""The acceleration of BCa costs the square of the sample's size, and it vanishes as the sample grows."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of means, treatment minus control, in the metric's unit."""

    value: float
    interval: Interval
    method: Method
    resamples: int


def mean_difference(
    control: Sequence[float], treatment: Sequence[float], *, confidence: float = 0.95, seed: int = 0
) -> Difference:
    """Estimate the difference of two independent means (or rates, of values 0 and 1).

    The interval is bias-corrected and accelerated (BCa) up to 2,000 values per side. With more values, or if
    a side has no spread, it is the percentile interval. The same seed and data give the same interval.

    Source: Efron (1987), Better bootstrap confidence intervals, JASA 82; by ``scipy.stats.bootstrap``.

    Args:
        control: Two or more values, each of a magnitude up to 1e150.
        treatment: As for ``control``.
        confidence: Between 0 and 1.
        seed: Of NumPy's default generator, 0 or more.

    Raises:
        ContractError: A side has fewer than two values, or ``confidence`` is not between 0 and 1.
        MissingExtraError: NumPy or SciPy is not installed.
    """
    two_sided_quantile(confidence)
    if min(len(control), len(treatment)) < 2:  # noqa: PLR2004 - one value has no spread
        raise ContractError("a bootstrap interval needs two values on each side")
    size = max(len(control), len(treatment))
    has_spread = min(control) < max(control) and min(treatment) < max(treatment)
    method: Method = "BCa" if has_spread and size <= _LARGEST_FOR_BCA else "percentile"
    resamples = max(_MIN_RESAMPLES, min(RESAMPLES, _MAX_DRAWS // size))
    interval = _interval((control, treatment), confidence, seed, method, resamples)
    if math.isnan(interval.low + interval.high):  # BCa, for a spread below the precision of the numbers
        method = "percentile"
        interval = _interval((control, treatment), confidence, seed, method, resamples)
    return Difference(fmean(treatment) - fmean(control), interval, method, resamples)


def _interval(
    sides: tuple[Sequence[float], Sequence[float]],
    confidence: float,
    seed: int,
    method: Method,
    resamples: int,
) -> Interval:
    np = import_scientific("numpy")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy warns of degenerate data; the caller checks the result
        bounds = (
            import_scientific("scipy.stats")
            .bootstrap(
                [np.asarray(side, dtype=float) for side in sides],
                lambda before, after, axis: after.mean(axis=axis) - before.mean(axis=axis),
                n_resamples=resamples,
                batch=max(1, _BATCH_VALUES // max(map(len, sides))),
                vectorized=True,
                confidence_level=confidence,
                method=method,
                rng=np.random.default_rng(seed),
            )
            .confidence_interval
        )
    return Interval(float(bounds.low), float(bounds.high), confidence)
