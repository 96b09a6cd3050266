"""The curves of recorded tasks over the bound on attempts, with intervals from resampled tasks. Pure."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise, product
from statistics import NormalDist, fmean
from typing import Final, NamedTuple, TypeAlias

from evaluation.statistics import Interval, resampled_interval
from orchestrator.errors import ConfigurationError
from orchestrator.study.trial_outcomes import COSTS, Terms, Trial, TriedAttempt


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate with its 95 % interval from resampled tasks."""

    value: float
    low: float
    high: float

    def __format__(self, form: str) -> str:
        """Formats the value and its interval, each in this form."""
        return f"{self.value:{form}} ({self.low:{form}} to {self.high:{form}})"

    @property
    def is_told(self) -> bool:
        """Whether it is told apart from 0."""
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True, slots=True)
class Changes:
    """What the next attempts made of refused ones that are known to be right or wrong, in expected numbers.

    Attributes:
        wrong: Wrong attempts that were repeated.
        corrected: Those whose next attempt was right.
        right: Right attempts that were refused, and repeated.
        spoiled: Those whose next attempt was wrong.
    """

    wrong: float
    corrected: float
    right: float
    spoiled: float

    @property
    def sentence(self) -> str:
        """The shares in words, without those of answers that were never repeated; empty if there are none."""
        wrong, right = ("corrects", "wrong answers"), ("spoils", "right ones")
        rows = ((wrong, self.corrected, self.wrong), (right, self.spoiled, self.right))
        return " and ".join(
            f"{verb} {100 * part / whole:.0f} of 100 {answers}"
            for (verb, answers), part, whole in rows
            if whole
        )


@dataclass(frozen=True, slots=True)
class FollowUp:
    """How often an attempt of one kind succeeds after a failure of one kind.

    Attributes:
        kind: Kind of the failure.
        use: "feedback", "resample" or another strategy; "another run" is the first attempt of another run.
        tasks: Tasks with such attempts.
        success: The share that is accepted, and not known to be wrong.
    """

    kind: str
    use: str
    tasks: int
    success: Estimate

    @property
    def sentence(self) -> str:
        """All of it in words."""
        return (
            f"after a failure of {self.kind}: {self.use} succeeds in {self.success:.0%}; tasks: {self.tasks}"
        )


class Outcome(NamedTuple):
    """What a bound on the attempts gives for one task, as means over its trials; NaN if it is unknown."""

    accepted: float
    right: float
    attempts: float
    tokens: float
    seconds: float
    cost_usd: float

    @property
    def wrong(self) -> float:
        """Share of trials that end with a wrong acceptance."""
        return self.accepted - self.right

    def price(self, terms: Terms) -> float:
        """Returns value x right - loss x wrong - cost."""
        return terms.value * self.right - terms.loss * self.wrong - self.find_cost(terms)

    def find_cost(self, terms: Terms) -> float:
        """Returns the cost, in the unit of the terms."""
        return self.cost_usd if terms.in_usd else terms.cost_per_attempt * self.attempts

    def correct(self, rates: Rates | None) -> Outcome:
        """Returns the shares that the known rates of errors of a judge leave, without a label.

        Of m attempts, g of them right, a judge accepts a = (1 - refusals) g + acceptances (m - g).
        """
        if rates is None:
            return self
        false_accepts, false_rejects = rates
        made_right = (self.accepted - false_accepts * self.attempts) / (1.0 - false_accepts - false_rejects)
        return self._replace(right=(1.0 - false_rejects) * made_right)


Rates: TypeAlias = tuple[float, float]
"""A judge's share of wrong outputs that it accepts, and of right ones that it refuses."""


def measure_samples(attempts: Sequence[TriedAttempt], most: int) -> Outcome:
    """Returns the outcome of at most ``most`` independent attempts: the mean over all orders of the recorded.

    With N of n attempts refused, no one of the first k is accepted in C(N, k) / C(n, k) of the orders.
    """
    refused = [each for each in attempts if not each.accepted]
    accepted = [each for each in attempts if each.accepted]
    misses = [math.comb(len(refused), k) / math.comb(len(attempts), k) for k in range(most + 1)]
    share, made = 1.0 - misses[most], sum(misses[:most])
    costs = (
        (made - share) * _mean(refused, name) + share * _mean(accepted, name) for name in COSTS
    )  # one accepted attempt, and of the refused ones each equally often
    return Outcome(share, share * _mean(accepted, "right"), made, *costs)


