"""Estimates the centre and the spread of earlier runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median, stdev
from typing import Final, Literal

_MAD_TO_SIGMA: Final = 0.6745
"""The median absolute deviation of a standard normal variable."""
_MEAN_AD_TO_SIGMA: Final = math.sqrt(2.0 / math.pi)
"""The mean absolute deviation of a standard normal variable."""


def center_and_spread(values: Sequence[float], method: Literal["mad", "zscore"]) -> tuple[float, float]:
    """Estimate the centre and the spread of at least two values.

    ``zscore``: mean and sample standard deviation. ``mad``: median and MAD / 0.6745, so that
    (x - centre) / spread is the modified z-score 0.6745 (x - median) / MAD. If more than half of the values
    are equal, MAD is 0 and says nothing; then the mean absolute deviation about the median, divided by
    sqrt(2 / pi), takes its place.

    Source: Iglewicz and Hoaglin (1993), How to detect and handle outliers, ASQC. They advise a limit of 3.5.
    """
    if min(values) == max(values):  # the deviations of equal values may be rounding errors instead of 0
        return values[0], 0.0
    if method == "zscore":
        return fmean(values), stdev(values)
    center = median(values)
    distances = [abs(value - center) for value in values]
    mad = median(distances)
    return center, mad / _MAD_TO_SIGMA if mad > 0.0 else fmean(distances) / _MEAN_AD_TO_SIGMA
