"""Chooses the rubric of a run, and calls a judge; its exception becomes a failure."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Iterable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Final

from agents.sync import run_in_thread, run_sync
from evaluation.contract.contract import Criterion, Rubric
from evaluation.findings import Finding
from evaluation.importers.imported_message import content_texts
from evaluation.judges.judge_scores import JudgeFailure, failure_from_error, format_answer
from evaluation.plugins import AnyJudge, AsyncJudge, FunctionJudge, Judge, JudgeRequest, Turn
from evaluation.report.state import EvaluationState, read_demands
from evaluation.values import JsonObject, as_list, as_object

SUBJECTIVE: Final[Mapping[str, str]] = {
    "helpfulness": "Does the output do for the user what the input asks for?",
    "neutrality": "Is the output free of bias, leading words and taking sides?",
    "clarity": "Can the intended reader understand the output at the first reading?",
    "correctness": "Does the output agree with the reference, or if there is none, fulfil the input?",
}
"""The questions of well-known criteria. Any other name has no description."""


def choose_rubric(state: EvaluationState) -> Rubric:
    """Chooses the rubric for a run, with the contract's subjective criteria added."""
    rules = read_demands(state).rules
    names, rubric = rules.subjective_criteria, rules.rubric
    if rubric is None:
        names = names or ["correctness"]
        return Rubric(name=", ".join(names), criteria=_build_criteria(names))
    known = {criterion.name for criterion in rubric.criteria}
    more = _build_criteria(name for name in names if name not in known)
    return rubric.model_copy(update={"criteria": [*rubric.criteria, *more]})


def _build_criteria(names: Iterable[str]) -> list[Criterion]:
    return [Criterion(name=name, description=SUBJECTIVE.get(name, "")) for name in dict.fromkeys(names)]


LEGAL_SURVEY: Final = Rubric.model_validate_json(Path(__file__).with_name("legal_survey.json").read_bytes())
"""Five criteria of equal weight on a scale from 1 to 5. The answer also has detailed feedback."""


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
        checks=tuple(_describe_check(finding) for finding in state["findings"] if finding.check),
    )


def _describe_check(finding: Finding) -> str:
    verdict = {True: "met", False: "not met", None: "undecided"}[finding.passed]
    return f"{finding.limit}: {verdict}; {finding.observed}"


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


async def aask_judge(judge: AnyJudge, request: JudgeRequest) -> object:
    """Asks a judge without blocking the loop: in a thread, if it only has ``judge``. Raises its errors."""
    if isinstance(judge, AsyncJudge):
        return await judge.ajudge(request)
    answer = await run_in_thread(lambda: judge.judge(request))
    return await answer if inspect.isawaitable(answer) else answer


def call_judge(judge: AnyJudge | None, request: JudgeRequest) -> str | JudgeFailure:
    """Asks a judge from blocking code; returns its answer as text, or its failure."""
    if judge is None:
        return _NO_JUDGE
    try:
        answer = judge.judge(request) if isinstance(judge, Judge) else judge.ajudge(request)
        return format_answer(run_sync(lambda: _await(answer)) if inspect.isawaitable(answer) else answer)
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


async def _await(answer: Awaitable[object]) -> object:
    return await answer