def measure_sequence(trial: Trial, most: int) -> Outcome:
    """Returns the outcome of a run with at most ``most`` attempts at each step: as recorded, to there."""
    made: list[TriedAttempt] = []
    for step in trial.steps:
        made += step[:most]
        if not made[-1].accepted:
            break
    accepted = float(made[-1].accepted)
    costs = (len(made) * _mean(made, name) for name in COSTS)
    return Outcome(accepted, accepted and _mean(made[-1:], "right"), len(made), *costs)


def _mean(attempts: Sequence[TriedAttempt], name: str) -> float:
    """Returns a mean; 0 without an attempt, NaN if one is unknown."""
    values = [getattr(each, name) for each in attempts]
    return math.nan if None in values else fmean(values) if values else 0.0


Pair: TypeAlias = tuple[float, bool | None, bool | None]
"""The chance of a repeated attempt; whether the refused attempt is right, and the one after it."""


def pair_samples(attempts: Sequence[TriedAttempt], number: int) -> Iterator[Pair]:
    """Yields the pairs that the attempts before and at ``number`` may be, over all orders."""
    kinds = Counter((each.accepted, each.right) for each in attempts)
    refused = sum(not each.accepted for each in attempts)
    for before, after in product(kinds, repeat=2):
        pairs = 0 if before[0] else kinds[before] * (kinds[after] - (before == after))
        if pairs and len(attempts) >= number:
            orders = math.perm(refused - 1 - (not after[0]), number - 2)
            yield pairs * orders / math.perm(len(attempts), number), before[1], after[1]


def pair_sequence(trial: Trial, number: int) -> Iterator[Pair]:
    """Yields attempts ``number - 1`` and ``number`` of each step that has them."""
    steps = (step for step in trial.steps if len(step) >= number)
    return ((1.0, step[number - 2].right, step[number - 1].right) for step in steps)


MOST_ATTEMPTS: Final = 20
"""The figures of more attempts are not computed."""
_OTHER_RUN: Final = "another run"
RECORD: Final = "record at least two trials of each task (--repeat 2), or runs with retries"
_POWER: Final = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)
"""Standard errors that a difference has to have, to be told in 80 of 100 studies."""
_MOST_TASKS: Final = 100_000
"""More tasks than these are not asked for."""
Curve: TypeAlias = Sequence[Outcome]
"""The outcomes of one task under the bounds 1, 2, ..., as far as they were recorded."""
SHARE: Final = Interval(0.0, 1.0)


