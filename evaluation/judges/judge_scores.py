"""Reads a judge's answer as one JSON object and its score, or says why it has none; sums the cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Final, TypeGuard

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo
from pydantic_core import PydanticCustomError

from agents.parsing.loose_json import is_one_object, load_json, unwrap_fence
from agents.parsing.thoughts import remove_marked_thoughts
from agents.parsing.verdicts import find_denial
from evaluation.contract.contract import Rubric, Scale
from evaluation.errors import JudgeError, JudgeFailureKind
from evaluation.patterns import find_schema_problem
from evaluation.plugins import Price
from evaluation.sensitive.scanner import describe_error, shorten
from evaluation.validation import copy_json
from evaluation.values import JsonObject, as_list, as_object, format_numbers

MAX_ANSWER: Final = 100_000
"""Maximum length of an answer in characters."""
_LARGEST: Final = 1e300
NO_OBJECT: Final = "the answer contains no JSON object that can be read, or one with a key that occurs twice"
NOT_ALONE: Final = "the answer is not one JSON object alone: it has other text or other objects"


@dataclass(frozen=True, slots=True)
class JudgeFailure:
    """Why a judge's answer gives no score. It is an error of the judge, never a bad score for the agent.

    Attributes:
        kind: The kind of error.
        reason: One sentence.
        usage: The cost of the call.
        details: Any other JSON values.
    """

    kind: JudgeFailureKind
    reason: str
    usage: Mapping[str, object] = field(default_factory=dict)
    details: JsonObject = field(default_factory=dict)


def failure_from_error(error: Exception) -> JudgeFailure:
    """Describes an exception of a judge. Its text is shortened and redacted, since it may quote the run."""
    text = describe_error(error)
    if isinstance(error, JudgeError):
        return JudgeFailure(error.kind, text, error.usage, error.details)
    return JudgeFailure("provider_failure", f"{type(error).__name__}: {text}")


def format_answer(raw: object) -> str | JudgeFailure:
    """Writes an answer as text. It may be an object of JSON values, a pydantic model or text already."""
    if isinstance(raw, str):
        return raw[: MAX_ANSWER + 1]
    if not isinstance(raw, Mapping | BaseModel):
        return JudgeFailure("malformed", f"the answer is a {type(raw).__name__}, not a JSON object")
    try:
        value = raw.model_dump(mode="json", warnings=False) if isinstance(raw, BaseModel) else dict(raw)
        return json.dumps(value, allow_nan=False)[: MAX_ANSWER + 1]
    except (TypeError, ValueError, RecursionError) as error:
        return JudgeFailure(
            "malformed", f"the answer contains a value that is not JSON ({type(error).__name__})"
        )


def read_object(raw: object) -> JsonObject | JudgeFailure:
    """Reads the only object of an answer.

    A text has to be the object and nothing else, after the thoughts of a reasoning model. It may be in a code
    fence. An object that is cut off is a failure, and so is one among other text or other objects, since it
    may be quoted, and a key twice.
    """
    text = format_answer(raw)
    if isinstance(text, JudgeFailure):
        return text
    if len(text) > MAX_ANSWER:
        return JudgeFailure("malformed", f"the answer is longer than {MAX_ANSWER} characters")
    document = unwrap_fence(remove_marked_thoughts(text))
    value = load_json(document)
    copied = copy_json(value) if isinstance(value, dict) else None
    if copied:
        return as_object(copied[0])
    is_among_others = "{" in document and not is_one_object(document)
    return JudgeFailure("malformed", NOT_ALONE if is_among_others else NO_OBJECT)


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
    sent, received = _read_amount(usage.get("input_tokens")), _read_amount(usage.get("output_tokens"))
    if price is None or "cost_usd" in usage or sent is None or received is None:
        return usage
    return {**usage, "cost_usd": price.cost(sent, received), "cost_source": "estimated"}


def sum_usage(usages: Sequence[JsonObject]) -> JsonObject:
    """Sums the usage of several calls.

    Returns:
        ``calls``, the sums of the reported numbers, ``model`` (the names, if there are several), and
        ``unreported``: the number of calls without tokens, which the sums lack.
    """
    amounts = {name: [_read_amount(usage.get(name)) for usage in usages] for name in _SUMMED}
    known = {name: [amount for amount in values if amount is not None] for name, values in amounts.items()}
    sums: JsonObject = {name: sum(values) for name, values in known.items() if values}
    models = sorted({str(usage["model"]) for usage in usages if usage.get("model")})
    silent = amounts["input_tokens"].count(None)
    named = {"model": ", ".join(models)} if models else {}
    return {"calls": len(usages), **sums, **named, **({"unreported": silent} if silent else {})}


def _read_amount(value: object) -> float | None:
    # bool is a subclass of int.
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


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
        objection: Why the answer cannot approve, for instance because it contradicts itself; None if it can.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    criteria: dict[str, _Score] = Field(default_factory=dict)
    score: _Score
    rationale: Annotated[str, AfterValidator(_require_words)]
    concerns: list[str] = Field(default_factory=list)
    recommended_action: str | None = None
    usage: dict[str, object] = Field(default_factory=dict)
    details: dict[str, object] = Field(default_factory=dict)
    objection: JudgeFailure | None = None


FIELDS: Final = frozenset(JudgeScore.model_fields) - {"details", "objection"}
"""The fields that every answer may have. All others are details."""


def read_judge_result(raw: object, rubric: Rubric) -> JudgeScore | JudgeFailure:
    """Checks an answer: an object of JSON values, a pydantic model, or JSON text.

    An approval is a failure if the answer denies the success in another field or lacks the score of a
    criterion. A failure is returned as it is.
    """
    answer = raw if isinstance(raw, JudgeFailure) else read_object(raw)
    if isinstance(answer, JudgeFailure):
        return answer
    try:
        score = JudgeScore.model_validate(_select_fields(answer, rubric), context=rubric.scale)
    except ValidationError as error:
        return replace(_describe_fault(error), usage=as_object(answer.get("usage")))
    problem = _find_schema_problem(answer, rubric)
    if problem is not None:
        return JudgeFailure("malformed", f"against the rubric's schema: {problem}", score.usage)
    objection = _find_objection(answer, score, rubric)
    return refuse_approval(score.model_copy(update={"objection": objection}), rubric.lowest_passing)


def refuse_approval(result: JudgeScore | JudgeFailure, lowest: float) -> JudgeScore | JudgeFailure:
    """Turns an answer with an objection into a failure if its score is at least ``lowest``."""
    if isinstance(result, JudgeFailure) or result.objection is None or result.score < lowest:
        return result
    # The judge's words help the person who has to review the run.
    details = {**result.details, "score": result.score, "rationale": result.rationale}
    return replace(result.objection, usage=result.usage, details=details)


def _select_fields(answer: JsonObject, rubric: Rubric) -> dict[str, object]:
    """Selects the fields of an answer; a field that is null is left out."""
    fields = {name: answer[name] for name in FIELDS if answer.get(name) is not None}
    criteria = fields.get("criteria")
    if isinstance(criteria, Mapping):
        fields["criteria"] = {each.name: criteria.get(each.name) for each in rubric.criteria}
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
    if not score.criteria and len(rubric.criteria) > 1:
        return JudgeFailure("missing_score", "the answer has no 'criteria' with a score for each criterion")
    if score.criteria and max(score.criteria.values()) < rubric.lowest_passing:
        return JudgeFailure("malformed", f"the answer scores {score.score:g}, and no criterion passes")
    denial = find_denial(answer, ignored=_NO_VERDICTS)
    if denial is None:
        return None
    quoted = shorten(denial, _LONGEST_DENIAL)
    return JudgeFailure("malformed", f"the answer scores {score.score:g} and contradicts itself: {quoted}")
