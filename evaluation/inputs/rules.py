"""The rules that a contract is made of."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from evaluation.inputs.patterns import check_pattern, check_schema
from evaluation.inputs.run import ActionKind
from evaluation.values import Count, InputModel, NameOrObject, Quantity

Severity = Literal["info", "warning", "critical"]
MatchMode = Literal["exact", "in_order", "any_order", "precision_recall", "single_tool", "subset", "superset"]
MATCH_MODES: Final[tuple[MatchMode, ...]] = (
    "exact",
    "in_order",
    "any_order",
    "precision_recall",
    "single_tool",
    "subset",
    "superset",
)


class Threshold(InputModel):
    """A bound on one metric; a bare number instead is a minimum or a maximum by the metric's direction."""

    min: float | None = None
    max: float | None = None
    severity: Severity | None = None
    """What a breach is; by default what the metric's group says."""
    owner: str | None = None
    """Who is told."""

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if self.min is None and self.max is None:
            raise ValueError("a threshold needs 'min', 'max' or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"no value is at least {self.min:g} and at most {self.max:g}")
        return self


class ArgumentRule(InputModel):
    """How the arguments of an observed call are compared with the expected ones.

    ``superset`` and ``subset`` are said of the observed arguments: a superset has at least what is expected.
    Both hold at every level of nesting.
    """

    match: Literal["exact", "ignore", "named", "subset", "superset", "custom"] = "exact"
    names: list[str] | None = None
    """For ``named``: the arguments that are compared."""
    tolerance: Quantity = 0.0
    """The greatest accepted difference between two numbers."""
    ignore_case: bool = False
    function: str | None = None
    """For ``custom``: the name of a function that the caller registered."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.match == "named" and not self.names:
            raise ValueError("match 'named' needs 'names', the arguments to compare")
        if self.match == "custom" and not self.function:
            raise ValueError("match 'custom' needs 'function', the name of a registered function")
        return self


class ExpectedAction(InputModel):
    """An action that should be seen; where ``args`` is absent, any arguments fit."""

    name: str | None = None
    args: dict[str, object] | None = None
    arguments: ArgumentRule | None = None
    """Goes before the rule of the tool and the rule for all tools."""
    agent: str | None = None
    """Who should have acted; absent: anyone."""
    target: str | None = None
    kind: ActionKind | None = None
    optional: bool = False
    """May be absent."""
    any_of: list[Annotated[ExpectedAction, NameOrObject()]] = Field(default_factory=list)
    """Alternatives, one of which is enough, in place of ``name``."""

    @model_validator(mode="after")
    def _one_meaning(self) -> Self:
        if (self.name is None) == (not self.any_of):
            raise ValueError("an expected action needs either 'name' or 'any_of'")
        return self


class TrajectoryRules(InputModel):
    """What counts in a comparison of actions."""

    arguments: ArgumentRule = Field(default_factory=ArgumentRule)
    """For every tool that ``tools`` does not name."""
    tools: dict[str, ArgumentRule] = Field(default_factory=dict)
    ignored_tools: list[str] = Field(default_factory=list)
    """Calls that are left out of the comparison, such as those that only read."""
    compared_tools: list[str] | None = None
    """If given, calls of other tools are left out."""
    forbidden_tools: list[str] = Field(default_factory=list)
    failed_calls: Literal["count", "ignore", "fail"] = "count"
    """What a call whose result was an error is worth: as much as any other, nothing, or a failure."""
    stuck_after: Annotated[int, Field(ge=2)] = 3
    """How many identical calls in a row make an agent stuck."""


class ContentRule(InputModel):
    """One thing that a text has to hold (or must not): exactly one of text, pattern, json_schema, number."""

    text: Annotated[str, Field(pattern=r"\S")] | None = None
    """Found with any white space, in any Unicode form of the same characters."""
    ignore_case: bool = True
    """Of ``text``; a pattern says ``(?i)``."""
    pattern: Annotated[str, AfterValidator(check_pattern)] | None = None
    """A regular expression in RE2's syntax."""
    json_schema: Annotated[dict[str, object] | bool, AfterValidator(check_schema)] | None = None
    """A JSON Schema that the whole text, or a fenced block of it, fulfils as JSON."""
    number: float | None = None
    tolerance: Quantity = 0.0
    where: Literal["final_output", "assistant_messages"] = "final_output"
    severity: Severity = "critical"

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [self.text, self.pattern, self.json_schema, self.number]
        if sum(value is not None for value in given) != 1:
            raise ValueError("a content rule needs exactly one of 'text', 'pattern', 'json_schema', 'number'")
        return self


class LengthBounds(InputModel):
    """Bounds on the length of the final output."""

    min_characters: Count | None = None
    max_characters: Count | None = None
    min_words: Count | None = None
    max_words: Count | None = None


class AuditRule(InputModel):
    """A rule on what may be said or done; exactly one of the last six fields says which."""

    id: str
    category: Literal["safety", "privacy", "compliance", "policy", "contract"] = "policy"
    severity: Severity = "critical"
    owner: str | None = None
    recommended_action: str | None = None
    forbidden: ContentRule | None = None
    required: ContentRule | None = None
    """For instance a disclaimer."""
    allowed_tools: list[str] | None = None
    forbidden_tools: list[str] | None = None
    allowed_domains: list[str] | None = None
    """Hosts (and their subdomains) that an address in the output or in a tool's arguments may have."""
    max_retention_days: Quantity | None = None
    """How long after ``metadata.timestamp`` the raw text of a run may be kept."""

    @model_validator(mode="after")
    def _one_rule(self) -> Self:
        rules = (self.forbidden, self.required, self.allowed_tools, self.forbidden_tools)
        if sum(rule is not None for rule in (*rules, self.allowed_domains, self.max_retention_days)) != 1:
            raise ValueError(
                "an audit rule needs exactly one of 'forbidden', 'required', 'allowed_tools', "
                "'forbidden_tools', 'allowed_domains', 'max_retention_days'"
            )
        return self


Reaction = Severity | Literal["off"]


class AuditRules(InputModel):
    """What is looked for in every run. Credentials are always a finding; personal data is one by choice."""

    rules: list[AuditRule] = Field(default_factory=list)
    credentials: Reaction = "critical"
    personal_data: Reaction = "info"


class Criterion(InputModel):
    """One question of a rubric."""

    name: str
    description: str = ""
    weight: Annotated[float, Field(gt=0)] = 1.0
    anchors: dict[str, str] = Field(default_factory=dict)
    """What a score means, by score as text: {"1": "vague", "5": "precise"}."""


class Scale(InputModel):
    """The scores that a judge may give."""

    min: float = 1.0
    max: float = 5.0

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min >= self.max:
            raise ValueError(f"a scale needs min < max, not {self.min:g} and {self.max:g}")
        return self


class Rubric(InputModel):
    """How a judge scores: criteria, one scale, what passes, and the schema of its answer."""

    name: str = "rubric"
    instructions: str = ""
    criteria: Annotated[list[Criterion], Field(min_length=1)]
    scale: Scale = Field(default_factory=Scale)
    pass_score: float | None = None
    """The least overall score that passes, on the scale; by default three quarters up."""
    json_schema: Annotated[dict[str, object], AfterValidator(check_schema)] | None = None
    """What the answer has to fulfil beside the fields that every answer has."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [criterion.name for criterion in self.criteria]
        if len(set(names)) < len(names):
            raise ValueError("each criterion needs a name of its own")
        if self.pass_score is not None and not self.scale.min <= self.pass_score <= self.scale.max:
            raise ValueError(
                f"pass_score {self.pass_score:g} is not within {self.scale.min:g} to {self.scale.max:g}"
            )
        return self


class JudgePolicy(InputModel):
    """What follows when a judge is needed and gives no usable answer."""

    on_failure: Literal["needs_review", "failed"] = "needs_review"


class Tolerance(InputModel):
    """How much worse than the baseline a metric may be."""

    relative: Quantity = 0.0
    absolute: Quantity = 0.0
    better: Literal["higher", "lower"] | None = None
    """Which direction is better; needed for a metric that the package does not know."""
    severity: Severity = "warning"


class DriftRules(InputModel):
    """How a run is compared with its baseline."""

    tolerances: dict[str, Tolerance] = Field(default_factory=dict)
    default: Tolerance | None = None
    """For metrics that ``tolerances`` does not name; absent: 10 % relative."""
    method: Literal["zscore", "mad"] = "mad"
    """Against many runs: standard score, or median and median absolute deviation."""
    deviations: Annotated[float, Field(gt=0)] = 3.5
    min_runs: Annotated[int, Field(ge=2)] = 5
    sustained: Annotated[int, Field(ge=1)] = 1
    """How many of the newest runs in a row, this one included, have to breach before it is critical.

    With 1, a breach is what its tolerance says; with more, a breach on its own is a warning at the most.
    """
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
