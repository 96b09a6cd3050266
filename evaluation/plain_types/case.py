"""Types of a case and its parts as dicts.

``python -m tests.evaluation.inputs.plain_types`` writes this file from the models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Required

from typing_extensions import TypedDict

from evaluation.checks.base import CheckModel
from evaluation.inputs.contract import EvaluationContract
from evaluation.inputs.rubric import Criterion, JudgePolicy, Rubric, Scale
from evaluation.inputs.rules import (
    AuditRule,
    AuditRules,
    ContentRule,
    DriftRules,
    LengthBounds,
    Threshold,
    Tolerance,
)
from evaluation.inputs.run import ActionKind, AgentRun, RunMetadata, ToolCall
from evaluation.inputs.trajectory_rules import ArgumentRule, ExpectedAction, TrajectoryRules
from evaluation.plain_types.checks import CheckDict
from evaluation.values import Severity


class ContentRuleDict(TypedDict, total=False):
    """Required or forbidden content: exactly one of text, pattern, json_schema, number."""

    text: str | None
    """Compared after normalising white space and Unicode forms."""
    ignore_case: bool
    """Applies to ``text``; in a pattern, write ``(?i)``."""
    pattern: str | None
    """A regular expression in RE2's syntax."""
    json_schema: Mapping[str, object] | bool | None
    """A JSON Schema for the whole text or one of its fenced blocks."""
    number: float | None
    tolerance: float
    where: Literal["final_output", "assistant_messages"]
    """For forbidden content, the default is all that the assistant said."""
    severity: Severity


class LengthBoundsDict(TypedDict, total=False):
    """Bounds on the length of the final output."""

    min_characters: int | None
    max_characters: int | None
    min_words: int | None
    max_words: int | None


class ArgumentRuleDict(TypedDict, total=False):
    """How the arguments of an observed call are compared with the expected ones.

    With ``superset``, the observed arguments contain at least the expected ones; with ``subset``, at most.
    Both apply at every level of nesting.
    """

    match: Literal["exact", "ignore", "named", "subset", "superset", "custom"]
    names: list[str] | None
    """For ``named``: the arguments to compare."""
    tolerance: float
    """The greatest accepted difference between two numbers."""
    ignore_case: bool
    numbers_as_text: bool
    """Whether a text such as "12.50" counts as the number that it writes."""
    unordered: Sequence[str | list[str]]
    """Lists whose items may come in any order, by path: ``orders.items`` is the list ``items`` in each of the
    ``orders``. Lists whose items belong together are a group: ``["item_ids", "new_item_ids"]``."""
    function: str | None
    """For ``custom``: the name of a function in ``argument_functions``."""


class ExpectedActionDict(TypedDict, total=False):
    """An expected action; if ``args`` is absent, any arguments match."""

    name: str | None
    args: Mapping[str, object] | None
    arguments: ArgumentRule | ArgumentRuleDict | None
    """Overrides the rule of the tool and the rule for all tools."""
    agent: str | None
    """The expected agent; absent: any agent."""
    target: str | None
    kind: ActionKind | None
    optional: bool
    """Whether the action may be missing."""
    any_of: Sequence[str | ExpectedAction | ExpectedActionDict]
    """Alternatives in place of ``name``; one of them is enough."""
    in_any_order: Sequence[str | ExpectedAction | ExpectedActionDict]
    """A group of actions in place of ``name``; they may come in any order among themselves."""


class TrajectoryRulesDict(TypedDict, total=False):
    """How actions are compared."""

    arguments: ArgumentRule | ArgumentRuleDict
    """The rule for every tool that ``tools`` does not name."""
    tools: Mapping[str, ArgumentRule | ArgumentRuleDict]
    ignored_tools: list[str]
    """Calls that are left out of the comparison, for instance calls that only read."""
    compared_tools: list[str] | None
    """If given, calls of all other tools are left out."""
    writing_tools: list[str] | None
    """The tools that change something. If given, no other call of them than the expected ones may occur, and
    calls that only read are not compared, unless the contract expects nothing else.

    A tool that is not in the list only reads. With ``reading_tools``, a tool in neither list is compared as
    the match mode says.
    """
    reading_tools: list[str] | None
    """The tools that only read."""
    forbidden_tools: list[str]
    final_tools: list[str]
    """Tools that may end a run without a reply of the assistant, for instance a hand-over to a person."""
    failed_calls: Literal["extra", "ignore", "count", "fail"]
    """What a call is worth whose result was an error.

    ``extra``: it counts as a call, but fulfils no expectation. ``ignore``: it is left out. ``count``: it
    counts as any other and fulfils an expectation. ``fail``: as ``extra``, and it fails the run.
    """
    parallel_calls: Literal["any_order", "in_order"]
    """Whether the calls of one message may come in any order among themselves."""
    stuck_after: int
    """Number of identical calls in a row that count as stuck."""


