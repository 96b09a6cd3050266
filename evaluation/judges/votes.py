"""From the answers of several judges to one, or to none where they do not agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import median_low
from typing import Literal, NoReturn

from evaluation.errors import JudgeError, JudgeFailureKind
from evaluation.inputs.rules import Rubric
from evaluation.judges.failures import JudgeFailure
from evaluation.judges.scores import JudgeScore, pass_score
from evaluation.judges.usage import together
from evaluation.values import JsonObject

VotingRule = Literal["majority", "mean"]


@dataclass(frozen=True, slots=True)
class Ballot:
    """What came of asking one judge once; judges and samples are counted from 1."""

    judge: int
    sample: int
    outcome: JudgeScore | JudgeFailure


@dataclass(frozen=True, slots=True)
class Count:
    """All ballots of one question, the failed ones included."""

    ballots: Sequence[Ballot]
    rubric: Rubric
    rule: VotingRule
    quorum: int

    @property
    def scores(self) -> list[JudgeScore]:
        """The answers that can be relied on."""
        return [one.outcome for one in self.ballots if isinstance(one.outcome, JudgeScore)]

    @property
    def sides(self) -> tuple[list[JudgeScore], list[JudgeScore]]:
        """Those who approve and those who do not."""
        least = pass_score(self.rubric)
        approving = [one for one in self.scores if one.score >= least]
        return approving, [one for one in self.scores if one.score < least]


def decided(count: Count) -> JsonObject:
    """Give the panel's answer, with the disagreement under ``panel``.

    By ``majority``, more than half of all that were asked have to be on one side of the rubric's pass score,
    and the score is the lower median of that side. By ``mean``, it is the mean of the usable answers. The
    rationale is that of the judge whose score is the nearest.

    Raises:
        JudgeError: Fewer than the quorum answered, or no side has a majority: ``no_majority``, or the kind of
            the failures where nobody answered and all failed alike.
    """
    if len(count.scores) < count.quorum:
        _abstain(count, f"{len(count.scores)} of {len(count.ballots)} answered, {count.quorum} have to")
    if count.rule == "mean":
        return _answer(count, _mean([one.score for one in count.scores]), count.scores)
    winners = max(count.sides, key=len)
    if 2 * len(winners) <= len(count.ballots):
        approving, refusing = count.sides
        _abstain(count, f"{len(approving)} approve and {len(refusing)} refuse of {len(count.ballots)} asked")
    return _answer(count, median_low([one.score for one in winners]), winners)


def _answer(count: Count, score: float, speaking: Sequence[JudgeScore]) -> JsonObject:
    nearest = min(speaking, key=lambda one: abs(one.score - score))
    concerns = dict.fromkeys(concern for one in count.scores for concern in one.concerns)
    criteria = nearest.criteria if count.rule == "majority" else _mean_criteria(speaking)
    return {
        **nearest.details,
        "score": score,
        "rationale": nearest.rationale,
        **({"criteria": dict(criteria)} if criteria else {}),
        "concerns": list(concerns),
        "recommended_action": nearest.recommended_action,
        "usage": _usage(count),
        "panel": disagreement(count),
    }


def disagreement(count: Count) -> JsonObject:
    """Say how the ballots fell: who scored what, how far apart, and who failed and why."""
    scores = [one.score for one in count.scores]
    approving, refusing = count.sides
    return {
        "rule": count.rule,
        "quorum": count.quorum,
        "asked": len(count.ballots),
        "answered": len(scores),
        "failed": len(count.ballots) - len(scores),
        "votes": {"approve": len(approving), "refuse": len(refusing)},
        "spread": max(scores) - min(scores) if scores else None,
        "unanimous": not (approving and refusing) and len(scores) == len(count.ballots),
        "ballots": [_shown(one) for one in count.ballots],
    }


def _shown(ballot: Ballot) -> JsonObject:
    who, outcome = {"judge": ballot.judge, "sample": ballot.sample}, ballot.outcome
    if isinstance(outcome, JudgeFailure):
        return {**who, "failure": outcome.kind, "reason": outcome.reason}
    return {**who, "score": outcome.score}


def _abstain(count: Count, why: str) -> NoReturn:
    failures = Counter(one.outcome.kind for one in count.ballots if isinstance(one.outcome, JudgeFailure))
    told = ", ".join(f"{number} {kind}" for kind, number in sorted(failures.items()))
    message = f"the panel abstains: {why}" + (f"; failed: {told}" if told else "")
    raise JudgeError(
        message,
        _kind(count, failures),
        usage=_usage(count),
        details={"panel": disagreement(count)},
    )


def _kind(count: Count, failures: Mapping[JudgeFailureKind, int]) -> JudgeFailureKind:
    return next(iter(failures)) if not count.scores and len(failures) == 1 else "no_majority"


def _usage(count: Count) -> JsonObject:
    return together([one.outcome.usage for one in count.ballots])


def _mean_criteria(scores: Sequence[JudgeScore]) -> dict[str, float]:
    """Average each criterion over the judges that scored the criteria."""
    given = [one.criteria for one in scores if one.criteria]
    return {name: _mean([one[name] for one in given]) for name in given[0]} if given else {}


def _mean(numbers: Sequence[float]) -> float:
    """Compute it within the least and the greatest number, which rounding could leave."""
    return min(max(fsum(numbers) / len(numbers), min(numbers)), max(numbers))
