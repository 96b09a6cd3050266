"""Computes the figures of each model or policy under comparison: success, pass^k, latency, tokens, cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import isfinite
from statistics import median
from typing import Final

from evaluation.evalset.case_result import CaseResult
from evaluation.evalset.pass_rates import PassRate, Trials, group_trials, list_pass_rates, read_verdict
from evaluation.reporting.arm_differences import ArmDifference, compare_arms
from evaluation.statistics.intervals import Interval
from evaluation.statistics.means import FEWEST
from evaluation.values import JsonObject, as_object

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
