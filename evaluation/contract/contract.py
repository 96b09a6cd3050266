"""The input models: the contract of a run with its rules, and a case, a run with its contract."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self, TypeAlias, TypeVar, get_args

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from evaluation.checks.check_model import Text
from evaluation.checks.contract_checks import ContractChecks
from evaluation.contract.rubric import JudgePolicy, Rubric
from evaluation.contract.run import ActionKind, AgentRun, RunMetadata
from evaluation.errors import ContractError
from evaluation.patterns import AnySchema, PatternText
from evaluation.sensitive.scanner import quote_text
from evaluation.validation import InputModel, wrap_name
from evaluation.values import WHOLE, Quantity, Severity, format_numbers

ModelT = TypeVar("ModelT", bound=InputModel)


MatchMode = Literal["exact", "in_order", "any_order", "precision_recall", "single_tool", "subset", "superset"]
MATCH_MODES: Final[tuple[MatchMode, ...]] = get_args(MatchMode)


class ArgumentRule(InputModel):
    """How the arguments of an observed call are compared with the expected ones.

    With ``superset``, the observed arguments contain at least the expected ones, at every level of nesting.
    """

    match: Literal["exact", "ignore", "named", "superset"] = "exact"
    names: list[str] | None = None
    """For ``named``: the arguments to compare."""

    @model_validator(mode="after")
    def _require_names(self) -> Self:
        if self.match == "named" and not self.names:
            raise ValueError("match 'named' needs 'names', the arguments to compare")
        return self


class ExpectedAction(InputModel):
    """An expected action; if ``args`` is absent, any arguments match."""

    name: Text | None = None
    args: dict[str, object] | None = None
    arguments: ArgumentRule | None = None
    """Overrides the rule of the tool and the rule for all tools."""
    agent: str | None = None
    """The expected agent; absent: any agent."""
    target: str | None = None
    kind: ActionKind | None = None
    any_of: list[NamedAction] = Field(default_factory=list)
    """Alternatives in place of all other fields; one of them is enough."""

    @model_validator(mode="after")
    def _require_name(self) -> Self:
        if (self.name is not None) is bool(self.any_of):
            raise ValueError("an expected action needs either 'name' or 'any_of'")
        fields = (self.args, self.arguments, self.agent, self.target, self.kind)
        if self.any_of and any(field is not None for field in fields):
            raise ValueError("state the other fields in each action of 'any_of'")
        if self.arguments is not None and self.args is None and self.arguments.match != "ignore":
            raise ValueError(f"{self.name} has a rule for arguments, but no 'args' to compare; add them")
        return self

    @property
    def patterns(self) -> tuple[ExpectedAction, ...]:
        """The action itself, or its alternatives."""
        return tuple(each for action in self.any_of for each in action.patterns) if self.any_of else (self,)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the action, or of its alternatives."""
        return tuple(dict.fromkeys(str(pattern.name) for pattern in self.patterns))


NamedAction: TypeAlias = Annotated[
    ExpectedAction, BeforeValidator(wrap_name, json_schema_input_type=str | ExpectedAction)
]
"""An expected action, for which its name alone may be given."""


class TrajectoryRules(InputModel):
    """How actions are compared."""

    arguments: ArgumentRule = Field(default_factory=ArgumentRule)
    """The rule for every tool that ``tools`` does not name."""
    tools: dict[str, ArgumentRule] = Field(default_factory=dict)
    ignored_tools: list[str] = Field(default_factory=list)
    """Calls that are left out of the comparison."""
    acting_tools: list[str] | None = None
    """The tools that change something; all others only read. If given, no other call of them than the
    expected ones may occur, what had no effect is left out, and calls that only read are not compared, unless
    the contract expects nothing else."""
    forbidden_tools: list[Text] = Field(default_factory=list)
    final_tools: list[str] = Field(default_factory=list)
    """Tools that may end a run without a reply of the assistant, for instance a hand-over to a person."""

    def find_rule(self, action: ExpectedAction) -> ArgumentRule:
        """Return the rule for the arguments: the action's own, else the tool's, else the common one."""
        return action.arguments or self.tools.get(str(action.name), self.arguments)

    def may_act(self, name: str, kind: str | None) -> bool:
        """Return whether an action may change something, by the contract's word; a hand-off may."""
        return name in (self.acting_tools or ()) or kind not in {None, "tool"}


