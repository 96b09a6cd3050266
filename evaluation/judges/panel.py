"""Combines the answers of several judges, or of one that is asked several times."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from evaluation.errors import ContractError, JudgeError
from evaluation.inputs.rubric import Rubric
from evaluation.judges.answers import JudgeFailure, sum_usage
from evaluation.judges.judge_call import acall_judge, call_judge
from evaluation.judges.judge_scores import JudgeScore, read_judge_result
from evaluation.plugins import AnyJudge, JudgeFunction, JudgeRequest, require_judge
from evaluation.values import JsonObject


class JudgePanel:
    """Asks every judge ``samples`` times and takes the answer of the majority.

    More than half of all asked have to be on one side of the rubric's pass score, or else the panel abstains.
    A judge that fails counts as asked: it neither approves nor refuses. Each answer is checked like the
    answer of a single judge. The report's ``details`` show the disagreement under ``panel``.

    Args:
        judges: At least one judge; the same may be given twice. A cached judge answers every sample alike.
        samples: How often each judge is asked, at least 1.

    Raises:
        ContractError: There is no judge, or ``samples`` is less than 1.
    """

    def __init__(self, judges: Sequence[AnyJudge | JudgeFunction], *, samples: int = 1) -> None:
        if len(judges) * samples < 1:
            raise ContractError(f"{len(judges)} judges, samples={samples}: each must be at least 1")
        self._seats = [require_judge(judge) for judge in judges for _ in range(samples)]

    def judge(self, request: JudgeRequest) -> JsonObject:
        """Asks the judges one after the other.

        Returns:
            An answer as ``Judge`` describes it, with the disagreement under ``panel``. Its score is the lower
            median of the majority, and its words are those of the judge who gave this score.

        Raises:
            JudgeError: No side has a majority. Its kind is ``no_majority``, or the kind of the failures if
                all judges failed with the same one.
        """
        return _decide([call_judge(judge, request) for judge in self._seats], request.rubric)

    async def ajudge(self, request: JudgeRequest) -> JsonObject:
        """Asks the judges concurrently; returns and raises as ``judge`` does."""
        answers = await asyncio.gather(*(acall_judge(judge, request) for judge in self._seats))
        return _decide(answers, request.rubric)


def _decide(answers: Sequence[str | JudgeFailure], rubric: Rubric) -> JsonObject:
    results = [read_judge_result(answer, rubric) for answer in answers]
    scores = [result for result in results if isinstance(result, JudgeScore)]
    approving = [score for score in scores if score.score >= rubric.lowest_passing]
    refusing = [score for score in scores if score.score < rubric.lowest_passing]
    votes = {"approve": len(approving), "refuse": len(refusing)}
    panel = {"asked": len(results), "votes": votes, "ballots": [_format_ballot(each) for each in results]}
    usage = sum_usage([result.usage for result in results])
    majority = max(approving, refusing, key=len)
    # Of all that were asked: a failed judge must not make it easier to approve.
    if 2 * len(majority) <= len(results):
        kinds = {result.kind for result in results if isinstance(result, JudgeFailure)}
        raise JudgeError(
            f"the panel abstains: of {len(results)}, {len(approving)} approve and {len(refusing)} refuse",
            kinds.pop() if not scores and len(kinds) == 1 else "no_majority",
            usage=usage,
            details={"panel": panel},
        )
    # The lower median: with an even number of votes, it is a score that a judge gave.
    speaker = sorted(majority, key=lambda score: score.score)[(len(majority) - 1) // 2]
    concerns = dict.fromkeys(concern for score in scores for concern in score.concerns)
    return {
        **speaker.details,
        **speaker.model_dump(include={"score", "rationale", "criteria", "recommended_action"}),
        "concerns": list(concerns),
        "usage": usage,
        "panel": panel,
        # A panel is as reliable as the least reliable vote that counts.
        "repaired": any(score.repaired for score in majority),
        "unseen": next((score.unseen for score in majority if score.unseen), None),
    }


def _format_ballot(result: JudgeScore | JudgeFailure) -> JsonObject:
    if isinstance(result, JudgeFailure):
        return {"failure": result.kind, "reason": result.reason}
    return {"score": result.score}
