"""Checks a judge's answer and reads its score, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

from agents.parsing.denials import find_denial
from evaluation.inputs.rubric import Rubric, Scale
from evaluation.judges.answers import (
    NO_VERDICTS,
    ObjectRead,
    iter_other_scores,
    iter_restated_scores,
    read_number,
    read_object,
)
from evaluation.judges.failures import JudgeFailure
from evaluation.patterns.json_schema import find_schema_problem
from evaluation.sensitive.quoting import shorten
from evaluation.values import JsonObject, format_numbers

PASS_SHARE: Final = 0.75
"""Default of the pass score: this share of the scale."""
REPAIRED_APPROVAL: Final = "the answer is not JSON, and a repaired one cannot approve"
FIELDS: Final = frozenset({
    "score", "stated_score", "rationale", "criteria", "concerns", "recommended_action", "usage", "repaired",
    "unseen",
})  # fmt: skip
"""The fields that every answer may have. All others are details."""
_LONGEST_DENIAL: Final = 80
_ROUNDING_SHARE: Final = 0.125
"""Share of the scale by which rounding may move a score: half a point on a scale from 1 to 5."""


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
        repaired: Whether the text was not JSON before it was repaired.
        unseen: What of the run the judge could not see, in words; None if it saw all.
        objection: Why the answer cannot approve, for instance because it contradicts itself; None if it can.
    """

    score: float
    rationale: str
    criteria: Mapping[str, float]
    concerns: tuple[str, ...]
    recommended_action: str | None
    usage: JsonObject
    details: JsonObject
    repaired: bool = False
    unseen: str | None = None
    objection: JudgeFailure | None = None


def get_pass_score(rubric: Rubric) -> float:
    """Returns the lowest overall score that passes."""
    if rubric.pass_score is not None:
        return rubric.pass_score
    # A scale may begin above 0: on 1 to 5 the pass score is 4.
    scale = rubric.scale
    return scale.min + PASS_SHARE * (scale.max - scale.min)


def read_judge_result(raw: object, rubric: Rubric) -> JudgeScore | JudgeFailure:
    """Checks an answer: an object of JSON values, a pydantic model, or JSON text.

    An approval is a failure if the answer had to be repaired or contradicts itself. A failure is returned as
    it is.
    """
    if isinstance(raw, JudgeFailure):
        return raw
    read = read_object(raw)
    if isinstance(read, JudgeFailure):
        return read
    fault = _find_fault(read.value, rubric)
    if fault is not None:
        return replace(fault, usage=_as_mapping(read.value.get("usage")))
    return refuse_approval(_build_score(read, rubric), get_pass_score(rubric))


def refuse_approval(result: JudgeScore | JudgeFailure, lowest: float) -> JudgeScore | JudgeFailure:
    """Turns an answer with an objection into a failure if its score is at least ``lowest``."""
    if isinstance(result, JudgeFailure) or result.objection is None or result.score < lowest:
        return result
    # The judge's words help the person who has to review the run.
    details = {**result.details, "score": result.score, "rationale": result.rationale}
    return replace(result.objection, usage=result.usage, details=details)


def _build_score(read: ObjectRead, rubric: Rubric) -> JudgeScore:
    answer = read.value
    scores, action = _as_mapping(answer.get("criteria")), answer.get("recommended_action")
    # RubricJudge returns an object, so it marks a repaired text in the object itself.
    # A mark of another type, such as the text "true", is a mark, too.
    repaired = read.repaired or answer.get("repaired") not in (None, False)
    unseen = answer.get("unseen")
    return JudgeScore(
        score=read_number(answer["score"]) or 0.0,
        rationale=str(answer["rationale"]),
        criteria={
            name: read_number(scores[name]) or 0.0 for name in _criterion_names(rubric) if name in scores
        },
        concerns=tuple(_read_strings(answer.get("concerns"))),
        recommended_action=action if isinstance(action, str) else None,
        usage=_as_mapping(answer.get("usage")),
        details={name: value for name, value in answer.items() if name not in FIELDS},
        repaired=repaired,
        unseen=str(unseen) if unseen else None,
        objection=_find_objection(answer, rubric, repaired=repaired),
    )


def _find_objection(answer: JsonObject, rubric: Rubric, *, repaired: bool) -> JudgeFailure | None:
    problem = REPAIRED_APPROVAL if repaired else _find_contradiction(answer, rubric)
    if problem is not None:
        return JudgeFailure("malformed", problem)
    unseen = answer.get("unseen")
    return JudgeFailure("partly_seen", f"it saw only a part of the run: {unseen}") if unseen else None


def _find_contradiction(answer: JsonObject, rubric: Rubric) -> str | None:
    """Finds a reason why an answer with these scores cannot approve. Returns None if there is none.

    An answer contradicts itself if a field denies the success (``"verdict": "fail"``), if another overall
    score is lower, or if the criteria do not explain the score. Rounding explains an eighth of the scale.
    """
    score, scale = read_number(answer.get("score")) or 0.0, rubric.scale
    rounding = _ROUNDING_SHARE * (scale.max - scale.min)
    denial = find_denial(answer, ignored=NO_VERDICTS)
    if denial is not None:
        return f"the answer scores {score:g} and contradicts itself: {shorten(denial, _LONGEST_DENIAL)}"
    restated = _as_mapping(answer.get("criteria")) or dict.fromkeys(_criterion_names(rubric)[:1], score)
    others = (*iter_other_scores(answer, score), *iter_restated_scores(answer, restated))
    other = next((name for name, value, least in others if not value + rounding >= least), None)
    if other is not None:
        return f"the answer scores {score:g} and contradicts itself in {other!r}"
    return _find_unexplained(_as_mapping(answer.get("criteria")), score, rounding, rubric)


def _find_unexplained(scores: JsonObject, score: float, rounding: float, rubric: Rubric) -> str | None:
    """Compares an overall score with the weighted mean of its criteria."""
    if not scores:
        return None
    numbers = [number for value in scores.values() if (number := read_number(value)) is not None]
    known = [read_number(scores[name]) or 0.0 for name in _criterion_names(rubric)]
    mean = fmean(known, [criterion.weight for criterion in rubric.criteria])
    # A criterion that the rubric does not have has no weight, so it cannot explain anything.
    is_mean = score - mean <= rounding and len(numbers) == len(known)
    if is_mean or (
        min(numbers) > rubric.scale.min and (score - mean <= rounding or mean >= get_pass_score(rubric))
    ):
        return None
    stated, explained = format_numbers(score, mean)
    return f"the criteria do not explain the score {stated}: their mean is {explained}"


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
    number = read_number(value)
    if number is None:
        return JudgeFailure("malformed", f"'{name}' is a {type(value).__name__}, not a number")
    if not scale.min <= number <= scale.max:
        observed, low, high = format_numbers(number, scale.min, scale.max)
        return JudgeFailure("out_of_range", f"'{name}' is {observed}, not within {low} to {high}")
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


def _read_strings(value: object) -> list[str]:
    return [part for part in value if isinstance(part, str)] if isinstance(value, Iterable) else []


def _is_text_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def _as_mapping(value: object) -> JsonObject:
    return value if isinstance(value, Mapping) else {}
