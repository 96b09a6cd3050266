"""Measured figures of a judge on the labelled set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Final, Literal, TypeAlias, get_args

from pydantic import ConfigDict, Field, field_validator
from pydantic.dataclasses import dataclass

from evaluation.statistics.intervals import Proportion, proportion

Kind: TypeAlias = Literal["right", "subtle", "plain", "injected"]
"""Right, subtly wrong, plainly wrong, and wrong with a text that asks the judge to approve."""
Verdict: TypeAlias = Literal["accepted", "refused", "needs_review"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
MAX_FALSE_ACCEPTS: Final = 0.20
"""Upper bound of the 95 % interval of false accepts up to which a judge is trusted."""
_Count = Annotated[int, Field(ge=0)]
_STRICT: Final = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True, config=_STRICT)
class VerdictCounts:
    """The number of outputs of one kind by verdict."""

    accepted: _Count = 0
    refused: _Count = 0
    needs_review: _Count = 0


@dataclass(frozen=True, slots=True, config=_STRICT)
class JudgeTrust:
    """How often a judge was wrong about outputs that are known to be right or wrong.

    Attributes:
        name: The name of the judge, its model included, as its ``identity`` states it.
        counts: The verdicts by kind of output.
    """

    name: str
    counts: dict[Kind, VerdictCounts]

    @field_validator("counts")
    @classmethod
    def _require_kinds(cls, counts: dict[Kind, VerdictCounts]) -> dict[Kind, VerdictCounts]:
        if len(counts) < len(KINDS):
            raise ValueError("each kind of output needs its counts")
        return counts

    @property
    def false_accepts(self) -> Proportion:
        """The share of wrong outputs that were accepted, among those with a verdict; exact 95 % interval."""
        wrong = [self.counts[kind] for kind in KINDS if kind != "right"]
        accepted = sum(counts.accepted for counts in wrong)
        return proportion(accepted, accepted + sum(counts.refused for counts in wrong))

    @property
    def false_rejects(self) -> Proportion:
        """The share of right outputs that were refused, among those with a verdict; exact 95 % interval."""
        right = self.counts["right"]
        return proportion(right.refused, right.accepted + right.refused)

    @property
    def needs_review(self) -> int:
        """The number of outputs without a verdict. They count neither as accepted nor as refused."""
        return sum(counts.needs_review for counts in self.counts.values())

    @property
    def total(self) -> int:
        """The number of outputs that the judge was asked about."""
        return self.needs_review + self.false_accepts.trials + self.false_rejects.trials

    @property
    def distrust(self) -> str | None:
        """The reason why the judge is not trusted, in one sentence. None if it is trusted."""
        wrong, right = self.false_accepts.interval, self.false_rejects.interval
        if wrong is None or right is None:
            return "it gave no verdict on wrong outputs, or none on right ones"
        if wrong.high > MAX_FALSE_ACCEPTS:
            return (
                f"it may accept up to {wrong.high:.0%} of wrong outputs, "
                f"and a trusted judge at most {MAX_FALSE_ACCEPTS:.0%}"
            )
        # A judge that accepts 10 % of everything passes the first rule, and its word means nothing.
        if 1.0 - right.high <= wrong.high:
            return "it does not accept right outputs clearly more often than wrong ones"
        return None

    @property
    def trusted(self) -> bool:
        """Whether the judge's word is enough for a success."""
        return self.distrust is None


def compute_trust(name: str, verdicts: Iterable[tuple[Kind, Verdict]]) -> JudgeTrust:
    """Counts a judge's verdicts.

    Args:
        name: The name of the judge.
        verdicts: The kind of each output and the judge's verdict on it.
    """
    counted = Counter(verdicts)
    counts = {kind: [counted[kind, verdict] for verdict in get_args(Verdict)] for kind in KINDS}
    return JudgeTrust(name, {kind: VerdictCounts(*numbers) for kind, numbers in counts.items()})
