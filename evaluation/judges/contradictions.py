"""Finds what contradicts the score in the same answer of a judge."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Final

from agents.parsing.verdicts import find_denial, iter_fields, normalize_name
from evaluation.inputs.rubric import Rubric, Scale
from evaluation.judges.answers import is_number
from evaluation.sensitive.quoting import shorten
from evaluation.values import JsonObject, as_object, format_numbers

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
    for name, value in [*fields, *(field for part in inner for field in part)]:
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
