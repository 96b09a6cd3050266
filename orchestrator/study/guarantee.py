"""Which verdicts may be accepted so that at most a share of the acceptances is wrong. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TypeAlias

from evaluation.statistics import proportion
from orchestrator.study.trial_outcomes import Trial


@dataclass(frozen=True, slots=True)
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
    return shown[-1] if shown else replace((large or tests[-1:])[0], cells=(), unanswered=1.0)


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
