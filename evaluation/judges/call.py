"""One call of a judge: what it is shown, and what comes of whatever it does."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from copy import deepcopy
from dataclasses import dataclass, replace

from evaluation.judges.answers import as_text
from evaluation.judges.failures import JudgeFailure, failure_of
from evaluation.judges.rubrics import rubric_for
from evaluation.plugins import AnyJudge, AsyncJudge, Judge, JudgeRequest
from evaluation.results.state import EvaluationState

_NO_JUDGE = JudgeFailure("not_configured", "a judge is needed and none is configured")


@dataclass(frozen=True, slots=True)
class Answered:
    """What a judge returned, unread, as text."""

    answer: str


def request_of(state: EvaluationState) -> JudgeRequest:
    """Say what a judge is shown of a run."""
    return JudgeRequest(
        rubric=rubric_for(state),
        input=str(state["agent_run"].get("input", "")),
        output=state["actual_output"],
        reference=state["reference_output"],
        actions=tuple(state["actual_trajectory"]),
    )


def ask(judge: AnyJudge, request: JudgeRequest) -> object:
    """Ask, and wait; what has to be awaited runs in a loop of its own. Raises what the judge raises."""
    answer = judge.judge(request) if isinstance(judge, Judge) else judge.ajudge(request)
    return _to_its_end(answer) if inspect.isawaitable(answer) else answer


async def aask(judge: AnyJudge, request: JudgeRequest) -> object:
    """Ask without blocking the loop; a judge that has only ``judge`` runs in a thread."""
    if isinstance(judge, AsyncJudge):
        return await judge.ajudge(request)
    # The error comes back as a value: a StopIteration out of a thread would never arrive.
    answer = await asyncio.to_thread(_outcome, judge, request)
    if isinstance(answer, _Raised):
        raise answer.error
    return answer


def call(judge: AnyJudge | None, request: JudgeRequest) -> Answered | JudgeFailure:
    """Ask, and turn whatever happens into an answer or a failure."""
    if judge is None:
        return _NO_JUDGE
    try:
        return _answered(ask(judge, _own(request)))
    except Exception as error:  # noqa: BLE001 - a judge is the caller's code and may raise anything
        return failure_of(error)


async def acall(judge: AnyJudge | None, request: JudgeRequest) -> Answered | JudgeFailure:
    """Ask without blocking the loop, and turn whatever happens into an answer or a failure."""
    if judge is None:
        return _NO_JUDGE
    try:
        return _answered(await aask(judge, _own(request)))
    except Exception as error:  # noqa: BLE001 - a judge is the caller's code and may raise anything
        return failure_of(error)


def _own(request: JudgeRequest) -> JudgeRequest:
    """Copy what a judge could change: the record is not its own, nor what the next judge is shown."""
    return replace(request, actions=deepcopy(request.actions), rubric=request.rubric.model_copy(deep=True))


@dataclass(frozen=True, slots=True)
class _Raised:
    error: Exception


def _outcome(judge: Judge, request: JudgeRequest) -> object:
    try:
        return ask(judge, request)
    except Exception as error:  # noqa: BLE001 - raised again by who asked
        return _Raised(error)


def _to_its_end(answer: Awaitable[object]) -> object:
    """Await from blocking code, also where a loop runs already (a notebook): then in a thread beside it."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_awaited(answer))
    with ThreadPoolExecutor(1, thread_name_prefix="evaluation-judge") as pool:
        return pool.submit(copy_context().run, asyncio.run, _awaited(answer)).result()


async def _awaited(answer: Awaitable[object]) -> object:
    return await answer


def _answered(raw: object) -> Answered | JudgeFailure:
    text = as_text(raw)
    return text if isinstance(text, JudgeFailure) else Answered(text)
