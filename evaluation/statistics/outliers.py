"""Estimates the centre and the spread of earlier runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median, stdev
from typing import Final, Literal, NamedTuple

from evaluation.errors import ContractError

MAD_TO_SIGMA: Final = 0.6745
"""The median absolute deviation of a standard normal variable."""
MEAN_AD_TO_SIGMA: Final = math.sqrt(2.0 / math.pi)
"""The mean absolute deviation of a standard normal variable."""


class CenterSpread(NamedTuple):
    """The centre of values and how much they vary, in the scale of a standard deviation."""

    center: float
    spread: float
    """0 if all values are equal: then no distance from the centre has a score."""


def center_and_spread(values: Sequence[float], method: Literal["mad", "zscore"]) -> CenterSpread:
    """Estimate the centre and the spread of at least two values.

    ``zscore``: mean and sample standard deviation. ``mad``: median and MAD / 0.6745, so that
    (x - centre) / spread is the modified z-score 0.6745 (x - median) / MAD. If more than half of the values
    are equal, MAD is 0 and says nothing; then the mean absolute deviation about the median, divided by
    sqrt(2 / pi), takes its place.

    Source: Iglewicz and Hoaglin (1993), How to detect and handle outliers, ASQC. They advise a limit of 3.5.

    Raises:
        ContractError: There are fewer than two values.
    """
    if len(values) < 2:  # noqa: PLR2004 - one value has no spread
        raise ContractError(f"a spread needs two values, not {len(values)}")
    if min(values) == max(values):  # the deviations of equal values may be rounding errors instead of 0
        return CenterSpread(values[0], 0.0)
    if method == "zscore":
        return CenterSpread(fmean(values), stdev(values))
    center = median(values)
    distances = [abs(value - center) for value in values]
    mad = median(distances)
    return CenterSpread(center, mad / MAD_TO_SIGMA if mad > 0.0 else fmean(distances) / MEAN_AD_TO_SIGMA)