class ThresholdDict(TypedDict, total=False):
    """A bound on one metric, or on a resource of the run.

    A plain number in its place is a minimum or a maximum, by the metric's better direction.
    """

    min: float | None
    max: float | None
    severity: Severity | None
    """Severity of a breach. Default: as usual for the group of the metric."""
    owner: str | None
    """Owner of the alert."""


class CriterionDict(TypedDict, total=False):
    """One question of a rubric."""

    name: Required[str]
    description: str
    weight: float
    anchors: Mapping[str, str]
    """The meaning of scores, with the score as a text: {"1": "vague", "5": "precise"}."""


class ScaleDict(TypedDict, total=False):
    """The range of scores of a judge."""

    min: float
    max: float


class RubricDict(TypedDict, total=False):
    """How a judge scores: criteria, scale, pass score, and the schema of its answer."""

    name: str
    instructions: str
    criteria: Required[Sequence[str | Criterion | CriterionDict]]
    """Names or objects."""
    scale: Sequence[float] | Scale | ScaleDict
    pass_score: float | None
    """The lowest overall score that passes. Default: three quarters of the scale."""
    json_schema: Mapping[str, object] | None
    """A JSON Schema for the answer, besides the fields that every answer has."""


class JudgePolicyDict(TypedDict, total=False):
    """When a judge is asked, and the consequence if it gives no usable answer."""

    when: Literal["always", "if_checks_pass"]
    """Whether the criteria and the rubric are scored also if a deterministic check fails the run anyway."""
    on_failure: Literal["needs_review", "failed"]


class AuditRuleDict(TypedDict, total=False):
    """A requirement on the texts and actions of a run; exactly one of the last six fields defines it."""

    id: Required[str]
    category: Literal["safety", "privacy", "compliance", "policy", "contract"]
    severity: Severity
    owner: str | None
    recommended_action: str | None
    forbidden: ContentRule | ContentRuleDict | None
    required: ContentRule | ContentRuleDict | None
    """Required content, for instance a disclaimer."""
    allowed_tools: list[str] | None
    forbidden_tools: list[str] | None
    allowed_domains: list[str] | None
    """The hosts, with their subdomains, that addresses in the assistant's texts and in arguments may have."""
    max_retention_days: float | None
    """Days after ``metadata.timestamp`` for which the raw text of a run may be kept."""


class AuditRulesDict(TypedDict, total=False):
    """The audit of a run: its rules, and the severity of credentials and personal data."""

    rules: Sequence[AuditRule | AuditRuleDict]
    credentials: Severity | Literal["off"]
    personal_data: Severity | Literal["off"]


class ToleranceDict(TypedDict, total=False):
    """How far a metric may be worse than its baseline."""

    relative: float
    absolute: float
    better: Literal["higher", "lower"] | None
    """The better direction; needed for a metric that the package does not know."""
    severity: Severity


class DriftRulesDict(TypedDict, total=False):
    """How a run is compared with its baseline."""

    tolerances: Mapping[str, Tolerance | ToleranceDict]
    default: Tolerance | ToleranceDict | None
    """For metrics that ``tolerances`` does not name. Without a tolerance, a change from one baseline run, or
    from runs that never varied, is reported if it is above 10 %, with the severity info."""
    false_alarm_rate: float
    """With several baseline runs: the accepted share of harmless runs with an alarm for any metric."""
    sustained: int
    """Number of newest runs in a row, this run included, that have to breach before it is critical.

    With 1, a breach has the severity of its tolerance; with more, a single breach is at most a warning.
    """


class ToolCallDict(TypedDict, total=False):
    """One observed action: a tool call by default, or a hand-off, a step of work, or reasoning."""

    name: Required[str]
    args: Mapping[str, object] | str | None
    """An object, or the JSON text that a model API recorded."""
    result: object
    """The answer of the tool."""
    error: bool | str | None
    """True, or the text of the error, if the call failed."""
    not_run: Literal["denied", "forbidden", "unknown"] | None
    """Why the tool did not run, so that the call failed: a person denied it, a rule forbids it, or the same
    call may have had its effect before."""
    agent: str | None
    """The agent that acted."""
    target: str | None
    """The agent that a hand-off goes to."""
    kind: ActionKind
    latency_ms: float | None
    id: str | None
    message: int | None
    """The number of the message that made the call; calls of one message are parallel."""


