"""Summarises many results: what to look at first, and the figures and differences of compared arms."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isfinite
from statistics import fmean, median
from typing import Final, NamedTuple

from evaluation.cases.case_result import (
    CaseResult,
    Trials,
    group_trials,
    list_pass_rates,
)
from evaluation.findings import UNVERIFIED, join_names
from evaluation.nodes.prepare_evaluation import prepare_evaluation
from evaluation.plugins import Plugins
from evaluation.report.report_model import Action
from evaluation.sensitive.scanner import shorten
from evaluation.statistics import FEWEST, Interval, TrialRate, paired_difference
from evaluation.texts.normal import remove_unseen
from evaluation.values import JsonObject, as_list, as_object

_ALPHA: Final = 0.05


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
        changed: The cases whose shares differ, by name: the share of the control and of the treatment.
    """

    control: str
    treatment: str
    cases: int
    value: float
    interval: Interval
    p_value: float
    changed: Mapping[str, tuple[float, float]]

    @property
    def is_shown(self) -> bool:
        """Whether the difference is told apart from chance."""
        return self.p_value <= _ALPHA


def compare_arms(results: Iterable[CaseResult]) -> list[ArmDifference]:
    """Compare each pair of arms with a common case, in the order of their first results."""
    grouped = group_trials(results).items()
    means = {arm: {name: fmean(passed) for name, passed in trials.items()} for arm, trials in grouped}
    compared = [
        _compare(first, second, {name: (means[first][name], means[second][name]) for name in shared})
        for first, second in combinations(means, 2)
        if (shared := [name for name in means[first] if name in means[second]])
    ]
    return [replace(each, p_value=min(1.0, each.p_value * len(compared))) for each in compared]


def _compare(control: str, treatment: str, pairs: Mapping[str, tuple[float, float]]) -> ArmDifference:
    before, after = zip(*pairs.values(), strict=True)
    differences = [second - first for first, second in pairs.values()]
    low, high = paired_difference(before, after).interval
    return ArmDifference(
        control,
        treatment,
        len(pairs),
        fmean(differences),
        Interval(max(-1.0, low), min(1.0, high)),
        _compute_p_value(differences),
        {name: pair for name, pair in pairs.items() if pair[0] != pair[1]},
    )


def _compute_p_value(differences: Sequence[float]) -> float:
    """Return the probability of signs as unequal as these, if either sign is equally likely."""
    better, worse = sum(value > 0 for value in differences), sum(value < 0 for value in differences)
    count = better + worse
    tail = sum(math.comb(count, fewer) for fewer in range(min(better, worse) + 1))
    return min(1.0, math.ldexp(tail, 1 - count))


_PARTS: Final = ("input_tokens", "output_tokens")
"""Their sum is the number of all tokens, if the run does not state that."""
_UNKNOWN: Final = Interval(0.0, 1.0)


def summarize_arms(results: Iterable[CaseResult]) -> list[JsonObject]:
    """Return the figures of each arm, in the order of their first results.

    Returns:
        ``arm``; ``runs`` and ``cases``: counts; ``accepted`` and ``verified``: counts of runs; ``bases``:
        counts of what accepted runs rest on; ``known`` and ``wrong``: runs with a known answer, and wrong
        ones among them that were accepted; ``pass_k``: for each k the rate, its 95 % interval and the number
        of cases, of which the first one is the success; ``difference``: the success minus that of the first
        arm on their common cases, with its 95 % interval, and whether it is told apart from chance; the
        medians of latency (ms), tokens and cost (USD), None if no run has them.
    """
    kept = list(results)
    trials = group_trials(kept)
    pairs = [pair for pair in compare_arms(kept) if pair.control == next(iter(trials))]
    differences = {pair.treatment: _describe_difference(pair) for pair in pairs}
    return [{**_summarize_arm(arm, kept, trials[arm]), "difference": differences.get(arm)} for arm in trials]


def _summarize_arm(arm: str, results: Sequence[CaseResult], trials: Trials) -> JsonObject:
    members = [result for result in results if result.arm == arm]
    known = [result for result in members if result.correct is not None]
    return {
        "arm": arm,
        "runs": len(members),
        "cases": len(trials),
        "accepted": sum(result.accepted for result in members),
        "verified": sum(result.verified for result in members),
        "bases": Counter(result.basis for result in members if result.accepted),
        "known": len(known),
        "wrong": sum(result.accepted and not result.correct for result in known),
        "pass_k": [_describe_rate(k, rate) for k, rate in enumerate(list_pass_rates(trials), 1)],
        **{name: _find_median(members, name) for name in ("latency_ms", "total_tokens", "cost_usd")},
    }


def _describe_rate(k: int, rate: TrialRate) -> JsonObject:
    low, high = rate.interval or _UNKNOWN
    return {"k": k, "cases": rate.cases, "value": rate.value, "low": low, "high": high}


def _describe_difference(each: ArmDifference) -> JsonObject | None:
    if each.cases < FEWEST:
        return None
    low, high = each.interval
    return {"cases": each.cases, "value": each.value, "low": low, "high": high, "is_shown": each.is_shown}


def _find_median(members: Iterable[CaseResult], name: str) -> float | None:
    values = [value for each in members if (value := read_measure(each.agent_run, name)) is not None]
    return median(values) if values else None


def read_measure(run: JsonObject, name: str) -> float | None:
    """Return a measured quantity of a run or its metadata; None if it has none."""
    known = {**as_object(run.get("metadata")), **run}
    values = [known.get(name), *(known.get(part) for part in _PARTS if name == "total_tokens")]
    numbers = [value for value in values if isinstance(value, int | float) and isfinite(value)]
    return numbers[0] if known.get(name) in numbers else sum(numbers) if numbers else None


