"""Calls a judge, and turns its result or its exception into an answer or a failure."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable
from copy import deepcopy
from typing import Final

from agents.sync import run_in_thread, run_sync
from evaluation.importers.imported_message import content_texts
from evaluation.judges.answers import JudgeFailure, failure_from_error, format_answer
from evaluation.judges.rubrics import choose_rubric
from evaluation.plugins import AnyJudge, AsyncJudge, FunctionJudge, Judge, JudgeRequest, Turn
from evaluation.results.findings import CheckRecord
from evaluation.results.state import EvaluationState
from evaluation.values import JsonObject, as_list, as_object

_MEDIA: Final = re.compile(
    r"(?:input_|output_)?(?:image|audio|video|file|document|media)(?:_url|_data)?|inline_?data|file_?data",
    re.IGNORECASE,
)
"""The type or a key of a part of a message that is no text."""
_NO_JUDGE: Final = JudgeFailure("not_configured", "a judge is needed and none is configured")


def choose_judge(state: EvaluationState, judge: AnyJudge | None) -> AnyJudge | None:
    """Returns the judge, or if there is none, a judge that gives the fake response of the case."""
    response = state["fake_judge_response"]
    return FunctionJudge(lambda _: response) if judge is None and response is not None else judge


def build_request(state: EvaluationState) -> JudgeRequest:
    """Builds the judge's view of a run."""
    return JudgeRequest(
        rubric=choose_rubric(state),
        input=str(state["agent_run"].get("input", "")),
        output=state["actual_output"],
        reference=state["reference_output"],
        actions=tuple(deepcopy(state["actual_trajectory"])),  # a judge must not change the record
        conversation=_read_conversation(state),
        checks=tuple(map(_describe_check, state["check_results"])),
    )


def _describe_check(record: CheckRecord) -> str:
    verdict = {True: "met", False: "not met", None: "undecided"}[record["passed"]]
    return f"{record['wanted']}: {verdict}; {record['seen']}"


def _read_conversation(state: EvaluationState) -> tuple[Turn, ...]:
    """Reads the messages before the output; empty if they say no more than the rest of the request."""
    messages = map(as_object, as_list(state["agent_run"].get("messages")))
    # The answers of tools are among the actions.
    turns = [
        _read_turn(message)
        for message in messages
        if message.get("role") != "tool" or not state["actual_trajectory"]
    ]
    shown = [turn for turn in turns if turn["content"].strip() or turn["media"]]
    if shown[-1:] == [Turn(role="assistant", content=state["actual_output"], media=[])]:
        shown.pop()
    said = str(state["agent_run"].get("input", "")).strip()
    is_known = all(turn["content"].strip() == said and not turn["media"] for turn in shown)
    return () if is_known else tuple(shown)


def _read_turn(message: JsonObject) -> Turn:
    parts = map(as_object, as_list(message.get("content")))
    names = [next(filter(_MEDIA.fullmatch, [str(part.get("type")), *part]), None) for part in parts]
    return Turn(
        role=str(message.get("role")),
        content="\n".join(content_texts(message.get("content"))),
        media=[name for name in names if name],
    )


def ask_judge(judge: AnyJudge, request: JudgeRequest) -> object:
    """Asks a judge from blocking code. Raises the judge's exceptions."""
    answer = judge.judge(request) if isinstance(judge, Judge) else judge.ajudge(request)
    return run_sync(lambda: _await_answer(answer)) if inspect.isawaitable(answer) else answer


async def aask_judge(judge: AnyJudge, request: JudgeRequest) -> object:
    """Like ``ask_judge``, without blocking the loop: in a thread, if the judge has only ``judge``."""
    if isinstance(judge, AsyncJudge):
        return await judge.ajudge(request)
    return await run_in_thread(lambda: ask_judge(judge, request))


def call_judge(judge: AnyJudge | None, request: JudgeRequest) -> str | JudgeFailure:
    """Asks a judge. Returns the answer as text, or the failure; never raises."""
    if judge is None:
        return _NO_JUDGE
    try:
        return format_answer(ask_judge(judge, request))
    except Exception as error:  # noqa: BLE001 - a judge is the user's code and may raise anything
        return failure_from_error(error)


async def acall_judge(judge: AnyJudge | None, request: JudgeRequest) -> str | JudgeFailure:
    """Asks a judge without blocking the loop; returns as ``call_judge`` does."""
    if judge is None:
        return _NO_JUDGE
    try:
        return format_answer(await aask_judge(judge, request))
    except Exception as error:  # noqa: BLE001 - a judge is the user's code and may raise anything
        return failure_from_error(error)


async def _await_answer(answer: Awaitable[object]) -> object:
    return await answer
