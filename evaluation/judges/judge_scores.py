"""Checks a judge's answer and reads its score, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo
from pydantic_core import PydanticCustomError

from evaluation.inputs.rubric import Rubric, Scale
from evaluation.judges.answers import JudgeFailure, ObjectRead, read_object
from evaluation.judges.contradictions import find_contradiction
from evaluation.patterns.json_schema import find_schema_problem
from evaluation.values import JsonObject, as_list, as_object, format_numbers

REPAIRED_APPROVAL: Final = "the answer is not JSON, and a repaired one cannot approve"


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
        repaired: Whether the text was not JSON before it was repaired.
        unseen: What of the run the judge could not see, in words; None if it saw all.
        details: All other fields of the answer.
        objection: Why the answer cannot approve, for instance because it contradicts itself; None if it can.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    criteria: dict[str, _Score] = Field(default_factory=dict)
    score: _Score
    rationale: Annotated[str, AfterValidator(_require_words)]
    concerns: list[str] = Field(default_factory=list)
    recommended_action: str | None = None
    usage: dict[str, object] = Field(default_factory=dict)
    repaired: bool = False
    unseen: str | None = None
    details: dict[str, object] = Field(default_factory=dict)
    objection: JudgeFailure | None = None


FIELDS: Final = frozenset({*JudgeScore.model_fields, "stated_score"} - {"details", "objection"})
"""The fields that every answer may have. All others are details."""


def read_judge_result(raw: object, rubric: Rubric) -> JudgeScore | JudgeFailure:
    """Checks an answer: an object of JSON values, a pydantic model, or JSON text.

    An approval is a failure if the answer had to be repaired, contradicts itself or lacks the score of a
    criterion. A failure is returned as it is.
    """
    read = raw if isinstance(raw, JudgeFailure) else read_object(raw)
    if isinstance(read, JudgeFailure):
        return read
    try:
        score = JudgeScore.model_validate(_select_fields(read, rubric), context=rubric.scale)
    except ValidationError as error:
        return replace(_describe_fault(error), usage=as_object(read.value.get("usage")))
    problem = _find_schema_problem(read.value, rubric)
    if problem is not None:
        return JudgeFailure("malformed", f"against the rubric's schema: {problem}", score.usage)
    objection = _find_objection(read.value, score, rubric)
    return refuse_approval(score.model_copy(update={"objection": objection}), rubric.lowest_passing)


def refuse_approval(result: JudgeScore | JudgeFailure, lowest: float) -> JudgeScore | JudgeFailure:
    """Turns an answer with an objection into a failure if its score is at least ``lowest``."""
    if isinstance(result, JudgeFailure) or result.objection is None or result.score < lowest:
        return result
    # The judge's words help the person who has to review the run.
    details = {**result.details, "score": result.score, "rationale": result.rationale}
    return replace(result.objection, usage=result.usage, details=details)


def _select_fields(read: ObjectRead, rubric: Rubric) -> dict[str, object]:
    """Selects the fields of an answer; a field that is null is left out."""
    answer = read.value
    fields = {name: answer[name] for name in FIELDS if answer.get(name) is not None}
    fields.pop("stated_score", None)
    criteria = fields.get("criteria")
    if isinstance(criteria, Mapping):
        fields["criteria"] = {each.name: criteria.get(each.name) for each in rubric.criteria}
    # RubricJudge returns an object, so it marks a repaired text in the object itself.
    # A mark of another type, such as the text "true", is a mark, too.
    fields["repaired"] = read.repaired or answer.get("repaired") not in (None, False)
    fields["unseen"] = str(answer["unseen"]) if answer.get("unseen") else None
    fields["usage"] = as_object(answer.get("usage"))
    return {**fields, "details": {name: value for name, value in answer.items() if name not in FIELDS}}


def _describe_fault(error: ValidationError) -> JudgeFailure:
    first = error.errors(include_url=False)[0]
    name, value = ".".join(map(str, first["loc"])), first["input"]
    if name == "rationale":
        return JudgeFailure("missing_rationale", "the answer has no 'rationale' that says why")
    if first["type"] == "missing" or value is None:
        return JudgeFailure("missing_score", f"the answer has no '{name}'")
    if first["type"] == "out_of_range":
        return JudgeFailure("out_of_range", f"'{name}' is {first['msg']}")
    return JudgeFailure("malformed", f"'{name}' is a {type(value).__name__}: {first['msg']}")


def _find_schema_problem(answer: JsonObject, rubric: Rubric) -> str | None:
    schema = rubric.json_schema
    if schema is None:
        return None
    # The usual fields are checked only if the rubric's schema mentions them.
    mentioned = {*as_object(schema.get("properties")), *as_list(schema.get("required"))}
    value = {name: part for name, part in answer.items() if name not in FIELDS or name in mentioned}
    return find_schema_problem(schema, value)


def _find_objection(answer: JsonObject, score: JudgeScore, rubric: Rubric) -> JudgeFailure | None:
    if score.repaired:
        return JudgeFailure("malformed", REPAIRED_APPROVAL)
    if not score.criteria and len(rubric.criteria) > 1:
        return JudgeFailure("missing_score", "the answer has no 'criteria' with a score for each criterion")
    problem = find_contradiction(answer, score.score, score.criteria, rubric)
    if problem is not None:
        return JudgeFailure("malformed", problem)
    if score.unseen:
        return JudgeFailure("partly_seen", f"it saw only a part of the run: {score.unseen}")
    return None
