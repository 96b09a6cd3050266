"""Recorded attempts at tasks, and which verdicts may be accepted so that at most a share is wrong. Pure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from itertools import groupby, takewhile
from operator import attrgetter
from typing import Annotated, Final, TypeAlias

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from evaluation.statistics import proportion
from orchestrator.runtime.budget import Flag, SettingsModel

COSTS: Final = ("tokens", "seconds", "cost_usd")
_Amount: TypeAlias = Annotated[float, Field(ge=0, le=1e15, description="a number from 0 to 1e+15")]
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


@dataclasses.dataclass(frozen=True, slots=True)
class Guarantee:
    """What may be accepted so that at most a share of the acceptances is wrong, at 95 % confidence.

    Attributes:
        at_most: The share.
        cells: The verdicts with their attempts that may be accepted; empty if nothing is shown.
        answered: Tasks that they answer, each counted once by its first recorded run; without cells, those
            of the set that was not shown.
        wrong: Wrong answers among them.
        bound: Upper bound of the share of wrong acceptances, one-sided, by Clopper and Pearson.
        unanswered: Share of tasks that they leave unanswered.
        least_unanswered: Share that any choice among the accepted attempts leaves unanswered.
        needed: Faultless accepted tasks that show the share.
    """

    at_most: float
    cells: tuple[tuple[str, int], ...]
    answered: int
    wrong: int
    bound: float
    unanswered: float
    least_unanswered: float
    needed: int

    @property
    def sentence(self) -> str:
        """All of it in words."""
        first = f"At least {self.least_unanswered:.0%} of the tasks have to be left unanswered"
        counted = f"{self.wrong} of {self.answered} accepted tasks are wrong"
        if not self.cells:
            is_few = self.answered < self.needed
            reason = f"it takes {self.needed} faultless ones" if is_few else f"{self.bound:.0%} may be"
            return f"{first}; nothing can be accepted: {counted}, and {reason}"
        named = ", ".join(f"{verdict or 'accepted'} at {number}" for verdict, number in self.cells)
        return (
            f"{first}; accept, by verdict and attempt, {named}: {counted}, "
            f"at most {self.bound:.1%} at 95 % confidence; "
            f"{self.unanswered:.0%} of the tasks are left unanswered"
        )


_Answer: TypeAlias = tuple[tuple[str, int], bool | None]
"""The verdict and the number of an accepted attempt, and whether it is right."""


def _list_answers(trials: Sequence[Trial], *, in_sequence: bool) -> list[_Answer]:
    """Returns the attempts at a task that could be its answer, in their order."""
    runs = enumerate(trials, 1) if not in_sequence else [(max(map(len, trials[0].steps)), trials[0])]
    return [((trial.answer.verdict, k), trial.answer.right) for k, trial in runs if trial.answer]


def find_guarantee(tasks: Sequence[Sequence[Trial]], at_most: float, *, in_sequence: bool) -> Guarantee:
    """Tests growing sets of verdicts and attempts in a fixed order, and stops at the first that fails.

    A task counts once. Sets with too few tasks, which no label could show, are passed over. Sources: Clopper
    and Pearson (1934), Biometrika 26; Angelopoulos et al. (2021), Learn then test, arXiv 2110.01052, for
    tests in a fixed sequence, which need no correction.
    """
    answers = [_list_answers(trials, in_sequence=in_sequence) for trials in tasks]
    # In the order of the alphabet, whatever the labels are: approved, checked, judged, unverified.
    cells = sorted({cell for each in answers for cell, _ in each})
    tests = [_test_cells(answers, cells[:size], at_most) for size in range(len(cells) + 1)]
    large = [test for test in tests if test.answered >= test.needed]
    shown = [*takewhile(lambda test: test.bound <= at_most, large)]
    return shown[-1] if shown else dataclasses.replace((large or tests[-1:])[0], cells=(), unanswered=1.0)


def _test_cells(
    tasks: Sequence[Sequence[_Answer]], cells: Sequence[tuple[str, int]], at_most: float
) -> Guarantee:
    given = [next((right for cell, right in answers if cell in cells), None) for answers in tasks]
    answered, wrong = sum(right is not None for right in given), given.count(False)
    able = sum(any(right for _, right in answers) for answers in tasks) / len(tasks)
    # Both tails of 10 % are the one tail of 5 %.
    interval = proportion(wrong, answered, 0.9).interval
    return Guarantee(
        at_most=at_most,
        cells=tuple(cells),
        answered=answered,
        wrong=wrong,
        bound=1.0 if interval is None else interval.high,
        unanswered=1.0 - answered / len(tasks),
        least_unanswered=max(0.0, 1.0 - able / (1.0 - at_most)),
        needed=math.ceil(math.log(0.05) / math.log1p(-at_most)),
    )
