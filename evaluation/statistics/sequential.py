"""Compares two sets of runs by a test that stays valid if it is read after every run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from evaluation.errors import ContractError
from evaluation.statistics.intervals import Interval

Verdict = Literal["undecided", "treatment_higher", "treatment_lower"]
_BISECTIONS = 60  # more halvings than the bits of a number between 0 and 1


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
        up = treatment > control
        evidence = self.log_evidence + _log_gain(self.higher, self.lower, up)
        return replace(
            self,
            higher=self.higher + up,
            lower=self.lower + (not up),
            verdict=self._verdict_after(evidence, up),
            log_evidence=evidence,
            log_peak=max(self.log_peak, evidence),
        )

    def interval(self) -> Interval:
        """Bound the chance that the treatment has the higher value in a pair that differs.

        The interval holds the chances against which the evidence has not exceeded 1/alpha. With probability
        1 - alpha, all intervals that are ever computed hold the true chance.
        """
        total = self.higher + self.lower
        if total == 0:
            return Interval(0.0, 1.0, 1.0 - self.alpha)
        best = self.higher / total
        low = _find_edge(0.0, best, self._rejects) if self.higher else 0.0
        high = _find_edge(1.0, best, self._rejects) if self.lower else 1.0
        return Interval(low, high, 1.0 - self.alpha)

    def _verdict_after(self, evidence: float, up: bool) -> Verdict:
        if self.verdict != "undecided" or evidence < -math.log(self.alpha):
            return self.verdict
        return "treatment_higher" if up else "treatment_lower"

    def _rejects(self, chance: float) -> bool:
        mixture = math.lgamma(1 + self.higher) + math.lgamma(1 + self.lower)
        mixture -= math.lgamma(2 + self.higher + self.lower)
        likelihood = self.higher * math.log(chance) + self.lower * math.log1p(-chance)
        return mixture - likelihood >= -math.log(self.alpha)


def sequential_test(pairs: Iterable[tuple[float, float]], alpha: float = 0.05) -> SequentialTest:
    """Observe (control, treatment) pairs one by one.

    Raises:
        ContractError: ``alpha`` is not between 0 and 1.
    """
    test = SequentialTest(alpha)
    for control, treatment in pairs:
        test = test.observe(control, treatment)
    return test


def _log_gain(higher: int, lower: int, up: bool) -> float:
    # The ratio of two successive E_n: Laplace's rule of succession against one half.
    return math.log(2.0 * ((higher if up else lower) + 1) / (higher + lower + 2))


def _find_edge(rejected: float, accepted: float, rejects: Callable[[float], bool]) -> float:
    for _ in range(_BISECTIONS):
        middle = (rejected + accepted) / 2
        rejected, accepted = (middle, accepted) if rejects(middle) else (rejected, middle)
    return rejected