_LEVELS: Final = {"critical": "defect", "warning": "suspicion"}
_MOST: Final = 5


class Problem(NamedTuple):
    """A kind of problem: its rule or metric, its level, the number of its runs, and one example."""

    kind: str
    level: str
    runs: int
    example: str


def rank_problems(results: Sequence[CaseResult], most: int = _MOST) -> list[Problem]:
    """Rank the kinds of problems and notes by their level, then by the number of runs that have them."""
    examples: defaultdict[tuple[str, str], dict[tuple[str, str, int], str]] = defaultdict(dict)
    for result in results:
        for alert in map(as_object, as_list(result.report.get("alerts"))):
            level = _LEVELS.get(str(alert.get("severity")))
            if level:
                kind = str(alert["limit"] if alert["metric"] == "audit" else alert["metric"])
                examples[level, kind.removeprefix("defects.")].setdefault(result.key, str(alert["reason"]))
        for note in map(as_object, as_list(result.report.get("audit_findings"))):
            if note["category"] == "defects" and note["severity"] == "info":
                kind = str(note["id"]).removeprefix("defects.")
                examples["note", kind].setdefault(result.key, str(note["reason"]))
    order = ("defect", "suspicion", "note")
    ranked = sorted(examples.items(), key=lambda item: (order.index(item[0][0]), -len(item[1]), item[0][1]))
    return [
        Problem(kind, level, len(runs), next(iter(runs.values()))) for (level, kind), runs in ranked[:most]
    ]


def find_flaky(trials: Trials) -> dict[str, str]:
    """Return "2 of 3" for each case of which some runs pass and some do not, by its name."""
    return {
        name: f"{sum(outcomes)} of {len(outcomes)}"
        for name, outcomes in trials.items()
        if 0 < sum(outcomes) < len(outcomes)
    }


def list_unsolved(trials: Trials, whose: str = "") -> Iterator[str]:
    """Yield a sentence with the cases of which no run is a success, although there are several."""
    tried = {name: len(outcomes) for name, outcomes in trials.items() if not any(outcomes)}
    names = [name for name, count in tried.items() if count > 1]
    if names:
        runs, cases = sum(tried[name] for name in names), f"{len(names)} of {len(trials)} cases"
        yield f"{whose}0 of {runs} runs are accepted in {cases}: {join_names(names)}"


def describe_pass_rates(results: Sequence[CaseResult]) -> Iterator[str]:
    """Yield lines with pass^k of repeated runs, and the flaky cases; none without repeats."""
    for arm, trials in group_trials(results).items():
        if all(len(outcomes) == 1 for outcomes in trials.values()):
            continue
        label = f"{arm}: " if arm else ""
        yield from (f"{label}{_format_rate(k, rate)}" for k, rate in enumerate(list_pass_rates(trials), 1))
        yield from list_unsolved(trials, label)
        if flaky := find_flaky(trials):
            named = join_names(f"{name} ({count})" for name, count in flaky.items())
            yield f"{label}{len(flaky)} of {len(trials)} cases are flaky: {named}"


def _format_rate(k: int, rate: TrialRate) -> str:
    low, high = rate.interval or _UNKNOWN
    cases = "1 case" if rate.cases == 1 else f"{rate.cases} cases"
    return f"pass^{k} {rate.value:.4f} ({low:.4f} to {high:.4f}), {cases}"


def describe_counts(results: Sequence[CaseResult]) -> Iterator[str]:
    """Yields the number of verified runs, of those in which nothing was found, and of the refused ones."""
    runs = "1 run" if len(results) == 1 else f"{len(results)} runs"
    verified = [each.basis for each in results if each.verified]
    bases = f" ({_count(verified)})" if verified else ""
    yield f"{len(verified)} of {runs} verified{bases}"
    if clean := sum(each.accepted and each.is_clean for each in results):
        yield f"{clean} of {runs}: {UNVERIFIED}"
    if left := [each.status for each in results if not ((each.accepted and each.is_clean) or each.verified)]:
        yield f"{len(left)} of {runs} not: {_count(left)}"


def _count(words: Iterable[str]) -> str:
    return ", ".join(f"{count} {word}" for word, count in Counter(words).most_common())


def clean_line(text: str) -> str:
    """Returns a text on one line, without characters that a terminal obeys or hides."""
    return " ".join(clean_text(text).split())


def clean_text(text: str) -> str:
    """Returns a text without control characters and half surrogates, which XML 1.0 does not have."""
    return remove_unseen(text).encode("utf-8", "replace").decode("utf-8")


_MOST_CALLS: Final = 20
_LONGEST_CALL: Final = 70
_LONGEST_TEXT: Final = 400


def describe_failure(result: CaseResult) -> str:
    """Returns the status and the reasons, the calls of a result with its run, and the answer, in lines."""
    run = prepare_evaluation({"agent_run": result.agent_run}, Plugins())
    first, *others = map(_shorten_line, result.reasons or ("",))
    calls = [f"{number}. {_format_call(call)}" for number, call in enumerate(run["actual_trajectory"], 1)]
    more = [f"and {left} more"] if (left := len(calls) - _MOST_CALLS) > 0 else []
    answer = run["actual_output"]
    told = f"answer: {_shorten_line(answer)}" if answer else "no answer"
    lines = [*others, *calls[:_MOST_CALLS], *more, told]
    return "\n  ".join([f"{result.status}: {first}", *lines])


def _shorten_line(text: str, limit: int = _LONGEST_TEXT) -> str:
    return shorten(clean_line(text), limit)


def _format_call(call: Action) -> str:
    written = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in (call["args"] or {}).items()
    )
    error = f" -> {call['error']}" if call["error"] else ""
    return _shorten_line(f"{call['name']}({written}){error}", _LONGEST_CALL)
