"""Calls a judge with the rubric of a run, reads its answer as one JSON object, and sums the cost."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Annotated, Final, TypeGuard

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo
from pydantic_core import PydanticCustomError

from agents.parsing.loose_json import is_one_object, load_json, unwrap_fence
from agents.parsing.thoughts import remove_marked_thoughts
from agents.parsing.verdicts import find_denial
from agents.sync import run_in_thread, run_sync
from evaluation.contract.rubric import Criterion, Rubric, Scale
from evaluation.errors import JudgeError, JudgeFailureKind
from evaluation.findings import Finding
from evaluation.importers.imported_message import content_texts
from evaluation.patterns import find_schema_problem
from evaluation.plugins import AnyJudge, AsyncJudge, Judge, JudgeRequest, Price, Turn
from evaluation.report.report_model import PreparedState
from evaluation.sensitive.scanner import shorten
from evaluation.validation import copy_json
from evaluation.values import JsonObject, as_list, as_object, format_numbers

MAX_ANSWER: Final = 100_000
"""Maximum length of an answer in characters."""
_LARGEST: Final = 1e300
NO_OBJECT: Final = "the answer contains no JSON object that can be read, or one with a key that occurs twice"
NOT_ALONE: Final = "the answer is not one JSON object alone: it has other text or other objects"


def format_answer(raw: object) -> str:
    """Writes an answer as text. It may be an object of JSON values, a pydantic model or text already.

    Raises:
        JudgeError: It is anything else.
    """
    if isinstance(raw, str):
        return raw[: MAX_ANSWER + 1]
    if not isinstance(raw, Mapping | BaseModel):
        raise JudgeError(f"the answer is a {type(raw).__name__}, not a JSON object", "malformed")
    try:
        value = raw.model_dump(mode="json", warnings=False) if isinstance(raw, BaseModel) else dict(raw)
        return json.dumps(value, allow_nan=False)[: MAX_ANSWER + 1]
    except (TypeError, ValueError, RecursionError) as error:
        problem = f"the answer contains a value that is not JSON ({type(error).__name__})"
        raise JudgeError(problem, "malformed") from None


def read_object(raw: object) -> JsonObject:
    """Reads the only object of an answer.

    A text has to be the object and nothing else, after the thoughts of a reasoning model. It may be in a code
    fence. An object among other text or other objects may be quoted.

    Raises:
        JudgeError: There is no such object, it is cut off, or it has a key twice.
    """
    text = format_answer(raw)
    if len(text) > MAX_ANSWER:
        raise JudgeError(f"the answer is longer than {MAX_ANSWER} characters", "malformed")
    document = unwrap_fence(remove_marked_thoughts(text))
    value = load_json(document)
    copied = copy_json(value) if isinstance(value, dict) else None
    if copied:
        return as_object(copied[0])
    is_among_others = "{" in document and not is_one_object(document)
    raise JudgeError(NOT_ALONE if is_among_others else NO_OBJECT, "malformed")


def copy_json_object(value: object) -> JsonObject:
    """Copies an object of JSON values. Returns an empty object for anything else."""
    copied = copy_json(value)
    return as_object(copied[0]) if copied else {}


def is_number(value: object) -> TypeGuard[float]:
    """Checks whether a value is a number that a float can hold; a boolean is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST


_SUMMED: Final = ("input_tokens", "output_tokens", "cost_usd")


def add_cost(usage: JsonObject, prices: Mapping[str, Price]) -> JsonObject:
    """Adds ``cost_usd``, estimated from the tokens, if no cost is reported and the model has a price."""
    price = prices.get(str(usage.get("model")))
    sent, received = usage.get("input_tokens"), usage.get("output_tokens")
    if price is None or "cost_usd" in usage or not (is_number(sent) and is_number(received)):
        return usage
    return {**usage, "cost_usd": price.cost(sent, received), "cost_source": "estimated"}


def sum_usage(usages: Sequence[JsonObject]) -> JsonObject:
    """Sums the reported numbers of several calls; adds their number as ``calls``."""
    reported = {name: [*filter(is_number, [usage.get(name) for usage in usages])] for name in _SUMMED}
    sums = {name: sum(amounts) for name, amounts in reported.items() if amounts}
    return {**usages[-1], **sums, "calls": len(usages)}


_NO_VERDICTS: Final = ("criteria", "concerns", "usage")
"""The fields that state no verdict: numbers, doubts and cost."""
_LONGEST_DENIAL: Final = 80


def _require_scale(score: float, info: ValidationInfo) -> float:
    scale = info.context
    if isinstance(scale, Scale) and not scale.min <= score <= scale.max:
        observed, low, high = format_numbers(score, scale.min, scale.max)
        raise PydanticCustomError("out_of_range", f"{observed}, not within {low} to {high}")
    return score


def _require_words(text: str) -> str:
    # Punctuation alone, such as ".", gives no reason.
    if not any(character.isalnum() for character in text):
        raise PydanticCustomError("no_words", "blank")
    return text


_Score = Annotated[float, AfterValidator(_require_scale)]


