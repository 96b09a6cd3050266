"""Checks a judge's answer and reads its score, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from evaluation.inputs.patterns import find_schema_problem
from evaluation.inputs.rules import Rubric, Scale
from evaluation.judges.answers import ObjectRead, read_object
from evaluation.judges.failures import JudgeFailure
from evaluation.values import JsonObject

PASS_SHARE: Final = 0.75
"""Default of the pass score: this share of the scale."""
REPAIRED_APPROVAL: Final = "the answer is no JSON, and a repaired one cannot approve"
FIELDS: Final = frozenset(
    {"score", "rationale", "criteria", "concerns", "recommended_action", "usage", "repaired"}
)
"""The fields that every answer may have. All others are details."""


@dataclass(frozen=True, slots=True)
class JudgeScore:
    """A checked answer: all scores are on the rubric's scale.

    Attributes:
        score: The overall score.
        rationale: The reason.
        criteria: A score for each of the rubric's criteria, or empty.
        concerns: Doubts about the run.
        recommended_action: What to do next.
        usage: The cost of the call.
        details: All other fields of the answer.
        repaired: Whether the text was not JSON before it was repaired. Such an answer cannot approve.
    """

    score: float
    rationale: str
    criteria: Mapping[str, float]
    concerns: tuple[str, ...]
    recommended_action: str | None
    usage: JsonObject
    details: JsonObject
    repaired: bool = False


def get_pass_score(rubric: Rubric) -> float:
    """Returns the lowest overall score that passes."""
    if rubric.pass_score is not None:
        return rubric.pass_score
    # A scale may begin above 0: on 1 to 5 the pass score is 4.
    scale = rubric.scale
    return scale.min + PASS_SHARE * (scale.max - scale.min)


def read_judge_result(raw: object, rubric: Rubric) -> JudgeScore | JudgeFailure:
    """Checks an answer: an object of JSON values, a pydantic model, or JSON text.

    A text that had to be repaired is marked, and cannot approve. A failure is returned as it is.
    """
    if isinstance(raw, JudgeFailure):
        return raw
    read = read_object(raw)
    if isinstance(read, JudgeFailure):
        return read
    answer = read.value
    fault = _find_fault(answer, rubric) or _refuse_repaired_approval(read, rubric)
    if fault is not None:
        return replace(fault, usage=_as_mapping(answer.get("usage")))
    return _build_score(answer, rubric, repaired=_is_repaired(read))


def _build_score(answer: JsonObject, rubric: Rubric, *, repaired: bool) -> JudgeScore:
    scores, action = _as_mapping(answer.get("criteria")), answer.get("recommended_action")
    return JudgeScore(
        score=_read_number(answer["score"]) or 0.0,
        rationale=str(answer["rationale"]),
        criteria={
            name: _read_number(scores[name]) or 0.0 for name in _criterion_names(rubric) if name in scores
        },
        concerns=tuple(_read_strings(answer.get("concerns"))),
        recommended_action=action if isinstance(action, str) else None,
        usage=_as_mapping(answer.get("usage")),
        details={name: value for name, value in answer.items() if name not in FIELDS},
        repaired=repaired,
    )


def _is_repaired(read: ObjectRead) -> bool:
    # RubricJudge returns an object, so it marks a repaired text in the object itself.
    return read.repaired or read.value.get("repaired") is True


def _refuse_repaired_approval(read: ObjectRead, rubric: Rubric) -> JudgeFailure | None:
    if not _is_repaired(read) or (_read_number(read.value.get("score")) or 0.0) < get_pass_score(rubric):
        return None
    return JudgeFailure("malformed", REPAIRED_APPROVAL)


def _find_fault(answer: JsonObject, rubric: Rubric) -> JudgeFailure | None:
    return (
        _check_criteria(answer.get("criteria"), rubric)
        or _check_score("score", answer.get("score"), rubric.scale)
        or _check_texts(answer)
        or _check_schema(answer, rubric)
    )


def _check_criteria(criteria: object, rubric: Rubric) -> JudgeFailure | None:
    if criteria is None:
        return None
    if not isinstance(criteria, Mapping):
        kind = type(criteria).__name__
        return JudgeFailure("malformed", f"'criteria' is a {kind}, not an object of scores")
    scores = {f"criteria.{name}": criteria.get(name) for name in _criterion_names(rubric)}
    faults = (_check_score(name, score, rubric.scale) for name, score in scores.items())
    return next((fault for fault in faults if fault is not None), None)


def _check_score(name: str, value: object, scale: Scale) -> JudgeFailure | None:
    if value is None:
        return JudgeFailure("missing_score", f"the answer has no '{name}'")
    number = _read_number(value)
    if number is None:
        return JudgeFailure("malformed", f"'{name}' is a {type(value).__name__}, not a number")
    if not scale.min <= number <= scale.max:
        return JudgeFailure(
            "out_of_range", f"'{name}' is {number:g}, not within {scale.min:g} to {scale.max:g}"
        )
    return None


def _check_texts(answer: JsonObject) -> JudgeFailure | None:
    rationale, concerns = answer.get("rationale"), answer.get("concerns")
    # Punctuation alone, such as ".", gives no reason.
    if not isinstance(rationale, str) or not any(character.isalnum() for character in rationale):
        return JudgeFailure("missing_rationale", "the answer has no 'rationale' that says why")
    if concerns is not None and not _is_text_list(concerns):
        return JudgeFailure("malformed", "'concerns' is not a list of texts")
    action = answer.get("recommended_action")
    if action is not None and not isinstance(action, str):
        return JudgeFailure("malformed", "'recommended_action' is not a text")
    return None


def _check_schema(answer: JsonObject, rubric: Rubric) -> JudgeFailure | None:
    schema = rubric.json_schema
    if schema is None:
        return None
    # The usual fields are checked only if the rubric's schema mentions them.
    mentioned = {*_read_strings(schema.get("properties")), *_read_strings(schema.get("required"))}
    value = {name: part for name, part in answer.items() if name not in FIELDS or name in mentioned}
    problem = find_schema_problem(schema, value)
    return None if problem is None else JudgeFailure("malformed", f"against the rubric's schema: {problem}")


def _criterion_names(rubric: Rubric) -> list[str]:
    return [criterion.name for criterion in rubric.criteria]


def _read_number(value: object) -> float | None:
    return None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)


def _read_strings(value: object) -> list[str]:
    return [part for part in value if isinstance(part, str)] if isinstance(value, Iterable) else []


def _is_text_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def _as_mapping(value: object) -> JsonObject:
    return value if isinstance(value, Mapping) else {}
