"""Reads a judge's answer as one JSON object and its score, or says why it has none; sums the cost."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Annotated, Final, TypeGuard

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo
from pydantic_core import PydanticCustomError

from agents.parsing.loose_json import (
    is_one_object,
    load_or_repair,
    unwrap_fence,
)
from agents.parsing.thoughts import remove_marked_thoughts
from agents.parsing.verdicts import find_denial, iter_fields, normalize_name
from evaluation.contract.contract import Rubric, Scale
from evaluation.errors import JudgeError, JudgeFailureKind
from evaluation.patterns.json_schema import find_schema_problem
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


@dataclass(frozen=True, slots=True)
class ObjectRead:
    """The object of an answer.

    Attributes:
        value: The object.
        repaired: Whether the text was not JSON before it was repaired.
    """

    value: JsonObject
    repaired: bool = False


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


def read_object(raw: object) -> ObjectRead | JudgeFailure:
    """Reads the only object of an answer.

    A text has to be the object and nothing else, after the thoughts of a reasoning model. It may be in a code
    fence. An object that is not quite JSON is repaired, and marked as repaired. An object that is cut off is
    a failure, and so is one among other text or other objects, since it may be quoted, and a key twice.
    """
    text = format_answer(raw)
    if isinstance(text, JudgeFailure):
        return text
    if len(text) > MAX_ANSWER:
        return JudgeFailure("malformed", f"the answer is longer than {MAX_ANSWER} characters")
    document = unwrap_fence(remove_marked_thoughts(text))
    value, is_guess = load_or_repair(document)
    # A guess may leave out the text around an object, or a second object.
    is_alone = not is_guess or is_one_object(document)
    copied = copy_json(value) if isinstance(value, dict) and is_alone and (value or not is_guess) else None
    if copied:
        return ObjectRead(as_object(copied[0]), repaired=is_guess)
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


_NO_VERDICTS: Final = ("criteria", "concerns", "usage", "panel")
"""The fields that state no verdict: numbers, doubts, cost, and the votes of a panel."""
_SCORES: Final = frozenset({"score", "overall", "rating", "grade"})
_VERDICTS: Final = frozenset({"final", "verdict", "result", "evaluation", "assessment", "judgment"}) | _SCORES
"""The fields whose objects may state an overall score once more."""
_FIRST_NUMBER: Final = re.compile(r"\s*(-?\d{1,9}(?:\.\d{1,9})?)")
_LONGEST_DENIAL: Final = 80
_ROUNDING_SHARE: Final = 0.125
"""Share of the scale by which rounding may move a score: half a point on a scale from 1 to 5."""


def find_contradiction(
    answer: JsonObject, score: float, criteria: Mapping[str, float], rubric: Rubric
) -> str | None:
    """Finds a reason why an answer with these scores cannot approve. Returns None if there is none.

    An answer contradicts itself if a field denies the success (``"verdict": "fail"``), if it states a lower
    score once more, or if the criteria do not explain the score. Rounding explains an eighth of the scale.
    """
    denial = find_denial(answer, ignored=_NO_VERDICTS)
    if denial is not None:
        return f"the answer scores {score:g} and contradicts itself: {shorten(denial, _LONGEST_DENIAL)}"
    rounding = _compute_rounding(rubric.scale)
    stated = criteria or {rubric.criteria[0].name: score}
    restated = (*_iter_overall(answer, score), *_iter_criteria(answer, stated))
    other = next((name for name, value, least in restated if not value + rounding >= least), None)
    if other is not None:
        return f"the answer scores {score:g} and contradicts itself in {other!r}"
    return _find_unexplained(as_object(answer.get("criteria")), score, criteria, rubric)


def _compute_rounding(scale: Scale) -> float:
    return _ROUNDING_SHARE * (scale.max - scale.min)


def _iter_overall(answer: JsonObject, score: float) -> Iterator[tuple[str, float, float]]:
    """Yields each other overall score: its name, its value, and the score that it may not contradict."""
    fields = [(name, value) for name, value in answer.items() if name != "score"]
    inner = [as_object(value).items() for name, value in fields if normalize_name(name) in _VERDICTS]
    for name, value in [*fields, *(pair for part in inner for pair in part)]:
        number = _FIRST_NUMBER.match(str(value))
        # A boolean is no score, so it cannot confirm one.
        if normalize_name(name) in _SCORES and (number or isinstance(value, bool)):
            yield name, float(number[1]) if number else math.nan, score


def _iter_criteria(answer: JsonObject, criteria: Mapping[str, float]) -> Iterator[tuple[str, float, float]]:
    """Yields each score of a criterion outside of ``criteria``, with the score that it may not contradict."""
    least = {normalize_name(name): score for name, score in criteria.items()}
    others = {name: value for name, value in answer.items() if name not in {*_NO_VERDICTS, "score"}}
    for name, value in iter_fields(others):
        criterion = normalize_name(name)
        if criterion in least and is_number(value):
            yield name, value, least[criterion]


def _find_unexplained(
    written: JsonObject, score: float, criteria: Mapping[str, float], rubric: Rubric
) -> str | None:
    """Compares an overall score with the weighted mean of its criteria."""
    if not criteria:
        return None
    mean = fmean(criteria.values(), [criterion.weight for criterion in rubric.criteria])
    is_near = score - mean <= _compute_rounding(rubric.scale)
    numbers = list(filter(is_number, written.values()))
    # A criterion that the rubric does not have has no weight, so it cannot explain anything.
    if is_near and len(numbers) == len(criteria):
        return None
    if min(numbers) > rubric.scale.min and (is_near or mean >= rubric.lowest_passing):
        return None
    stated, explained = format_numbers(score, mean)
    return f"the criteria do not explain the score {stated}: their mean is {explained}"


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
