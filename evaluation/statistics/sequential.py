"""Compares two sets of runs by a test that stays valid if it is read after every run."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from evaluation.errors import ContractError

Verdict = Literal["undecided", "treatment_higher", "treatment_lower"]


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """The state of the test after some pairs; ``observe`` returns the next state.

    Runs arrive in pairs (control, treatment). If neither side is better, the treatment has the higher value
    in half of the pairs that differ. The test checks only this, so it needs no bound, variance or
    distribution of the metric. The evidence is the likelihood of the observed signs, averaged over all
    chances from 0 to 1, divided by their likelihood for chance 1/2:

    E_n = 2^n B(1 + higher, 1 + lower).

    Without a difference, E_n is a martingale of mean 1. It exceeds 1/alpha at any time with probability
    alpha at most (Ville's inequality), so a decision stands once it is made.

    Sources: Robbins (1970), Statistical methods related to the law of the iterated logarithm, Annals of
    Mathematical Statistics 41; Johari et al. (2022), Always valid inference, Operations Research 70.
    """

    alpha: float = 0.05
    higher: int = 0
    """Pairs in which the treatment has the higher value."""
    lower: int = 0
    ties: int = 0
    verdict: Verdict = "undecided"
    log_evidence: float = 0.0
    """Natural logarithm of E_n."""
    log_peak: float = 0.0
    """The maximum so far."""

    def __post_init__(self) -> None:
        """Check alpha."""
        if not 0.0 < self.alpha < 1.0:
            raise ContractError(f"alpha has to be between 0 and 1, not {self.alpha}")

    @property
    def pairs(self) -> int:
        """Number of observed pairs."""
        return self.higher + self.lower + self.ties

    @property
    def p_value(self) -> float:
        """Valid at any time: it is at most alpha with probability alpha, however often it is read."""
        return math.exp(-self.log_peak)

    def observe(self, control: float, treatment: float) -> SequentialTest:
        """Add one pair of finite values, in any unit."""
        if control == treatment:
            return replace(self, ties=self.ties + 1)
        is_higher = treatment > control
        evidence = self.log_evidence + _log_gain(self.higher, self.lower, is_higher)
        return replace(
            self,
            higher=self.higher + is_higher,
            lower=self.lower + (not is_higher),
            verdict=self._verdict_after(evidence, is_higher),
            log_evidence=evidence,
            log_peak=max(self.log_peak, evidence),
        )

    def _verdict_after(self, evidence: float, is_higher: bool) -> Verdict:
        # Logarithms, because E_n grows by up to a factor of 2 with each pair.
        if self.verdict != "undecided" or evidence < -math.log(self.alpha):
            return self.verdict
        return "treatment_higher" if is_higher else "treatment_lower"


def sequential_test(pairs: Iterable[tuple[float, float]], alpha: float = 0.05) -> SequentialTest:
    """Observe (control, treatment) pairs one by one.

    Raises:
        ContractError: ``alpha`` is not between 0 and 1.
    """
    test = SequentialTest(alpha)
    for control, treatment in pairs:
        test = test.observe(control, treatment)
    return test


def _log_gain(higher: int, lower: int, is_higher: bool) -> float:
    # The ratio of two successive E_n: Laplace's rule of succession against one half.
    return math.log(2.0 * ((higher if is_higher else lower) + 1) / (higher + lower + 2))
