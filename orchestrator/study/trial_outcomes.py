"""Recorded attempts at tasks, and what a bound on the attempts gives for one task. Pure functions."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, product
from operator import attrgetter
from statistics import fmean
from typing import Annotated, Any, Final, NamedTuple, TypeAlias, TypeVar

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from orchestrator.runtime.budget import Flag, SettingsModel

COSTS: Final = ("tokens", "seconds", "cost_usd")
_Amount: TypeAlias = Annotated[float, Field(ge=0, le=1e15, description="a number from 0 to 1e+15")]
T = TypeVar("T")
_STRICT: Final = ConfigDict(strict=True)


@dataclass(frozen=True, slots=True, config=_STRICT)
class TriedAttempt:
    """One recorded attempt at a step.

    Attributes:
        accepted: Whether our verdict accepts it, which ends the step.
        right: Whether it is right; None if nobody knows.
        verdict: What an acceptance rests on, as the ``basis`` of a result says it.
        tokens: Its tokens with those of its judge; None if they are unknown.
        seconds: The seconds of its model calls; None if they are unknown.
        cost_usd: Its cost in US dollars; None if it is unknown.
        step: Place of its step in the run.
        use: How it was made after another one: by a strategy of the retry policy, such as "feedback".
        kinds: The kinds of failures for which it was refused.
        rule: The place and the fields of the rule of the retry policy that led to it; None if no rule did.
        judge: The model that was asked for a verdict, "" if it is unknown; None if none was asked.
    """

    accepted: bool
    right: bool | None = None
    verdict: str = ""
    tokens: _Amount | None = None
    seconds: _Amount | None = None
    cost_usd: _Amount | None = None
    step: int = 0
    use: str = "another attempt"
    kinds: tuple[str, ...] = ()
    rule: tuple[int, Mapping[str, object]] | None = None
    judge: str | None = None


@dataclass(frozen=True, slots=True, config=_STRICT)
class Trial:
    """One recorded run of a task. A run with several steps is accepted if each of them is.

    Attributes:
        task: Names the task: trials of one task are not independent of each other.
        attempts: Its attempts in their order, step by step.
        stopped: Whether the run, refused as it is, would end here with any number of attempts.
        arm: The model or the policy that made it.
        number: Its number among the trials of the task; None if they have none.
        contract: What it was judged by, which is equal in all trials of a task.
    """

    task: str
    attempts: Annotated[Sequence[TriedAttempt], Field(min_length=1)]
    stopped: bool = False
    arm: str = ""
    number: int | None = None
    contract: object = None

    @property
    def steps(self) -> list[list[TriedAttempt]]:
        """The attempts of each step, which ends at its first acceptance."""
        groups = ([*group] for _, group in groupby(self.attempts, key=attrgetter("step")))
        return [_end_step(step) for step in groups]

    @property
    def answer(self) -> TriedAttempt | None:
        """The accepted attempt at the last step; None if a step is refused."""
        return self.attempts[-1] if all(step[-1].accepted for step in self.steps) else None


def _end_step(step: list[TriedAttempt]) -> list[TriedAttempt]:
    return step[: next((at for at, each in enumerate(step, 1) if each.accepted), len(step))]


def group_by(values: Iterable[T], read_key: Callable[[T], Hashable]) -> dict[Any, list[T]]:
    """Returns the values by their keys, in the order of the first ones."""
    groups: defaultdict[Hashable, list[T]] = defaultdict(list)
    for each in values:
        groups[read_key(each)].append(each)
    return groups


class Terms(SettingsModel):
    """What an answer is worth, in any unit; that of costs is the same.

    Attributes:
        value: Of a right acceptance.
        loss: Of a wrong acceptance, which is subtracted.
        cost_per_attempt: Of each attempt.
        in_usd: Whether the recorded cost in US dollars counts in place of ``cost_per_attempt``.

    Raises:
        ConfigurationError: A number is negative or not finite.
    """

    value: _Amount = 1.0
    loss: _Amount = 3.0
    cost_per_attempt: _Amount = 0.02
    in_usd: Flag = False


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
