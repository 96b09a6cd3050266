"""Tells whether two models or policies differ on the same cases, and how many cases would show it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import NormalDist, fmean
from typing import Final

from evaluation.evalset.case_result import CaseResult
from evaluation.evalset.pass_rates import read_verdict
from evaluation.statistics.intervals import Interval
from evaluation.statistics.means import paired_difference
from evaluation.statistics.p_values import adjust_p_values

_ALPHA: Final = 0.05
_POWER: Final = 0.8


@dataclass(frozen=True, slots=True)
class ArmDifference:
    """The success of one arm minus the success of another on their common cases.

    Attributes:
        control: The arm that is subtracted.
        treatment: The other one.
        cases: Number of common cases.
        value: Mean of the differences of the shares of runs that pass.
        interval: Its 95 % interval.
        p_value: Of the exact sign test over the cases that differ, adjusted for the number of pairs of arms.
        needed: About how many cases would show this difference in four of five comparisons; None if none
            was seen.
        changed: The cases whose shares differ, by name: the share of the control and of the treatment.
    """

    control: str
    treatment: str
    cases: int
    value: float
    interval: Interval
    p_value: float
    needed: int | None
    changed: Mapping[str, tuple[float, float]]

    @property
    def is_shown(self) -> bool:
        """Whether the difference is told apart from chance."""
        return self.p_value <= _ALPHA


def compare_arms(results: Iterable[CaseResult]) -> list[ArmDifference]:
    """Compare each pair of arms with a common case, in the order of their first results.

    Sources: the sign test; Connor (1987), Sample size for testing differences in proportions for the
    paired-sample design, Biometrics 43, for the number of cases.
    """
    shares: defaultdict[str, defaultdict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        shares[result.arm][result.name].append(read_verdict(result))
    means = {arm: {name: fmean(each) for name, each in cases.items()} for arm, cases in shares.items()}
    compared = [
        _compare(control, treatment, pairs)
        for control, treatment in combinations(means, 2)
        if (pairs := _pair(means[control], means[treatment]))
    ]
    adjusted = adjust_p_values([each.p_value for each in compared])
    return [replace(each, p_value=p_value) for each, p_value in zip(compared, adjusted, strict=True)]


def _pair(control: Mapping[str, float], treatment: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    return {name: (control[name], treatment[name]) for name in control if name in treatment}


def _compare(control: str, treatment: str, pairs: Mapping[str, tuple[float, float]]) -> ArmDifference:
    before, after = [pair[0] for pair in pairs.values()], [pair[1] for pair in pairs.values()]
    differences = [second - first for first, second in pairs.values()]
    return ArmDifference(
        control,
        treatment,
        len(pairs),
        fmean(differences),
        paired_difference(before, after).interval,
        _compute_p_value(differences),
        _count_needed(differences),
        {name: pair for name, pair in pairs.items() if pair[0] != pair[1]},
    )


def _compute_p_value(differences: Sequence[float]) -> float:
    """Return the probability of signs as unequal as these, if either sign is equally likely."""
    better, worse = sum(value > 0 for value in differences), sum(value < 0 for value in differences)
    count = better + worse
    tail = sum(math.comb(count, fewer) for fewer in range(min(better, worse) + 1))
    return min(1.0, math.ldexp(tail, 1 - count))


def _count_needed(differences: Sequence[float]) -> int | None:
    mean, square = abs(fmean(differences)), fmean(value * value for value in differences)
    if mean == 0.0:
        return None
    error, power = NormalDist().inv_cdf(1 - _ALPHA / 2), NormalDist().inv_cdf(_POWER)
    root = error * math.sqrt(square) + power * math.sqrt(max(0.0, square - mean * mean))
    return math.ceil((root / mean) ** 2)
