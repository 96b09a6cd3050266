"""Judges that need no model: from a script, by a rule, or failing; each records what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from evaluation.errors import ContractError, JudgeError, JudgeFailureKind
from evaluation.inputs.rules import Rubric
from evaluation.plugins import JudgeRequest
from evaluation.values import JsonObject

JudgeScript: TypeAlias = Iterable[object] | Callable[[JudgeRequest], object]


class ScriptedJudge:
    """A judge that answers from a script.

    Args:
        script: The answers in order (an exception among them is raised), or a function from the request to an
            answer. A script that has run out raises AssertionError.

    Attributes:
        requests: What it was asked, in order.
    """

    def __init__(self, script: JudgeScript) -> None:
        self.requests: list[JudgeRequest] = []
        self._script: Callable[[JudgeRequest], object] = script if callable(script) else _InOrder(script)

    def judge(self, request: JudgeRequest) -> object:
        """Give the script's next answer."""
        self.requests.append(request)
        answer = self._script(request)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def ajudge(self, request: JudgeRequest) -> object:
        """Give the script's next answer; a function may take its time, in a thread."""
        return await asyncio.to_thread(self.judge, request)


class DeterministicJudge:
    """A judge that scores by a rule: a fixed score, or the share of keywords that the output holds.

    Args:
        score: The score that it always gives, on the scale of whatever rubric it is asked about.
        keywords: Looked for in the output, whatever their case; the score is the share found, from the
            scale's least to its greatest. Exactly one of the two is given.

    Attributes:
        requests: What it was asked, in order.

    Raises:
        ContractError: Both are given, or neither.
    """

    def __init__(self, score: float | None = None, *, keywords: Sequence[str] = ()) -> None:
        if (score is None) == (not keywords):
            raise ContractError("a DeterministicJudge needs either a score or keywords")
        self.requests: list[JudgeRequest] = []
        self._score = score
        self._keywords = tuple(keywords)

    def judge(self, request: JudgeRequest) -> JsonObject:
        """Score by the rule."""
        self.requests.append(request)
        if self._score is not None:
            return judge_answer(request.rubric, self._score, f"The score is always {self._score:g}.")
        text = request.output.casefold()
        missing = [word for word in self._keywords if word.casefold() not in text]
        share = 1 - len(missing) / len(self._keywords)
        scale = request.rubric.scale
        rationale = f"{len(self._keywords) - len(missing)} of {len(self._keywords)} keywords are there."
        concerns = [f"{word!r} is missing" for word in missing]
        return judge_answer(request.rubric, scale.min + share * (scale.max - scale.min), rationale, concerns)

    async def ajudge(self, request: JudgeRequest) -> JsonObject:
        """Score by the rule."""
        return self.judge(request)


class FailingJudge:
    """A judge that always fails.

    Args:
        failure: The error that it raises, or the kind of a ``JudgeError``.

    Attributes:
        requests: What it was asked, in order.
    """

    def __init__(self, failure: Exception | JudgeFailureKind = "provider_failure") -> None:
        self.requests: list[JudgeRequest] = []
        self._failure = failure

    def judge(self, request: JudgeRequest) -> object:
        """Fail.

        Raises:
            JudgeError: Of the kind that was given, or the given error itself.
        """
        self.requests.append(request)
        if isinstance(self._failure, Exception):
            raise self._failure
        raise JudgeError("this judge always fails", self._failure)

    async def ajudge(self, request: JudgeRequest) -> object:
        """Fail, as ``judge`` does."""
        return self.judge(request)


def judge_answer(
    rubric: Rubric, score: float, rationale: str = "As expected.", concerns: Sequence[str] = ()
) -> JsonObject:
    """Write an answer that scores every criterion of ``rubric`` alike."""
    return {
        "score": score,
        "rationale": rationale,
        "criteria": {criterion.name: score for criterion in rubric.criteria},
        "concerns": list(concerns),
        "recommended_action": "Address the concerns." if concerns else "None.",
    }


class _InOrder:
    def __init__(self, answers: Iterable[object]) -> None:
        self._remaining = iter(list(answers))

    def __call__(self, request: JudgeRequest) -> object:
        for answer in self._remaining:
            return answer
        raise AssertionError(f"the script has run out; asked about: {request.output[:200]!r}")
