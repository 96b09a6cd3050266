"""Intervals from the data themselves, by drawing from them again and again."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from evaluation.errors import ContractError
from evaluation.statistics.intervals import Interval, two_sided_quantile
from evaluation.statistics.scipy_extra import import_numpy, import_scipy_stats

Method = Literal["BCa", "percentile"]
RESAMPLES: Final = 9_999
_FEWEST_RESAMPLES: Final = 999
_DRAWS: Final = 50_000_000
"""Values drawn at the most, some two seconds of work; large samples are resampled less often."""
_AT_ONCE: Final = 1_000_000
"""Values held in memory at a time."""
_LARGEST_FOR_BCA: Final = 2_000
"""The acceleration of BCa costs the square of the sample's size, and vanishes as it grows."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of means, treatment less control, in the metric's unit."""

    value: float
    interval: Interval | None
    """None where the sums are too large for the generator's numbers."""
    method: Method
    resamples: int


def mean_difference(
    control: Sequence[float], treatment: Sequence[float], *, confidence: float = 0.95, seed: int = 0
) -> Difference:
    """Give the difference of two independent means (or rates, of values 0 and 1) with a bootstrap interval.

    Bias-corrected and accelerated up to 2,000 values a side; beyond, and where a side has no spread, by
    percentiles. The same seed and data give the same interval.

    Source: Efron (1987), Better bootstrap confidence intervals, JASA 82; by ``scipy.stats.bootstrap``.

    Args:
        control: Two finite values or more.
        treatment: Two finite values or more.
        confidence: Between 0 and 1.
        seed: Of NumPy's default generator, 0 or more.

    Raises:
        ContractError: A side has fewer than two values, or ``confidence`` is not between 0 and 1.
        OverflowError: The values are too large to be averaged.
        MissingExtraError: NumPy or SciPy is not installed.
    """
    two_sided_quantile(confidence)
    if min(len(control), len(treatment)) < 2:  # noqa: PLR2004 - one value has no spread
        raise ContractError("a bootstrap interval needs two values on each side")
    value = mean(treatment) - mean(control)  # finite: each is half the greatest number at most
    size = max(len(control), len(treatment))
    spread = min(control) < max(control) and min(treatment) < max(treatment)
    method: Method = "BCa" if spread and size <= _LARGEST_FOR_BCA else "percentile"
    resamples = max(_FEWEST_RESAMPLES, min(RESAMPLES, _DRAWS // size))
    interval = _interval((control, treatment), confidence, seed, method, resamples)
    if interval is None and method == "BCa":  # a spread below the numbers' precision
        method = "percentile"
        interval = _interval((control, treatment), confidence, seed, method, resamples)
    return Difference(value, interval, method, resamples)


def mean(values: Sequence[float]) -> float:
    """Average at least one value, exactly rounded."""
    return math.fsum(values) / len(values)


def _interval(
    sides: tuple[Sequence[float], Sequence[float]],
    confidence: float,
    seed: int,
    method: Method,
    resamples: int,
) -> Interval | None:
    np = import_numpy()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # degenerate data is answered by the value
        found = (
            import_scipy_stats()
            .bootstrap(
                [np.asarray(side, dtype=float) for side in sides],
                lambda before, after, axis: after.mean(axis=axis) - before.mean(axis=axis),
                n_resamples=resamples,
                batch=max(1, _AT_ONCE // max(map(len, sides))),
                vectorized=True,
                confidence_level=confidence,
                method=method,
                rng=np.random.default_rng(seed),
            )
            .confidence_interval
        )
    low, high = float(found.low), float(found.high)
    return Interval(low, high, confidence) if math.isfinite(low) and math.isfinite(high) else None
