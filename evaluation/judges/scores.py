"""From what a judge answered to a score that can be relied on, or to the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from evaluation.inputs.patterns import find_schema_problem
from evaluation.inputs.rules import Rubric, Scale
from evaluation.judges.answers import ObjectRead, read_object
from evaluation.judges.failures import JudgeFailure
from evaluation.values import JsonObject

PASS_SHARE: Final = 0.75
"""How far up its scale a score has to be, where the rubric does not say."""
REPAIRED_APPROVAL: Final = "the answer is no JSON, and a repaired one cannot approve"
FIELDS: Final = frozenset(
    {"score", "rationale", "criteria", "concerns", "recommended_action", "usage", "repaired"}
)
"""The fields that every answer may have; what else it holds are details."""


@dataclass(frozen=True, slots=True)
class JudgeScore:
    """A judge's answer, checked: the scores are on the rubric's scale."""

    score: float
    rationale: str
    criteria: Mapping[str, float]
    """By the rubric's criteria: of all, or empty."""
    concerns: tuple[str, ...]
    recommended_action: str | None
    usage: JsonObject
    details: JsonObject
    """What else the judge answered."""
    repaired: bool = False
    """Whether the text was no JSON until it was repaired; such an answer may refuse, never approve."""


def pass_score(rubric: Rubric) -> float:
    """Give the least overall score that passes."""
    scale = rubric.scale
    given = rubric.pass_score
    return scale.min + PASS_SHARE * (scale.max - scale.min) if given is None else given


def read_judge_result(raw: object, rubric: Rubric) -> JudgeScore | JudgeFailure:
    """Check an answer: an object of JSON values, a pydantic model, or JSON text.

    Text that only a repair makes JSON is marked, and cannot approve.
    """
    read = read_object(raw)
    if isinstance(read, JudgeFailure):
        return read
    answer = read.value
    fault = _fault(answer, rubric) or _repaired_approval(read, rubric)
    if fault is not None:
        return replace(fault, usage=_mapping(answer.get("usage")))
    return _score(answer, rubric, repaired=_is_repaired(read))


def _score(answer: JsonObject, rubric: Rubric, *, repaired: bool) -> JudgeScore:
    given, action = _mapping(answer.get("criteria")), answer.get("recommended_action")
    names = _names(rubric)
    return JudgeScore(
        score=_number(answer["score"]) or 0.0,
        rationale=str(answer["rationale"]),
        criteria={name: _number(given[name]) or 0.0 for name in names if name in given},
        concerns=_texts(answer.get("concerns")),
        recommended_action=action if isinstance(action, str) else None,
        usage=_mapping(answer.get("usage")),
        details={**_details(answer), **_unasked(given, names)},
        repaired=repaired,
    )


def _details(answer: JsonObject) -> JsonObject:
    return {name: value for name, value in answer.items() if name not in FIELDS}


def _unasked(given: JsonObject, names: list[str]) -> JsonObject:
    rest = {name: value for name, value in given.items() if name not in names}
    return {"unasked_criteria": rest} if rest else {}


def _is_repaired(read: ObjectRead) -> bool:
    return read.repaired or read.value.get("repaired") is True


def _repaired_approval(read: ObjectRead, rubric: Rubric) -> JudgeFailure | None:
    if not _is_repaired(read) or (_number(read.value.get("score")) or 0.0) < pass_score(rubric):
        return None
    return JudgeFailure("malformed", REPAIRED_APPROVAL)


def _fault(answer: JsonObject, rubric: Rubric) -> JudgeFailure | None:
    return (
        _wrong_criteria(answer.get("criteria"), rubric)
        or _wrong_score(answer.get("score"), rubric.scale)
        or _wrong_texts(answer)
        or _against_schema(answer, rubric)
    )


def _wrong_criteria(given: object, rubric: Rubric) -> JudgeFailure | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        return JudgeFailure("malformed", f"'criteria' is a {type(given).__name__}, not an object of scores")
    missing = [name for name in _names(rubric) if given.get(name) is None]
    if missing:
        return JudgeFailure("missing_score", f"'criteria' has no score for {', '.join(missing)}")
    faults = (_out_of_scale(f"criteria.{name}", given[name], rubric.scale) for name in _names(rubric))
    return next((fault for fault in faults if fault is not None), None)


def _wrong_score(given: object, scale: Scale) -> JudgeFailure | None:
    if given is None:
        return JudgeFailure("missing_score", "the answer has no 'score'")
    return _out_of_scale("score", given, scale)


def _out_of_scale(name: str, value: object, scale: Scale) -> JudgeFailure | None:
    number = _number(value)
    if number is None:
        return JudgeFailure("malformed", f"'{name}' is a {type(value).__name__}, not a number")
    if not scale.min <= number <= scale.max:
        return JudgeFailure(
            "out_of_range", f"'{name}' is {number:g}, not within {scale.min:g} to {scale.max:g}"
        )
    return None


def _wrong_texts(answer: JsonObject) -> JudgeFailure | None:
    rationale, concerns = answer.get("rationale"), answer.get("concerns")
    if not isinstance(rationale, str) or not any(character.isalnum() for character in rationale):
        return JudgeFailure("missing_rationale", "the answer has no 'rationale' that says why")
    if concerns is not None and not _is_texts(concerns):
        return JudgeFailure("malformed", "'concerns' is no list of texts")
    action = answer.get("recommended_action")
    if action is not None and not isinstance(action, str):
        return JudgeFailure("malformed", "'recommended_action' is no text")
    return None


def _against_schema(answer: JsonObject, rubric: Rubric) -> JudgeFailure | None:
    """Check the details, and of the usual fields those that the schema speaks of."""
    schema = rubric.json_schema
    if schema is None:
        return None
    spoken_of = {*_strings(schema.get("properties")), *_strings(schema.get("required"))}
    value = {name: part for name, part in answer.items() if name not in FIELDS or name in spoken_of}
    problem = find_schema_problem(schema, value)
    return None if problem is None else JudgeFailure("malformed", f"against the rubric's schema: {problem}")


def _names(rubric: Rubric) -> list[str]:
    return [criterion.name for criterion in rubric.criteria]


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _strings(value: object) -> list[str]:
    return [part for part in value if isinstance(part, str)] if isinstance(value, Iterable) else []


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(_strings(value)) if isinstance(value, list) else ()


def _mapping(value: object) -> JsonObject:
    return value if isinstance(value, Mapping) else {}
