"""The input models of a judge: criteria, scale and rubric, and when it is asked."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

from evaluation.patterns import SchemaObject
from evaluation.validation import InputModel, wrap_name
from evaluation.values import format_numbers

_PASS_SHARE: Final = 0.75
"""Default of the pass score: this share of the scale."""


class Criterion(InputModel):
    """One question of a rubric."""

    name: str
    description: str = ""
    weight: Annotated[float, Field(gt=0)] = 1.0
    anchors: dict[str, str] = Field(default_factory=dict)
    """The meaning of scores, with the score as a text: {"1": "vague", "5": "precise"}."""


class Scale(InputModel):
    """The range of scores of a judge."""

    min: float = 1.0
    max: float = 5.0

    @model_validator(mode="after")
    def _require_range(self) -> Self:
        if self.min >= self.max:
            low, high = format_numbers(self.min, self.max)
            raise ValueError(f"a scale needs min < max, not {low} and {high}")
        return self


_NamedCriterion: TypeAlias = Annotated[
    Criterion, BeforeValidator(wrap_name, json_schema_input_type=str | Criterion)
]


class Rubric(InputModel):
    """How a judge scores: criteria, scale, pass score, and the schema of its answer."""

    name: str = "rubric"
    instructions: str = ""
    criteria: Annotated[list[_NamedCriterion], Field(min_length=1)]
    """Names or objects."""
    scale: Scale = Field(default_factory=Scale)
    pass_score: float | None = None
    """The lowest overall score that passes. Default: three quarters of the scale."""
    json_schema: SchemaObject | None = None
    """A JSON Schema for the answer, besides the fields that every answer has."""

    @model_validator(mode="after")
    def _require_consistency(self) -> Self:
        names = [criterion.name for criterion in self.criteria]
        if len(set(names)) < len(names):
            raise ValueError("each criterion needs a name of its own")
        if self.pass_score is not None and not self.scale.min <= self.pass_score <= self.scale.max:
            score, low, high = format_numbers(self.pass_score, self.scale.min, self.scale.max)
            raise ValueError(f"pass_score {score} is not within {low} to {high}")
        return self

    @property
    def lowest_passing(self) -> float:
        """The lowest overall score that passes."""
        if self.pass_score is not None:
            return self.pass_score
        # A scale may begin above 0: on 1 to 5 it is 4.
        return self.scale.min + _PASS_SHARE * (self.scale.max - self.scale.min)


class JudgePolicy(InputModel):
    """When a judge is asked, and the consequence if it gives no usable answer."""

    when: Literal["always", "if_checks_pass"] = "always"
    """Whether the criteria and the rubric are scored also if a deterministic check fails the run anyway."""
    on_failure: Literal["needs_review", "failed"] = "needs_review"
