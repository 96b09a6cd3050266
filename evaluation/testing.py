"""Judges for tests that need no model: scripted, constant, failing. Each records its requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from evaluation.contract.rubric import Rubric
from evaluation.errors import JudgeError, JudgeFailureKind
from evaluation.plugins import JudgeRequest
from evaluation.sensitive.scanner import shorten
from evaluation.values import JsonObject


class ScriptedJudge:
    """A judge that answers from a script.

    Args:
        script: The answers in order (an exception is raised), or a function from the request to an answer.
            AssertionError is raised if no answer is left.

    Attributes:
        requests: All requests, in order.
    """

    def __init__(self, script: Iterable[object] | Callable[[JudgeRequest], object]) -> None:
        self.requests: list[JudgeRequest] = []
        self._script = script if callable(script) else _answer_in_order(script)

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


class DeterministicJudge(ScriptedJudge):
    """A judge that always gives the same score, on the rubric's scale."""

    def __init__(self, score: float) -> None:
        super().__init__(lambda request: judge_answer(request.rubric, score))


class FailingJudge(ScriptedJudge):
    """A judge that always fails.

    Args:
        failure: The exception to raise, or the kind of a ``JudgeError``.
    """

    def __init__(self, failure: Exception | JudgeFailureKind = "provider_failure") -> None:
        error = failure if isinstance(failure, Exception) else JudgeError("this judge always fails", failure)
        super().__init__(lambda _: error)


def judge_answer(rubric: Rubric, score: float, rationale: str = "As expected.") -> JsonObject:
    """Build an answer with the same score for every criterion of ``rubric``."""
    return {
        "score": score,
        "rationale": rationale,
        "criteria": {criterion.name: score for criterion in rubric.criteria},
    }


def _answer_in_order(answers: Iterable[object]) -> Callable[[JudgeRequest], object]:
    remaining = iter(list(answers))

    def answer_next(request: JudgeRequest) -> object:
        problem = f"no answer is left in the script for the request about {shorten(request.output, 200)!r}"
        return next(remaining, AssertionError(problem))

    return answer_next
