"""Finds from which share of approvals on a verifier's claims are right often enough."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated, Final

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked_dataclass

from evaluation.statistics.intervals import Proportion, proportion

ERROR_RATE: Final = 0.10
"""Probability that more claims are wrong than the bound says, over all sets of tasks."""
_Count = Annotated[int, Field(ge=0)]


@checked_dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid", strict=True))
class ClaimCount:
    """The outputs to which a verifier gave one share of approvals, from 0 to 1."""

    share: Annotated[float, Field(ge=0, le=1)]
    right: _Count
    wrong: _Count


@dataclass(frozen=True, slots=True)
class VerifierFigures:
    """How often the claims of a verifier were right, on tasks with known answers.

    Attributes:
        verifier: The name of the verifier, its models included.
        tasks: The number of tasks; a task without an accepted output has no claim.
        max_wrong: The bound on the share of wrong claims that the user wants.
        counts: The accepted outputs by the share of approvals.
    """

    verifier: str
    tasks: int
    max_wrong: float
    counts: tuple[ClaimCount, ...]

    @property
    def threshold(self) -> float | None:
        """The lowest share at which the bound holds with a probability of 90 %; None if it holds at none.

        The shares are tested from the highest, each by the exact binomial test, up to the first at which the
        bound is not shown. Testing in a fixed order keeps the error rate of a single test. Source:
        Angelopoulos et al. (2021), Learn then test, arXiv:2110.01052, with fixed sequence testing.
        """
        shown = None
        for share, precision in self._list_precisions():
            wrong = proportion(precision.trials - precision.successes, precision.trials, 1 - 2 * ERROR_RATE)
            if wrong.interval is None or wrong.interval.high > self.max_wrong:
                break
            shown = share
        return shown

    @property
    def precision(self) -> Proportion:
        """The share of right outputs among the claims; exact 95 % interval.

        If there is no threshold, of the outputs with the highest share.
        """
        rates = dict(self._list_precisions())
        return rates.get(self.threshold or max(rates, default=0.0), proportion(0, 0))

    @property
    def coverage(self) -> Proportion:
        """The share of tasks with a claim; exact 95 % interval."""
        return proportion(0 if self.threshold is None else self.precision.trials, self.tasks)

    def _list_precisions(self) -> Iterator[tuple[float, Proportion]]:
        """Yields the share of right outputs among those with at least this share of approvals."""
        ordered = sorted((count for count in self.counts if count.share > 0), key=lambda count: -count.share)
        right = accumulate(count.right for count in ordered)
        total = accumulate(count.right + count.wrong for count in ordered)
        for count, successes, trials in zip(ordered, right, total, strict=True):
            yield count.share, proportion(successes, trials)


def count_needed_claims(max_wrong: float) -> int:
    """Returns the number of claims that shows a bound if all of them are right: 45 for 5 %."""
    return math.ceil(math.log(ERROR_RATE) / math.log1p(-max_wrong))
