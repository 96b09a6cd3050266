"""A test of two sets of runs that may be looked at after every run, as often as one likes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from evaluation.errors import ContractError
from evaluation.statistics.intervals import Interval

Verdict = Literal["undecided", "treatment_higher", "treatment_lower"]
_BISECTIONS = 60


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """What has been seen so far; ``observe`` gives the next one.

    Runs come in pairs (control, treatment), in the order of their arrival. If neither side is better, then of
    the pairs that differ the treatment is the higher one as often as the lower, and this is what is tested,
    so no bound, no variance and no distribution of the metric has to be known. The evidence is the likelihood
    of what was seen, averaged over all chances from 0 to 1, against that of chance 1/2:

    E_n = 2^n B(1 + higher, 1 + lower).

    Without a difference it is a martingale of mean 1 and passes 1/alpha ever, at any time, with probability
    alpha at the most (Ville's inequality); so a decision once made stands.

    Sources: Robbins (1970), Statistical methods related to the law of the iterated logarithm, Annals of
    Mathematical Statistics 41; Johari et al. (2022), Always valid inference, Operations Research 70.
    """

    alpha: float = 0.05
    higher: int = 0
    """Pairs in which the treatment's value was the higher one."""
    lower: int = 0
    ties: int = 0
    verdict: Verdict = "undecided"
    log_evidence: float = 0.0
    """Natural logarithm of E_n."""
    log_peak: float = 0.0
    """The greatest so far."""

    def __post_init__(self) -> None:
        """Refuse an alpha that bounds nothing."""
        if not 0.0 < self.alpha < 1.0:
            raise ContractError(f"alpha has to lie between 0 and 1, not {self.alpha}")

    @property
    def pairs(self) -> int:
        """How many pairs were seen."""
        return self.higher + self.lower + self.ties

    @property
    def p_value(self) -> float:
        """Valid at any time: at most alpha with probability alpha, however often it is looked at."""
        return math.exp(-self.log_peak)

    def observe(self, control: float, treatment: float) -> SequentialTest:
        """Take one more pair into account; the values are finite, in any unit."""
        if control == treatment:
            return replace(self, ties=self.ties + 1)
        up = treatment > control
        evidence = self.log_evidence + _gain(self.higher, self.lower, up)
        return replace(
            self,
            higher=self.higher + up,
            lower=self.lower + (not up),
            verdict=self._decided(evidence, up),
            log_evidence=evidence,
            log_peak=max(self.log_peak, evidence),
        )

    def interval(self) -> Interval:
        """Bound the chance that the treatment is the higher one of a pair that differs.

        All intervals ever looked at hold the true chance with probability 1 - alpha: the chances against
        which the evidence has not passed 1/alpha.
        """
        total = self.higher + self.lower
        if total == 0:
            return Interval(0.0, 1.0, 1.0 - self.alpha)
        best = self.higher / total
        low = _edge(0.0, best, self._rejects) if self.higher else 0.0
        high = _edge(1.0, best, self._rejects) if self.lower else 1.0
        return Interval(low, high, 1.0 - self.alpha)

    def _decided(self, evidence: float, up: bool) -> Verdict:
        if self.verdict != "undecided" or evidence < -math.log(self.alpha):
            return self.verdict
        return "treatment_higher" if up else "treatment_lower"

    def _rejects(self, chance: float) -> bool:
        mixture = math.lgamma(1 + self.higher) + math.lgamma(1 + self.lower)
        mixture -= math.lgamma(2 + self.higher + self.lower)
        likelihood = self.higher * math.log(chance) + self.lower * math.log1p(-chance)
        return mixture - likelihood >= -math.log(self.alpha)


def sequential_test(pairs: Iterable[tuple[float, float]], alpha: float = 0.05) -> SequentialTest:
    """Observe (control, treatment) pairs one after the other.

    Raises:
        ContractError: ``alpha`` is not between 0 and 1.
    """
    test = SequentialTest(alpha)
    for control, treatment in pairs:
        test = test.observe(control, treatment)
    return test


def _gain(higher: int, lower: int, up: bool) -> float:
    # Laplace's rule of succession against one half: the ratio of two successive E_n.
    return math.log(2.0 * ((higher if up else lower) + 1) / (higher + lower + 2))


def _edge(rejected: float, kept: float, rejects: Callable[[float], bool]) -> float:
    for _ in range(_BISECTIONS):
        middle = (rejected + kept) / 2
        rejected, kept = (middle, kept) if rejects(middle) else (rejected, middle)
    return rejected
