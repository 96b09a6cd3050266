"""Combines the answers of several judges, or of one that is asked several times."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median_low
from typing import Literal, NoReturn, get_args

from evaluation.errors import ContractError, JudgeError
from evaluation.inputs.rubric import Rubric
from evaluation.judges.failures import JudgeFailure
from evaluation.judges.judge_call import acall_judge, call_judge
from evaluation.judges.judge_scores import JudgeScore, read_judge_result
from evaluation.judges.judge_usage import sum_usage
from evaluation.plugins import AnyJudge, JudgeFunction, JudgeRequest, require_judge
from evaluation.values import JsonObject

VotingRule = Literal["majority", "mean"]


@dataclass(frozen=True, slots=True)
class Ballot:
    """One answer of one judge. Judges and samples are counted from 1."""

    judge: int
    sample: int
    outcome: JudgeScore | JudgeFailure


@dataclass(frozen=True, slots=True)
class Count:
    """All ballots of one question, including failures."""

    ballots: Sequence[Ballot]
    rubric: Rubric
    rule: VotingRule
    quorum: int

    @property
    def scores(self) -> list[JudgeScore]:
        """The usable answers."""
        return [ballot.outcome for ballot in self.ballots if isinstance(ballot.outcome, JudgeScore)]

    @property
    def sides(self) -> tuple[list[JudgeScore], list[JudgeScore]]:
        """The approving and the refusing answers."""
        lowest = self.rubric.lowest_passing
        approving = [vote for vote in self.scores if vote.score >= lowest]
        return approving, [vote for vote in self.scores if vote.score < lowest]


def decide_panel(count: Count) -> JsonObject:
    """Decides the panel's answer, with the disagreement under ``panel``.

    By ``majority``, more than half of all asked judges have to be on one side of the rubric's pass score, and
    the score is the lower median of that side. By ``mean``, the score is the mean of the usable answers. The
    rationale comes from the judge with the nearest score.

    Raises:
        JudgeError: Fewer judges than the quorum answered, or no side has a majority. Its kind is
            ``no_majority``, or the kind of the failures if all judges failed with the same one.
    """
    if len(count.scores) < count.quorum:
        answered = f"{len(count.scores)} of {len(count.ballots)} judges answered"
        _abstain(count, f"{answered}, the quorum is {count.quorum}")
    if count.rule == "mean":
        return _build_answer(count, _mean([vote.score for vote in count.scores]), count.scores)
    winners = max(count.sides, key=len)
    # Of all that were asked: a failed judge must not make it easier to approve.
    if 2 * len(winners) <= len(count.ballots):
        approving, refusing = count.sides
        _abstain(count, f"{len(approving)} approve and {len(refusing)} refuse of {len(count.ballots)} asked")
    # The lower median: with an even number of votes, it is a score that a judge gave.
    return _build_answer(count, median_low([vote.score for vote in winners]), winners)


def _build_answer(count: Count, score: float, votes: Sequence[JudgeScore]) -> JsonObject:
    nearest = min(votes, key=lambda vote: abs(vote.score - score))
    concerns = dict.fromkeys(concern for vote in count.scores for concern in vote.concerns)
    criteria = nearest.criteria if count.rule == "majority" else _mean_criteria(votes)
    # A panel is as reliable as the least reliable vote that counts.
    mark: JsonObject = {"repaired": True} if any(vote.repaired for vote in votes) else {}
    unseen = next((vote.unseen for vote in votes if vote.unseen), None)
    return {
        **nearest.details,
        "score": score,
        "rationale": nearest.rationale,
        **({"criteria": dict(criteria)} if criteria else {}),
        "concerns": list(concerns),
        "recommended_action": nearest.recommended_action,
        "usage": _sum_ballots(count),
        "panel": describe_disagreement(count),
        **mark,
        **({"unseen": unseen} if unseen else {}),
    }


def describe_disagreement(count: Count) -> JsonObject:
    """Lists who scored what, how far apart the scores are, and who failed and why."""
    scores = [vote.score for vote in count.scores]
    approving, refusing = count.sides
    return {
        "rule": count.rule,
        "quorum": count.quorum,
        "asked": len(count.ballots),
        "answered": len(scores),
        "votes": {"approve": len(approving), "refuse": len(refusing)},
        "spread": max(scores) - min(scores) if scores else None,
        "ballots": [_format_ballot(ballot) for ballot in count.ballots],
    }


def _format_ballot(ballot: Ballot) -> JsonObject:
    who, outcome = {"judge": ballot.judge, "sample": ballot.sample}, ballot.outcome
    if isinstance(outcome, JudgeFailure):
        return {**who, "failure": outcome.kind, "reason": outcome.reason}
    return {**who, "score": outcome.score}


def _abstain(count: Count, why: str) -> NoReturn:
    outcomes = [ballot.outcome for ballot in count.ballots]
    failures = Counter(outcome.kind for outcome in outcomes if isinstance(outcome, JudgeFailure))
    numbers = ", ".join(f"{number} {kind}" for kind, number in sorted(failures.items()))
    raise JudgeError(
        f"the panel abstains: {why}" + (f"; failed: {numbers}" if numbers else ""),
        next(iter(failures)) if not count.scores and len(failures) == 1 else "no_majority",
        usage=_sum_ballots(count),
        details={"panel": describe_disagreement(count)},
    )


def _sum_ballots(count: Count) -> JsonObject:
    return sum_usage([ballot.outcome.usage for ballot in count.ballots])


def _mean_criteria(scores: Sequence[JudgeScore]) -> dict[str, float]:
    """Averages each criterion. Returns an empty object if a judge scored no criteria."""
    scored = [vote.criteria for vote in scores]
    # Without the criteria of all, the means would not explain the mean of the scores.
    return {name: _mean([criteria[name] for criteria in scored]) for name in scored[0]} if all(scored) else {}


def _mean(numbers: Sequence[float]) -> float:
    # Rounding may push the mean past the lowest or the highest number.
    return min(max(fmean(numbers), min(numbers)), max(numbers))


class JudgePanel:
    """Asks every judge ``samples`` times and combines the answers.

    A judge that fails counts as asked: it neither approves nor refuses. Each answer is checked like the
    answer of a single judge. The report's ``details`` show the disagreement under ``panel``.

    Args:
        judges: At least one judge; the same may be given twice. A cached judge answers every sample alike.
        samples: How often each judge is asked, at least 1.
        rule: ``majority``: more than half of all asked have to be on one side of the rubric's pass score, or
            else the panel abstains; ``mean``: the mean of the scores.
        quorum: Lowest number of usable answers. Default: more than half of all asked.
        concurrency: Maximum number of calls at once in ``ajudge``, at least 1.

    Raises:
        ContractError: An argument is out of its range.
    """

    def __init__(
        self,
        judges: Sequence[AnyJudge | JudgeFunction],
        *,
        samples: int = 1,
        rule: VotingRule = "majority",
        quorum: int | None = None,
        concurrency: int = 8,
    ) -> None:
        asked = len(judges) * samples
        if asked < 1 or samples < 1 or concurrency < 1:
            raise ContractError(
                f"{len(judges)} judges, samples={samples}, concurrency={concurrency}: each must be at least 1"
            )
        if rule not in get_args(VotingRule):
            raise ContractError(f"rule is {rule!r}; it is one of {', '.join(get_args(VotingRule))}")
        if quorum is not None and not 1 <= quorum <= asked:
            raise ContractError(f"quorum is {quorum}; of {asked} asked it is from 1 to {asked}")
        self._seats = [
            (judge, position, sample)
            for position, judge in enumerate(map(require_judge, judges), 1)
            for sample in range(1, samples + 1)
        ]
        self._rule = rule
        self._quorum = asked // 2 + 1 if quorum is None else quorum
        self._concurrency = concurrency

    def judge(self, request: JudgeRequest) -> JsonObject:
        """Asks the judges one after the other.

        Returns:
            An answer as ``Judge`` describes it, with the disagreement under ``panel``.

        Raises:
            JudgeError: The panel abstains, see ``decide_panel``.
        """
        return self._decide(request, [call_judge(judge, request) for judge, _, _ in self._seats])

    async def ajudge(self, request: JudgeRequest) -> JsonObject:
        """Asks the judges concurrently; returns and raises as ``judge`` does."""
        free = asyncio.Semaphore(self._concurrency)

        async def ask_seat(judge: AnyJudge) -> str | JudgeFailure:
            async with free:
                return await acall_judge(judge, request)

        answers = await asyncio.gather(*(ask_seat(judge) for judge, _, _ in self._seats))
        return self._decide(request, answers)

    def _decide(self, request: JudgeRequest, answers: Sequence[str | JudgeFailure]) -> JsonObject:
        ballots = [
            Ballot(position, sample, read_judge_result(answer, request.rubric))
            for (_, position, sample), answer in zip(self._seats, answers, strict=True)
        ]
        return decide_panel(Count(ballots, request.rubric, self._rule, self._quorum))
