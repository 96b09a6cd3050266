"""Judges for tests that need no model: scripted, rule-based, failing. Each records its requests."""

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
        script: The answers in order (an exception is raised), or a function from the request to an answer.
            AssertionError is raised if no answer is left.

    Attributes:
        requests: All requests, in order.
    """

    def __init__(self, script: JudgeScript) -> None:
        self.requests: list[JudgeRequest] = []
        self._script: Callable[[JudgeRequest], object] = script if callable(script) else _InOrder(script)

    def judge(self, request: JudgeRequest) -> object:
        """Return the next answer of the script."""
        self.requests.append(request)
        answer = self._script(request)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def ajudge(self, request: JudgeRequest) -> object:
        """Return the next answer of the script; a function runs in a thread, because it may block."""
        return await asyncio.to_thread(self.judge, request)


class DeterministicJudge:
    """A judge that scores by a rule: a fixed score, or the share of keywords in the output.

    Args:
        score: A fixed score on the rubric's scale.
        keywords: Words to find in the output, upper or lower case; the share that is found becomes a score
            on the rubric's scale. Give either ``score`` or ``keywords``.

    Attributes:
        requests: All requests, in order.

    Raises:
        ContractError: Both or neither are given.
    """

    def __init__(self, score: float | None = None, *, keywords: Sequence[str] = ()) -> None:
        if (score is None) == (not keywords):
            raise ContractError("a DeterministicJudge needs either a score or keywords")
        self.requests: list[JudgeRequest] = []
        self._score = score
        self._keywords = tuple(keywords)

    def judge(self, request: JudgeRequest) -> JsonObject:
        """Score the output by the rule."""
        self.requests.append(request)
        if self._score is not None:
            return judge_answer(request.rubric, self._score, f"The score is always {self._score:g}.")
        text = request.output.casefold()
        missing = [word for word in self._keywords if word.casefold() not in text]
        share = 1 - len(missing) / len(self._keywords)
        scale = request.rubric.scale
        rationale = (
            f"{len(self._keywords) - len(missing)} of {len(self._keywords)} keywords are in the output."
        )
        concerns = [f"{word!r} is missing" for word in missing]
        return judge_answer(request.rubric, scale.min + share * (scale.max - scale.min), rationale, concerns)

    async def ajudge(self, request: JudgeRequest) -> JsonObject:
        """Score the output by the rule."""
        return self.judge(request)


class FailingJudge:
    """A judge that always fails.

    Args:
        failure: The exception to raise, or the kind of a ``JudgeError``.

    Attributes:
        requests: All requests, in order.
    """

    def __init__(self, failure: Exception | JudgeFailureKind = "provider_failure") -> None:
        self.requests: list[JudgeRequest] = []
        self._failure = failure

    def judge(self, request: JudgeRequest) -> object:
        """Raise the failure.

        Raises:
            JudgeError: With the given kind; or the given exception.
        """
        self.requests.append(request)
        if isinstance(self._failure, Exception):
            raise self._failure
        raise JudgeError("this judge always fails", self._failure)

    async def ajudge(self, request: JudgeRequest) -> object:
        """Raise the failure, as ``judge`` does."""
        return self.judge(request)


def judge_answer(
    rubric: Rubric, score: float, rationale: str = "As expected.", concerns: Sequence[str] = ()
) -> JsonObject:
    """Build an answer with the same score for every criterion of ``rubric``."""
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
        raise AssertionError(
            f"no answer is left in the script for the request about {request.output[:200]!r}"
        )
