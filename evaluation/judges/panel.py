"""Several judges, or one asked several times, with one answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final, get_args

from evaluation.errors import ContractError
from evaluation.inputs.rules import Rubric
from evaluation.judges.call import Answered, acall, call
from evaluation.judges.failures import JudgeFailure
from evaluation.judges.scores import JudgeScore, read_judge_result
from evaluation.judges.votes import Ballot, Count, VotingRule, decided
from evaluation.judging import AnyJudge, JudgeRequest
from evaluation.values import JsonObject

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