class Threshold(InputModel):
    """A bound on one metric, or on a resource of the run.

    A plain number in its place is a minimum or a maximum, by the metric's better direction.
    """

    min: float | None = None
    max: float | None = None
    severity: Severity | None = None
    """Severity of a breach. Default: as usual for the group of the metric."""
    owner: str | None = None
    """Owner of the alert."""

    @model_validator(mode="after")
    def _require_bound(self) -> Self:
        if self.min is None and self.max is None:
            raise ValueError("a threshold needs 'min', 'max' or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            low, high = format_numbers(self.min, self.max)
            raise ValueError(f"no value is at least {low} and at most {high}")
        return self


class ContentRule(InputModel):
    """Required or forbidden content: exactly one of text, pattern, json_schema, number."""

    text: Text | None = None
    """Compared after normalising white space and Unicode forms."""
    ignore_case: bool = True
    """Applies to ``text``; in a pattern, write ``(?i)``."""
    pattern: PatternText | None = None
    """A regular expression in RE2's syntax."""
    json_schema: AnySchema | None = None
    """A JSON Schema for the whole text or one of its fenced blocks."""
    number: float | None = None
    tolerance: Quantity = 0.0
    share: bool = False
    """Whether 42 % states the number 42, too."""
    where: Literal["final_output", "assistant_messages"] = "final_output"
    """For forbidden content, the default is all that the assistant said."""
    severity: Severity = "critical"

    @model_validator(mode="after")
    def _require_one_kind(self) -> Self:
        kinds = [self.text, self.pattern, self.json_schema, self.number]
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError("a content rule needs exactly one of 'text', 'pattern', 'json_schema', 'number'")
        return self


def _refuse_schema(rule: ContentRule) -> ContentRule:
    if rule.json_schema is not None:
        raise ValueError("forbidden content is no 'json_schema'; give a 'text' or a 'pattern'")
    return rule


_Forbidden: TypeAlias = Annotated[ContentRule, AfterValidator(_refuse_schema)]
_AUDIT_RULES: Final = ("forbidden", "required", "allowed_tools", "forbidden_tools")


AUDIT_METRICS: Final = ("safety", "compliance")
"""Categories of the audit on which a threshold may be set."""


class AuditRule(InputModel):
    """A requirement on the texts and actions of a run; exactly one of the last four fields defines it."""

    id: str
    category: Literal["safety", "privacy", "compliance", "policy", "contract"] = "policy"
    severity: Severity = "critical"
    owner: str | None = None
    recommended_action: str | None = None
    forbidden: _Forbidden | None = None
    required: ContentRule | None = None
    """Required content, for instance a disclaimer."""
    allowed_tools: list[str] | None = None
    forbidden_tools: Annotated[list[Text], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _require_one_rule(self) -> Self:
        if sum(getattr(self, name) is not None for name in _AUDIT_RULES) != 1:
            raise ValueError(f"an audit rule needs exactly one of {', '.join(map(repr, _AUDIT_RULES))}")
        return self


Reaction = Severity | Literal["output", "off"]
"""``output``: critical in the final output, and info anywhere else."""


class AuditRules(InputModel):
    """The audit of a run: its rules, and the severity of credentials and personal data."""

    rules: list[AuditRule] = Field(default_factory=list)
    credentials: Reaction = "critical"
    personal_data: Reaction = "info"
    defects: Literal["off", "warn", "fail"] = "fail"
    """Whether the words of a run are compared with its calls. A defect fails the run; a suspicion is a
    warning with ``warn``, and needs a review with ``fail``. A ``fail`` that a contract states also counts as
    a check of its own; by default, a run in which nothing is found has still been asked nothing."""


class Tolerance(InputModel):
    """How far a metric may be worse than its baseline."""

    relative: Quantity = 0.0
    absolute: Quantity = 0.0
    severity: Severity = "warning"


class DriftRules(InputModel):
    """How a run is compared with its baseline."""

    tolerances: dict[str, Tolerance] = Field(default_factory=dict)
    default: Tolerance | None = None
    """For metrics that ``tolerances`` does not name. Without a tolerance, 10 % are allowed; a change from
    fewer than five baseline runs then has the severity info."""
    sustained: Annotated[int, Field(ge=1), WHOLE] = 1
    """Number of newest runs in a row, this run included, that have to breach before it is critical.

    With 1, a breach has the severity of its tolerance; with more, a single breach is at most a warning.
    """


# Shared instances, because pydantic would deep-copy a default for each contract.
_TRAJECTORY, _JUDGE, _AUDIT, _DRIFT = TrajectoryRules(), JudgePolicy(), AuditRules(), DriftRules()


class EvaluationContract(InputModel):
    """The requirements on a run; absent requirements are not checked, and the report says so."""

    checks: ContractChecks = Field(default_factory=list)
    """Requirements that code decides, on the final output and on the tools that were called."""
    reference_output: str | None = None
    keywords: list[Text] = Field(default_factory=list)
    required_content: list[ContentRule] = Field(default_factory=list)
    forbidden_content: list[_Forbidden] = Field(default_factory=list)
    expected_trajectory: list[NamedAction] | None = None
    # Not a literal: a mode that is not supported is a finding, and the other checks of the run still count.
    trajectory_match_mode: Annotated[str, Field(json_schema_extra={"enum": [*MATCH_MODES]})] = "in_order"
    must_call: list[Text] = Field(default_factory=list)
    """Tools of which each has to be called at least once without an error."""
    trajectory: TrajectoryRules = Field(default_factory=lambda: _TRAJECTORY)
    thresholds: dict[str, Threshold | float | bool] = Field(default_factory=dict)
    rubric: Rubric | None = None
    subjective_criteria: list[str] = Field(default_factory=list)
    """Criteria such as helpfulness, neutrality or clarity; a judge scores each."""
    judge: JudgePolicy = Field(default_factory=lambda: _JUDGE)
    audit: AuditRules = Field(default_factory=lambda: _AUDIT)
    drift: DriftRules = Field(default_factory=lambda: _DRIFT)
    complete: bool = False
    """Whether these requirements are all that matters, so that checks of the form alone prove a success of
    the orchestrator. It changes no evaluation."""
    owner: str | None = None
    """Owner of the alerts whose rule or threshold names no owner."""

    @model_validator(mode="after")
    def _refuse_contradiction(self) -> Self:
        steps = (each.name for each in self.expected_trajectory or () if each.name)
        demanded = {*self.must_call, *steps}
        if refused := sorted(demanded.intersection(self.trajectory.forbidden_tools)):
            raise ValueError(
                f"{quote_text(refused[0])} has to be called and is in trajectory.forbidden_tools, so that no "
                "run can pass; name the tool in one of them"
            )
        return self


_GROUPS: Final = frozenset({"trajectory", "audit", "judge", "drift"})
"""Fields whose own fields are merged one by one."""
_JOINED: Final = frozenset({
    "checks", "keywords", "required_content", "forbidden_content", "subjective_criteria", "must_call",
    "rules", "forbidden_tools",
})  # fmt: skip
"""Lists of demands that are independent of each other."""


def merge_rules(
    first: EvaluationContract, second: EvaluationContract, *, is_closer: bool = False
) -> EvaluationContract:
    """Return the fields of both contracts.

    Args:
        first: A contract.
        second: Another contract.
        is_closer: Whether the second one holds if both state a field that has one value.

    Raises:
        ContractError: Both state such a field, neither is closer, and they differ; or they contradict each
            other.
    """
    return _merge_models(EvaluationContract, first, second, is_closer)


def _merge_models(kind: type[ModelT], first: ModelT, second: ModelT, is_closer: bool) -> ModelT:
    values = {name: getattr(each, name) for each in (first, second) for name in _list_set(kind, each)}
    for name in _list_set(kind, first) & _list_set(kind, second):
        values[name] = _merge_values(name, getattr(first, name), getattr(second, name), is_closer)
    return kind(**values)


def _list_set(kind: type[ModelT], model: ModelT) -> set[str]:
    """Return the fields that are set; a whole case has fields beside its contract."""
    return model.model_fields_set & kind.model_fields.keys()


def _merge_values(name: str, first: object, second: object, is_closer: bool) -> object:
    if first == second:
        return second
    if name in _JOINED and isinstance(first, list) and isinstance(second, list):
        return [*first, *(item for item in second if item not in first)]
    if name in _GROUPS and isinstance(first, InputModel) and isinstance(second, InputModel):
        return _merge_models(type(second), first, second, is_closer)
    if isinstance(first, dict) and isinstance(second, dict):
        shared = {
            key: _merge_values(key, first[key], second[key], is_closer) for key in first.keys() & second
        }
        return {**first, **second, **shared}
    if is_closer:
        return second
    raise ContractError(f"two contracts state {name!r} differently; state it in one of them")


class EvaluationCase(EvaluationContract):
    """One recorded run with its contract: the input of ``evaluate``."""

    case_id: str | None = None
    input: str = ""
    """Name or description of the evaluation."""
    agent_run: AgentRun
    run_metadata: RunMetadata | None = None
    baseline_metrics: dict[str, object] | None = None
    fake_judge_response: dict[str, object] | str | None = None
    """An answer for tests, in the form that a judge returns. It is used if no judge is given, and the report
    says so."""