class MeasuredDict(TypedDict, total=False):
    """The measured quantities of a run; absent means not measured, never 0."""

    latency_ms: float | None
    call_latencies_ms: Sequence[float] | None
    """One value for each model call, in order."""
    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    cost_usd: float | None
    model_calls: int | None
    retries: int | None
    resources: Mapping[str, float] | None
    """Custom quantities by name, with the unit in the name."""
    estimated: list[str] | None
    """The names of the quantities that are estimated, not measured."""
    model: str | None


class AgentRunDict(MeasuredDict, total=False):
    """A recorded run: input, output, and the actions in between.

    It needs an output, an action, a message or an error: without any of them, there is nothing to evaluate.
    """

    input: str
    """The request of the user; ``user_input`` is another name of it."""
    user_input: str
    """The request of the user; ``user_input`` is another name of it."""
    final_output: str | None
    """The last answer; if absent, the text of the last message of the assistant, if the run has finished."""
    tool_calls: Sequence[str | ToolCall | ToolCallDict]
    """Names or objects, in the order of the calls; if absent, the calls that ``messages`` hold."""
    messages: Sequence[object]
    """The conversation, in any format that ``run_from_messages`` reads."""
    error: str | None
    """The error that ended the run; such a run fails, whatever else was measured."""
    plan: list[str] | None
    """The names of the actions that the agent announced, in order."""
    writing_tools: list[str]
    """The tools that change something, as the run itself says. It can only make the evaluation stricter: what
    only reads, the contract alone decides."""
    timestamps: Mapping[str, str | float] | Sequence[str | float] | None
    """The times of the run and of its parts, as labels: no metric is computed from them."""
    metadata: RunMetadata | Mapping[str, object] | None


class EvaluationContractDict(TypedDict, total=False):
    """The requirements on a run; absent requirements are not checked, and the report says so."""

    checks: Sequence[CheckModel | CheckDict]
    """Requirements that code decides, on the final output and on the tools that were called."""
    reference_output: str | None
    keywords: list[str]
    required_content: Sequence[ContentRule | ContentRuleDict]
    forbidden_content: Sequence[ContentRule | ContentRuleDict]
    output_length: LengthBounds | LengthBoundsDict | None
    expected_trajectory: Sequence[str | ExpectedAction | ExpectedActionDict] | None
    trajectory_match_mode: Literal[
        "exact", "in_order", "any_order", "precision_recall", "single_tool", "subset", "superset"
    ]
    must_call: list[str]
    """Tools of which each has to be called at least once without an error."""
    trajectory: TrajectoryRules | TrajectoryRulesDict
    thresholds: Mapping[str, Threshold | ThresholdDict | float | bool]
    rubric: Rubric | RubricDict | None
    subjective_criteria: list[str]
    """Criteria such as helpfulness, neutrality or clarity; a judge scores each."""
    judge: JudgePolicy | JudgePolicyDict
    audit: AuditRules | AuditRulesDict
    drift: DriftRules | DriftRulesDict
    owner: str | None
    """Owner of the alerts whose rule or threshold names no owner."""


class EvaluationCaseDict(EvaluationContractDict, total=False):
    """One recorded run with its contract: the input of ``evaluate``."""

    case_id: str | None
    input: str
    """Name or description of the evaluation."""
    agent_run: Required[AgentRun | AgentRunDict]
    run_metadata: RunMetadata | Mapping[str, object] | None
    baseline_metrics: Mapping[str, object] | None
    fake_judge_response: Mapping[str, object] | str | None
    """An answer for tests, in the form that a judge returns. It is used if no judge is given, and the report
    says so."""


class TaskCaseDict(TypedDict, total=False):
    """A task with the contract of its final output."""

    name: str | None
    """Names the case in reports. Default: its place in the file."""
    task: Required[str]
    contract: Literal["from_task"] | EvaluationContract | EvaluationContractDict
    """The contract, or "from_task": the contract is derived from the task when it is used."""
    unchecked: list[str]
    """Requirements of the task that the contract does not check, in the words of the task."""
