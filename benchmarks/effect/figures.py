"""The figures of one arm from its records, with intervals of 95 % that know that prompts are repeated."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from benchmarks.effect.records import Record
from evaluation.statistics import Interval, beta_quantile, mean_variance, proportion, t_quantile

_CONFIDENCE: Final = 0.95
_UPPER: Final = (1.0 + _CONFIDENCE) / 2.0


@dataclass(frozen=True, slots=True)
class Rate:
    """``successes`` of ``trials``. Without a trial there is no value and no interval."""

    successes: int
    trials: int
    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean of one number for each run. There is no interval for fewer than two prompts."""

    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one arm.

    Attributes:
        runs: Number of answers.
        prompts: Number of different prompts.
        claimed: Claims that the output is right; None if the arm claims nothing.
        precision: Right outputs among the claimed ones.
        recall: Claimed outputs among the right ones.
        strict: Right outputs among all.
        calls: Calls of the model.
        tokens: Tokens of prompts and replies.
        seconds: Wall time.
        cut: Replies that ended at the token limit, among all calls.
        errors: Number of runs that raised, by class; they count as not claimed and not right.
        code: Versions of the repository that were measured.
    """

    runs: int
    prompts: int
    claimed: Rate | None
    precision: Rate
    recall: Rate
    strict: Rate
    calls: Mean
    tokens: Mean
    seconds: Mean
    cut: Rate
    errors: Mapping[str, int]
    code: tuple[str, ...]


def compute_figures(records: Sequence[Record], basis: str | None = None) -> Figures:
    """Compute the figures of the records of one arm; with ``basis``, only claims that rest on it count."""

    def is_claim(record: Record) -> bool:
        return bool(record.claimed) and basis in (None, record.basis)

    claimed = [record for record in records if is_claim(record)]
    right = [record for record in records if record.right]
    claims = any(record.claimed is not None for record in records)
    calls = [(record.prompt, n < record.cut) for record in records for n in range(record.calls)]
    return Figures(
        runs=len(records),
        prompts=len({record.prompt for record in records}),
        claimed=clustered_rate((record.prompt, is_claim(record)) for record in records) if claims else None,
        precision=clustered_rate((record.prompt, record.right) for record in claimed),
        recall=clustered_rate((record.prompt, is_claim(record)) for record in right),
        strict=clustered_rate((record.prompt, record.right) for record in records),
        calls=clustered_mean(records, lambda record: record.calls),
        tokens=clustered_mean(records, lambda record: record.tokens),
        seconds=clustered_mean(records, lambda record: record.seconds),
        cut=clustered_rate(calls),
        errors=Counter(record.error for record in records if record.error is not None),
        code=tuple(sorted({record.code for record in records})),
    )


def clustered_rate(outcomes: Iterable[tuple[int, bool]]) -> Rate:
    """Compute a rate of outcomes, each with its prompt; the outcomes of one prompt are alike.

    The interval is Clopper and Pearson's with the effective number of trials: the trials divided by how much
    the prompts inflate the variance of the rate (Taylor's approximation for a ratio), and with the quantiles
    of Student's t for the number of prompts. It is the exact interval if each prompt occurs once. If all
    outcomes are the same, no variance can be estimated, and each prompt counts as one trial. A bootstrap over
    prompts would give no width there.

    Source: Korn and Graubard (1998), Confidence intervals for proportions with small expected number of
    positive counts estimated from survey data, Survey Methodology 24.
    """
    clusters: dict[int, list[bool]] = defaultdict(list)
    for prompt, outcome in outcomes:
        clusters[prompt].append(outcome)
    trials = sum(map(len, clusters.values()))
    successes = sum(map(sum, clusters.values()))
    exact = proportion(successes, trials, _CONFIDENCE)
    if trials == len(clusters) or exact.value is None:
        return Rate(successes, trials, exact.value, exact.interval)
    size = _effective_size(list(clusters.values()), exact.value)
    return Rate(successes, trials, exact.value, _exact_interval(exact.value, size))


def _effective_size(clusters: Sequence[Sequence[bool]], rate: float) -> float:
    """Return how many independent trials say as much; from the number of prompts to the number of trials."""
    prompts, trials = len(clusters), sum(map(len, clusters))
    if prompts == 1 or rate in (0.0, 1.0):
        return float(prompts)
    deviations = math.fsum((sum(cluster) - rate * len(cluster)) ** 2 for cluster in clusters)
    variance = prompts / (prompts - 1) * deviations / trials**2
    size = min(rate * (1.0 - rate) / variance, trials) if variance > 0.0 else trials
    student = (t_quantile(_UPPER, trials - 1) / t_quantile(_UPPER, prompts - 1)) ** 2
    return max(1.0, size * student)


def _exact_interval(rate: float, size: float) -> Interval:
    successes, failures = rate * size, (1.0 - rate) * size
    low = beta_quantile(1.0 - _UPPER, successes, failures + 1.0) if successes else 0.0
    high = beta_quantile(_UPPER, successes + 1.0, failures) if failures else 1.0
    return Interval(low, high)


def clustered_mean(records: Sequence[Record], read: Callable[[Record], float | None]) -> Mean:
    """Compute the mean over prompts of each prompt's mean, with Student's interval.

    Records without the number are left out.
    """
    clusters: dict[int, list[float]] = defaultdict(list)
    for record in records:
        if (value := read(record)) is not None:
            clusters[record.prompt].append(float(value))
    return _student_mean([fmean(values) for values in clusters.values()])


def strict_difference(records: Sequence[Record], others: Sequence[Record]) -> Mean:
    """Compute the difference of two arms' rates of right outputs, over the prompts that both answered.

    There is no interval if the difference is the same for all prompts.
    """
    ours, theirs = _rates_of_prompts(records), _rates_of_prompts(others)
    differences = [ours[prompt] - theirs[prompt] for prompt in ours.keys() & theirs.keys()]
    mean = _student_mean(differences)
    return mean if len({*differences}) > 1 else Mean(mean.value, None)


def _rates_of_prompts(records: Sequence[Record]) -> dict[int, float]:
    prompts = {record.prompt for record in records}
    return {key: fmean(record.right for record in records if record.prompt == key) for key in prompts}


def _student_mean(values: Sequence[float]) -> Mean:
    if len(values) < 2:
        return Mean(values[0] if values else None, None)
    mean = fmean(values)
    half = t_quantile(_UPPER, len(values) - 1) * math.sqrt(mean_variance(values))
    return Mean(mean, Interval(mean - half, mean + half))