class JudgeScore(BaseModel):
    """A checked answer: all scores are on the rubric's scale.

    Attributes:
        criteria: A score for each of the rubric's criteria, or empty.
        score: The overall score.
        rationale: The reason.
        concerns: Doubts about the run.
        recommended_action: What to do next.
        usage: The cost of the call.
        details: All other fields of the answer.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    criteria: dict[str, _Score] = Field(default_factory=dict)
    score: _Score
    rationale: Annotated[str, AfterValidator(_require_words)]
    concerns: list[str] = Field(default_factory=list)
    recommended_action: str | None = None
    usage: dict[str, object] = Field(default_factory=dict)
    details: dict[str, object] = Field(default_factory=dict)


FIELDS: Final = frozenset(JudgeScore.model_fields) - {"details"}
"""The fields that every answer may have. All others are details."""


def read_judge_result(raw: object, rubric: Rubric, lowest: float = math.inf) -> JudgeScore:
    """Checks an answer: an object of JSON values, a pydantic model, or JSON text.

    Args:
        raw: The answer.
        rubric: The rubric that it scores by.
        lowest: A score that approves, if it is lower than the rubric's.

    Raises:
        JudgeError: The answer cannot be used, or it approves although it denies the success in another field
            or lacks the score of a criterion.
    """
    answer = read_object(raw)
    try:
        score = JudgeScore.model_validate(_select_fields(answer, rubric), context=rubric.scale)
    except ValidationError as error:
        kind, reason = _describe_fault(error)
        raise JudgeError(reason, kind, usage=as_object(answer.get("usage"))) from None
    problem = _find_schema_problem(answer, rubric)
    if problem is not None:
        reason = f"against the rubric's schema: {problem}"
        raise JudgeError(reason, "malformed", usage=score.usage)
    if score.score >= min(lowest, rubric.lowest_passing):
        _refuse_objection(answer, score, rubric)
    return score


def _select_fields(answer: JsonObject, rubric: Rubric) -> dict[str, object]:
    """Selects the fields of an answer; a field that is null is left out."""
    fields = {name: answer[name] for name in FIELDS if answer.get(name) is not None}
    criteria = fields.get("criteria")
    if isinstance(criteria, Mapping):
        fields["criteria"] = {each.name: criteria.get(each.name) for each in rubric.criteria}
    fields["usage"] = as_object(answer.get("usage"))
    return {**fields, "details": {name: value for name, value in answer.items() if name not in FIELDS}}


def _describe_fault(error: ValidationError) -> tuple[JudgeFailureKind, str]:
    first = error.errors(include_url=False)[0]
    name, value = ".".join(map(str, first["loc"])), first["input"]
    if name == "rationale":
        return "missing_rationale", "the answer has no 'rationale' that says why"
    if first["type"] == "missing" or value is None:
        return "missing_score", f"the answer has no '{name}'"
    if first["type"] == "out_of_range":
        return "out_of_range", f"'{name}' is {first['msg']}"
    return "malformed", f"'{name}' is a {type(value).__name__}: {first['msg']}"


def _find_schema_problem(answer: JsonObject, rubric: Rubric) -> str | None:
    schema = rubric.json_schema
    if schema is None:
        return None
    # The usual fields are checked only if the rubric's schema mentions them.
    mentioned = {*as_object(schema.get("properties")), *as_list(schema.get("required"))}
    value = {name: part for name, part in answer.items() if name not in FIELDS or name in mentioned}
    return find_schema_problem(schema, value)


def _refuse_objection(answer: JsonObject, score: JudgeScore, rubric: Rubric) -> None:
    """Raises a ``JudgeError`` if an approval contradicts itself, or lacks the scores of its criteria."""
    kind: JudgeFailureKind = "malformed"
    denial = find_denial({name: answer[name] for name in answer if name not in _NO_VERDICTS})
    if not score.criteria and len(rubric.criteria) > 1:
        kind, reason = "missing_score", "the answer has no 'criteria' with a score for each criterion"
    elif score.criteria and max(score.criteria.values()) < rubric.lowest_passing:
        reason = f"the answer scores {score.score:g}, and no criterion passes"
    elif denial is not None:
        quoted = shorten(denial, _LONGEST_DENIAL)
        reason = f"the answer scores {score.score:g} and contradicts itself: {quoted}"
    else:
        return
    # The judge's words help the person who has to review the run.
    details = {**score.details, "score": score.score, "rationale": score.rationale}
    raise JudgeError(reason, kind, usage=score.usage, details=details)


SUBJECTIVE: Final[Mapping[str, str]] = {
    "helpfulness": "Does the output do for the user what the input asks for?",
    "neutrality": "Is the output free of bias, leading words and taking sides?",
    "clarity": "Can the intended reader understand the output at the first reading?",
    "correctness": "Does the output agree with the reference, or if there is none, fulfil the input?",
}
"""The questions of well-known criteria. Any other name has no description."""


def choose_rubric(state: PreparedState) -> Rubric:
    """Chooses the rubric for a run, with the contract's subjective criteria added."""
    rules = state["demands"].rules
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


def build_request(state: PreparedState) -> JudgeRequest:
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


def _read_conversation(state: PreparedState) -> tuple[Turn, ...]:
    """Reads the messages before the output; empty if they say no more than the rest of the request."""
    messages = map(as_object, as_list(state["agent_run"].get("messages")))
    # The answers of tools are among the actions.
    left_out = "tool" if state["actual_trajectory"] else None
    turns = [turn for turn in map(_read_turn, messages) if turn["role"] != left_out]
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


def ask_judge(judge: AnyJudge, request: JudgeRequest) -> object:
    """Asks a judge from blocking code. Raises its errors."""
    answer = judge.judge(request) if isinstance(judge, Judge) else judge.ajudge(request)
    return run_sync(lambda: _await(answer)) if inspect.isawaitable(answer) else answer


async def _await(answer: Awaitable[object]) -> object:
    return await answer
