"""Computes the figures of each model or policy under comparison: success, pass^k, latency, tokens, cost."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import isfinite
from statistics import NormalDist, fmean, median
from typing import Final

from evaluation.cases.case_result import (
    CaseResult,
    PassRate,
    Trials,
    group_trials,
    list_pass_rates,
    read_verdict,
)
from evaluation.statistics import FEWEST, Interval, paired_difference
from evaluation.values import JsonObject, as_object


def adjust_p_values(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for the number of tests.

    Of the results with an adjusted p-value up to alpha, a share of at most alpha is expected to be false.

    Source: Benjamini and Hochberg (1995), Controlling the false discovery rate, JRSS B 57.

    Args:
        p_values: Each from 0 to 1.
    """
    adjusted, least = [1.0] * len(p_values), 1.0
    ranked = sorted(enumerate(p_values, 1), key=lambda pair: pair[1], reverse=True)
    for rank, (place, value) in zip(range(len(ranked), 0, -1), ranked, strict=True):
        least = min(least, value * len(ranked) / rank)
        adjusted[place - 1] = least
    return adjusted


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


_MEASURES: Final = ("latency_ms", "total_tokens", "cost_usd")
_UNKNOWN: Final = Interval(0.0, 1.0)


def summarize_arms(results: Iterable[CaseResult]) -> list[JsonObject]:
    """Return the figures of each arm, in the order of their first results.

    Returns:
        ``arm``; ``runs`` and ``cases``: counts; ``bases``: counts of what accepted runs rest on; ``known``
        and ``wrong``: runs with a known answer, and wrong ones among them that were accepted; ``pass_k``: for
        each k the rate, its 95 % interval and the number of cases; ``difference``: the success minus that of
        the first arm on their common cases, with its 95 % interval, and whether it is told apart from chance;
        the medians of latency (ms), tokens and
        cost (USD), None if no run has them.
    """
    arms: defaultdict[str, list[CaseResult]] = defaultdict(list)
    for result in results:
        arms[result.arm].append(result)
    pairs = compare_arms(chain.from_iterable(arms.values()))
    differences = {
        pair.treatment: _describe_difference(pair) for pair in pairs if pair.control == next(iter(arms))
    }
    return [
        {
            **_summarize_arm(arm, members, group_trials(members, read_verdict)[arm]),
            "difference": differences.get(arm),
        }
        for arm, members in arms.items()
    ]


def _summarize_arm(arm: str, members: Sequence[CaseResult], trials: Trials) -> JsonObject:
    known = [result for result in members if result.correct is not None]
    return {
        "arm": arm,
        "runs": len(members),
        "cases": len(trials),
        "bases": Counter(result.basis for result in members if result.accepted),
        "known": len(known),
        "wrong": sum(result.accepted and not result.correct for result in known),
        "pass_k": [_describe_rate(rate) for rate in list_pass_rates(trials)],
        **{name: _find_median(members, name) for name in _MEASURES},
    }


def _describe_rate(rate: PassRate) -> JsonObject:
    share = rate.all_of_them
    low, high = share.interval or _UNKNOWN
    return {"k": rate.k, "cases": share.cases, "value": share.value, "low": low, "high": high}


def _describe_difference(each: ArmDifference) -> JsonObject | None:
    if each.cases < FEWEST:
        return None
    low, high = each.interval
    return {"cases": each.cases, "value": each.value, "low": low, "high": high, "is_shown": each.is_shown}


def _find_median(members: Iterable[CaseResult], name: str) -> float | None:
    values = [value for each in members if (value := _read_measure(each.agent_run, name)) is not None]
    return median(values) if values else None


def _read_measure(run: JsonObject, name: str) -> float | None:
    value = _read_number({**as_object(run.get("metadata")), **run}, name)
    if value is not None or name != "total_tokens":
        return value
    parts = [_read_measure(run, part) for part in ("input_tokens", "output_tokens")]
    return sum(part or 0 for part in parts) if any(part is not None for part in parts) else None


def _read_number(values: Mapping[str, object], name: str) -> float | None:
    value = values.get(name)
    return value if isinstance(value, int | float) and isfinite(value) else None
