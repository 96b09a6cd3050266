"""What is usual, from earlier runs: a centre and a spread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from evaluation.errors import ContractError

MAD_TO_SIGMA: Final = 0.6745
"""The median absolute deviation of a standard normal variable."""
MEAN_AD_TO_SIGMA: Final = math.sqrt(2.0 / math.pi)
"""Its mean absolute deviation."""


@dataclass(frozen=True, slots=True)
class CenterSpread:
    """Where values lie, and by how much they vary (in the scale of a standard deviation)."""

    center: float
    spread: float
    """0 where all values are equal: then no distance from the centre has a score."""


def center_and_spread(values: Sequence[float], method: Literal["mad", "zscore"]) -> CenterSpread:
    """Give the centre and the spread of at least two values.

    ``zscore``: mean and sample standard deviation. ``mad``: median and MAD / 0.6745, so that
    (x - centre) / spread is the modified z-score 0.6745 (x - median) / MAD. Where more than half of the
    values are equal, MAD is 0 and says nothing; then the mean absolute deviation about the median, divided by
    sqrt(2 / pi), takes its place.

    Source: Iglewicz and Hoaglin (1993), How to detect and handle outliers, ASQC, who advise 3.5 as the limit.

    Raises:
        ContractError: Fewer than two values.
        OverflowError: The values are too large to be averaged.
    """
    if len(values) < 2:  # noqa: PLR2004 - one value has no spread
        raise ContractError(f"a spread needs two values, not {len(values)}")
    if min(values) == max(values):
        return CenterSpread(values[0], 0.0)
    return _standard(values) if method == "zscore" else _robust(values)


def _standard(values: Sequence[float]) -> CenterSpread:
    center = math.fsum(values) / len(values)
    squares = math.fsum((value - center) ** 2 for value in values)
    return CenterSpread(center, math.sqrt(squares / (len(values) - 1)))


def _robust(values: Sequence[float]) -> CenterSpread:
    center = median(values)
    distances = [abs(value - center) for value in values]
    deviation = median(distances)
    if deviation > 0.0:
        return CenterSpread(center, deviation / MAD_TO_SIGMA)
    return CenterSpread(center, math.fsum(distances) / len(distances) / MEAN_AD_TO_SIGMA)


def median(values: Sequence[float]) -> float:
    """Give the middle of at least one value, or the mean of the middle two."""
    ordered = sorted(values)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return low / 2 + high / 2 if low != high else low
