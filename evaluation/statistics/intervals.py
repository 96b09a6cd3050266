"""An interval with its confidence, and the normal quantile that several of them need."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

from evaluation.errors import ContractError


@dataclass(frozen=True, slots=True)
class Interval:
    """From ``low`` to ``high``, in the unit of the estimate; ``confidence`` between 0 and 1."""

    low: float
    high: float
    confidence: float = 0.95


def two_sided_quantile(confidence: float) -> float:
    """Give the standard normal quantile of a two-sided interval: 1.96 for 0.95.

    Raises:
        ContractError: ``confidence`` is not between 0 and 1.
    """
    if not 0.0 < confidence < 1.0:
        raise ContractError(f"confidence has to lie between 0 and 1, not {confidence}")
    return NormalDist().inv_cdf((1.0 + confidence) / 2.0)