@dataclass(frozen=True)
class Study:
    """The curves of all tasks."""

    tasks: Mapping[str, Sequence[Trial]]
    terms: Terms
    rates: Sequence[Rates | None]

    @cached_property
    def attempts(self) -> list[TriedAttempt]:
        """All attempts."""
        return [each for trials in self.tasks.values() for trial in trials for each in trial.attempts]

    @cached_property
    def in_sequence(self) -> bool:
        """Whether an attempt follows another one in a trial."""
        return len(self.attempts) > sum(map(len, self.tasks.values()))

    @cached_property
    def most(self) -> int:
        """The most attempts that are recorded for each run, or for one task if they are independent."""
        most = max(map(len, self.tasks.values()), default=0)
        if self.in_sequence:
            runs = list(chain.from_iterable(self.tasks.values()))
            steps = [(run, step) for run in runs for step in run.steps]
            ends = [len(step) for run, step in steps if not (step[-1].accepted or run.stopped)]
            most = min(ends, default=max(len(step) for _, step in steps))
        most = min(most, MOST_ATTEMPTS)
        if most < 2:  # noqa: PLR2004 - one attempt tells nothing of a second one
            raise ConfigurationError(f"there is one attempt a task, so nothing to estimate; {RECORD}")
        return most

    @cached_property
    def readings(self) -> list[list[Curve]]:
        """The curves by each of the rates; the first are the estimates."""
        curves = [self._measure_task(trials) for trials in self.tasks.values()]
        return [[[each.correct(rates) for each in curve] for curve in curves] for rates in self.rates]

    def _measure_task(self, trials: Sequence[Trial]) -> Curve:
        if self.in_sequence:
            runs = ([measure_sequence(trial, k) for trial in trials] for k in range(1, self.most + 1))
            return [Outcome(*map(fmean, zip(*each, strict=True))) for each in runs]
        attempts = [trial.attempts[0] for trial in trials]
        return [measure_samples(attempts, k) for k in range(1, min(len(attempts), self.most) + 1)]

    def select(self, k: int) -> list[Outcome]:
        """Returns the outcomes of the tasks that have k attempts."""
        return [curve[k - 1] for curve in self.readings[0] if len(curve) >= k]

    def estimate(self, k: int, read: Callable[[Curve], float], span: Interval = SHARE) -> Estimate | None:
        """Returns the mean of a figure of the tasks that have k attempts; None if it is not known."""
        readings = [[read(curve) for curve in curves if len(curve) >= k] for curves in self.readings]
        if any(map(math.isnan, readings[0])):
            return None
        bounds = [resampled_interval(values, span) for values in readings]
        ends = (fmean(readings[0]), min(each.low for each in bounds), max(each.high for each in bounds))
        return Estimate(*(min(max(end, span.low), span.high) for end in ends))

    def estimate_value(self, k: int, fewer: int = 0) -> Estimate | None:
        """Returns the value of k attempts, minus that of fewer ones on the same tasks if they are given."""
        terms = self.terms
        cost = max(outcome.find_cost(terms) for curve in self.readings[0] for outcome in curve)
        most = terms.value + bool(fewer) * (terms.loss + cost)
        least = -terms.loss - cost - bool(fewer) * terms.value

        def read(curve: Curve) -> float:
            return curve[k - 1].price(terms) - (curve[fewer - 1].price(terms) if fewer else 0.0)

        return self.estimate(k, read, Interval(least, most))

    def compare_later(self, fewer: int) -> dict[int, Estimate]:
        """Returns by how much each larger number of attempts is better than this one."""
        found = ((k, self.estimate_value(k, fewer)) for k in range(fewer + 1, self.most + 1))
        return {k: gain for k, gain in found if gain is not None}

    def count_more(self, k: int, gain: Estimate) -> float:
        """Returns how many more tasks would tell the gain of k attempts; infinite if none would."""
        if self.rates != [None] or not gain.value:
            return math.inf  # tasks do not narrow the figures of a judge
        ratio = _POWER * (gain.high - gain.low) / (2 * 1.96 * gain.value)
        more = len(self.select(k)) * (ratio**2 - 1.0)
        return max(1, math.ceil(more)) if more <= _MOST_TASKS else math.inf

    def list_labels(self) -> dict[str, list[bool]]:
        """Returns whether each trial is right, by task; empty if that is not known of all."""
        if any(each.right is None for each in self.attempts):
            return {}
        return {
            task: [each.right is True for trial in trials for each in trial.attempts]
            for task, trials in self.tasks.items()
        }

    def count_changes(self, number: int) -> Changes:
        """Counts what the attempts with a number, from 2, made of refused ones."""
        counts: defaultdict[tuple[bool | None, bool | None], float] = defaultdict(float)
        for trials in self.tasks.values():
            pairs = chain.from_iterable(pair_sequence(trial, number) for trial in trials)
            samples = pair_samples([trial.attempts[0] for trial in trials], number)
            for chance, before, after in pairs if self.in_sequence else samples:
                counts[before, after] += chance
        corrected, spoiled = counts[False, True], counts[True, False]
        return Changes(corrected + counts[False, False], corrected, spoiled + counts[True, True], spoiled)

    def list_follow_ups(self) -> list[FollowUp]:
        """Returns how often each kind of attempt succeeds after each kind of failure."""
        found: defaultdict[tuple[str, str], dict[str, list[float]]] = defaultdict(dict)
        for task, trials in self.tasks.items():
            steps = [step for trial in trials for step in trial.steps]
            pairs = [
                (before, after.use, _succeeds(after)) for step in steps for before, after in pairwise(step)
            ]
            # A refused first attempt is no success, so that all successes are those of other runs.
            firsts = [trial.attempts[0] for trial in trials]
            share = sum(map(_succeeds, firsts)) / max(1, len(firsts) - 1)
            pairs += [(each, _OTHER_RUN, share) for each in firsts if len(firsts) > 1 and not each.accepted]
            for before, use, success in pairs:
                for kind in before.kinds or ("other",):
                    found[kind, use].setdefault(task, []).append(success)
        return [
            FollowUp(kind, use, len(shares), Estimate(fmean(shares), *resampled_interval(shares, SHARE)))
            for (kind, use), tasks in sorted(found.items())
            if (shares := [fmean(each) for each in tasks.values()])
        ]


def _succeeds(attempt: TriedAttempt) -> float:
    return float(attempt.accepted and attempt.right is not False)
