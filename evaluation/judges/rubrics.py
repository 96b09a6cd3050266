"""Which rubric a judge is given: the contract's, one for its subjective criteria, or one for the task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evaluation.inputs.rules import Criterion, Rubric
from evaluation.results.state import EvaluationState

SUBJECTIVE: Final[Mapping[str, str]] = {
    "helpfulness": "Does the output do for the user what the input asks for?",
    "neutrality": "Is the output free of bias, leading words and taking sides?",
    "clarity": "Can the intended reader understand the output at the first reading?",
    "correctness": "Does the output agree with the reference, or where there is none, fulfil the input?",
}
"""The questions behind well-known criteria; any other name stands for itself."""


def rubric_for(state: EvaluationState) -> Rubric:
    """Give the rubric by which the run of ``state`` is judged."""
    names = state["contract"].get("subjective_criteria")
    wanted = [str(name) for name in names] if isinstance(names, list) else []
    if state["rubric"] is None:
        return _asking(wanted or ["correctness"])
    rubric = Rubric.model_validate(state["rubric"])
    known = {criterion.name for criterion in rubric.criteria}
    more = [_criterion(name) for name in wanted if name not in known]
    return rubric.model_copy(update={"criteria": [*rubric.criteria, *more]}) if more else rubric


def _asking(names: list[str]) -> Rubric:
    return Rubric(name=", ".join(names), criteria=[_criterion(name) for name in dict.fromkeys(names)])


def _criterion(name: str) -> Criterion:
    return Criterion(name=name, description=SUBJECTIVE.get(name, ""))
