"""Whether two samples come from one distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.statistics.effect import Effect, cliffs_delta
from evaluation.statistics.scipy_extra import scipy_stats


@dataclass(frozen=True, slots=True)
class TwoSample:
    """A p-value never comes without the size of the effect."""

    p_value: float
    effect: Effect


def two_sample(control: Sequence[float], treatment: Sequence[float], confidence: float = 0.95) -> TwoSample:
    """Test two independent samples by Mann and Whitney's U, two-sided.

    U and Cliff's delta are one quantity in two scales (delta = 2U / nm - 1), so the p-value and the effect
    never speak of different things. A change of spread alone is not seen.

    Source: Mann and Whitney (1947), Annals of Mathematical Statistics 18; by ``scipy.stats.mannwhitneyu``:
    exact for small samples without ties, else normal with corrections for ties and continuity.

    Args:
        control: Two finite values or more.
        treatment: Two finite values or more.
        confidence: Of the effect's interval.

    Raises:
        ContractError: A side has fewer than two values.
        MissingExtraError: SciPy is not installed.
    """
    effect = cliffs_delta(control, treatment, confidence)
    test = scipy_stats().mannwhitneyu(control, treatment, alternative="two-sided")
    return TwoSample(float(test.pvalue), effect)
