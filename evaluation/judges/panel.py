"""Several judges, or one asked several times, with one answer."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import median_low
from typing import Final, Literal, NoReturn, get_args

from evaluation.errors import ContractError, JudgeError, JudgeFailureKind
from evaluation.inputs.rules import Rubric
from evaluation.judges.call import Answered, acall, call
from evaluation.judges.failures import JudgeFailure
from evaluation.judges.scores import JudgeScore, pass_score, read_judge_result
from evaluation.judges.usage import together
from evaluation.plugins import AnyJudge, JudgeRequest
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


_RULES: Final = get_args(VotingRule)


class JudgePanel:
    """Asks every judge ``samples`` times and lets the answers decide.

    A judge that fails is counted as asked: it neither approves nor refuses. Each answer is checked as that of
    a single judge is. How far the judges disagreed is in the report's ``details``, under ``panel``.

    Args:
        judges: At least one; the same may stand there twice. One with a cache answers every sample alike.
        samples: How often each is asked, at least 1.
        rule: ``majority``: more than half of all asked on one side of the rubric's pass score, else nobody
            decides; ``mean``: the mean of the scores.
        quorum: How many usable answers there have to be; by default more than half of all asked.
        concurrency: How many are asked at once where they can be awaited, at least 1.

    Raises:
        ContractError: An argument is out of its range.
    """

    def __init__(
        self,
        judges: Sequence[AnyJudge],
        *,
        samples: int = 1,
        rule: VotingRule = "majority",
        quorum: int | None = None,
        concurrency: int = 8,
    ) -> None:
        asked = len(judges) * samples
        if asked < 1 or samples < 1 or concurrency < 1:
            raise ContractError(
                f"{len(judges)} judges, samples={samples}, concurrency={concurrency}: each is at least 1"
            )
        if rule not in _RULES:
            raise ContractError(f"rule is {rule!r}; it is one of {', '.join(_RULES)}")
        if quorum is not None and not 1 <= quorum <= asked:
            raise ContractError(f"quorum is {quorum}; of {asked} asked it is from 1 to {asked}")
        self._seats = [(judge, at, n) for at, judge in enumerate(judges, 1) for n in range(1, samples + 1)]
        self._rule = rule
        self._quorum = asked // 2 + 1 if quorum is None else quorum
        self._concurrency = concurrency

    def judge(self, request: JudgeRequest) -> JsonObject:
        """Ask one after the other.

        Returns:
            An answer as ``Judge`` describes it, with the disagreement under ``panel``.

        Raises:
            JudgeError: The panel abstains, see ``votes.decided``.
        """
        return self._decided(request, [call(judge, request) for judge, _, _ in self._seats])

    async def ajudge(self, request: JudgeRequest) -> JsonObject:
        """Ask side by side; returns and raises as ``judge`` does."""
        free = asyncio.Semaphore(self._concurrency)

        async def asked(judge: AnyJudge) -> Answered | JudgeFailure:
            async with free:
                return await acall(judge, request)

        return self._decided(request, await asyncio.gather(*(asked(judge) for judge, _, _ in self._seats)))

    def _decided(self, request: JudgeRequest, said: Sequence[Answered | JudgeFailure]) -> JsonObject:
        ballots = [
            Ballot(at, sample, _outcome(one, request.rubric))
            for (_, at, sample), one in zip(self._seats, said, strict=True)
        ]
        return decided(Count(ballots, request.rubric, self._rule, self._quorum))


def _outcome(said: Answered | JudgeFailure, rubric: Rubric) -> JudgeScore | JudgeFailure:
    return said if isinstance(said, JudgeFailure) else read_judge_result(said.answer, rubric)
