"""The input models of a recorded run, and of the actions that are expected of it."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self, TypeAlias, cast, get_args

from pydantic import AliasChoices, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from evaluation.checks.check_model import NotRun, Text
from evaluation.importers.imported_message import dump_messages
from evaluation.validation import InputModel, wrap_name
from evaluation.values import Count, Quantity

CallOutcome = Literal["acted", "refused", "unknown", "stated", "reused", "denied"]
"""What a call of an acting tool did: ``stated`` is a person's word that it acted, ``reused`` the answer of an
earlier equal call, and ``denied`` a person's no."""
ActionKind = Literal["tool", "action", "handoff", "reasoning"]


class ToolCall(InputModel):
    """One observed action: a tool call by default, or a hand-off, a step of work, or reasoning."""

    name: str
    args: dict[str, object] | str | None = None
    """An object, or the JSON text that a model API recorded."""
    result: object = None
    """The answer of the tool."""
    error: bool | str | None = None
    """True, or the text of the error, if the call failed."""
    not_run: NotRun | None = None
    """Why the tool did not run, so that the call failed: a person denied it, a rule forbids it, or the same
    call may have had its effect before."""
    outcome: CallOutcome | None = None
    """What a call of an acting tool did. Default: what its answer says."""
    agent: str | None = None
    """The agent that acted."""
    target: str | None = None
    """The agent that a hand-off goes to."""
    kind: ActionKind = "tool"
    latency_ms: Quantity | None = None
    id: str | None = None
    message: Count | None = None
    """The number of the message that made the call; calls of one message are parallel."""


NamedCall: TypeAlias = Annotated[ToolCall, BeforeValidator(wrap_name, json_schema_input_type=str | ToolCall)]
"""A tool call, for which its name alone may be given."""


class Measured(InputModel):
    """The measured quantities of a run; absent means not measured, never 0."""

    latency_ms: Quantity | None = None
    call_latencies_ms: list[Quantity] | None = None
    """One value for each model call, in order."""
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    total_tokens: Count | None = None
    cost_usd: Quantity | None = None
    model_calls: Count | None = None
    retries: Count | None = None
    resources: dict[str, Quantity] | None = None
    """Custom quantities by name, with the unit in the name."""
    estimated: list[str] | None = None
    """The names of the quantities that are estimated, not measured."""
    model: str | None = None


class RunMetadata(Measured):
    """Measured quantities, and free labels such as prompt_version, environment or timestamp."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, object]

    prompt_version: str | None = None
    agent_version: str | None = None
    environment: str | None = None
    timestamp: str | None = None


def _add_user_input(schema: JsonDict) -> None:
    """Say in JSON Schema that the input has two names."""
    fields = cast("JsonDict", schema["properties"])
    schema["properties"] = {**fields, "user_input": fields["input"]}


class AgentRun(Measured):
    """A recorded run: input, output, and the actions in between.

    It needs an output, an action, a message or an error: without any of them, there is nothing to evaluate.
    """

    model_config = ConfigDict(json_schema_extra=_add_user_input)

    input: Annotated[str, Field(validation_alias=AliasChoices("input", "user_input"))] = ""
    """The request of the user; ``user_input`` is another name of it."""
    final_output: str | None = None
    """The last answer; if absent, the text of the last message of the assistant, if the run has finished."""
    tool_calls: list[NamedCall] = Field(default_factory=list)
    """Names or objects, in the order of the calls; if absent, the calls that ``messages`` hold."""
    messages: Annotated[list[dict[str, object]], BeforeValidator(dump_messages)] = Field(default_factory=list)
    """The conversation, in any format that ``run_from_messages`` reads."""
    probes: list[ToolCall] = Field(default_factory=list)
    """The answers of tools that were asked after the run, for checks of the kind ``probe``."""
    earlier_calls: list[ToolCall] = Field(default_factory=list)
    """Calls of earlier steps and attempts, which only the search for defects reads."""
    sources: list[str] = Field(default_factory=list)
    """Further texts that the output may take facts from, such as documents that the run was given."""
    error: str | None = None
    """The error that ended the run; such a run fails, whatever else was measured."""
    plan: list[str] | None = None
    """The names of the actions that the agent announced, in order."""
    acting_tools: list[str] = Field(default_factory=list)
    """The tools that change something, as the run itself says. It can only make the evaluation stricter: what
    only reads, the contract alone decides."""
    timestamps: dict[str, str | float] | list[str | float] | None = None
    """The times of the run and of its parts, as labels: no metric is computed from them."""
    metadata: RunMetadata | None = None

    @model_validator(mode="after")
    def _require_content(self) -> Self:
        # Whether a field is set counts: an empty list of calls says that the agent called no tool.
        if not self.model_fields_set & {"final_output", "tool_calls", "messages", "error"}:
            raise ValueError(
                "a run needs 'final_output', 'tool_calls', 'messages' or 'error'; add one of them"
            )
        return self


MEASURES: Final = frozenset(Measured.model_fields)


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

    name: Annotated[str, Field(pattern=r"\S")] | None = None
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
