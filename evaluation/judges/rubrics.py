"""Chooses the rubric of a judge: the contract's, one for its subjective criteria, or one for the task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from evaluation.inputs.rubric import Criterion, Rubric
from evaluation.results.state import EvaluationState
from evaluation.values import as_list

SUBJECTIVE: Final[Mapping[str, str]] = {
    "helpfulness": "Does the output do for the user what the input asks for?",
    "neutrality": "Is the output free of bias, leading words and taking sides?",
    "clarity": "Can the intended reader understand the output at the first reading?",
    "correctness": "Does the output agree with the reference, or if there is none, fulfil the input?",
}
"""The questions of well-known criteria. Any other name has no description."""


def choose_rubric(state: EvaluationState) -> Rubric:
    """Chooses the rubric for a run, with the contract's subjective criteria added."""
    names = list(map(str, as_list(state["contract"].get("subjective_criteria"))))
    if state["rubric"] is None:
        names = names or ["correctness"]
        return Rubric(name=", ".join(names), criteria=_build_criteria(names))
    rubric = Rubric.model_validate(state["rubric"])
    known = {criterion.name for criterion in rubric.criteria}
    more = _build_criteria(name for name in names if name not in known)
    return rubric.model_copy(update={"criteria": [*rubric.criteria, *more]})


def _build_criteria(names: Iterable[str]) -> list[Criterion]:
    return [Criterion(name=name, description=SUBJECTIVE.get(name, "")) for name in dict.fromkeys(names)]


LEGAL_SURVEY: Final = Rubric.model_validate_json(Path(__file__).with_name("legal_survey.json").read_bytes())
"""Five criteria of equal weight on a scale from 1 to 5. The answer also has detailed feedback."""
