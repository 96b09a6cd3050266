"""What an agent did: the record that is evaluated."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from evaluation.values import Count, InputModel, NameOrObject, Quantity

ActionKind = Literal["tool", "action", "handoff", "reasoning"]


class ToolCall(InputModel):
    """One observed action: a tool call by default, or a hand-off, a step of work, a piece of reasoning."""

    name: str
    args: dict[str, object] | str | None = None
    """The arguments as an object, or as the JSON text that a model API recorded."""
    result: object = None
    """What the tool answered."""
    error: bool | str | None = None
    """Whether the answer was an error, or the error's text."""
    agent: str | None = None
    """Who acted."""
    target: str | None = None
    """Whom a hand-off went to."""
    kind: ActionKind = "tool"
    latency_ms: Quantity | None = None
    id: str | None = None


class Measured(InputModel):
    """The quantities that a run may carry; absent means not measured, never 0."""

    latency_ms: Quantity | None = None
    call_latencies_ms: list[Quantity] | None = None
    """Of each model call, in order."""
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    total_tokens: Count | None = None
    cost_usd: Quantity | None = None
    model_calls: Count | None = None
    retries: Count | None = None
    resources: dict[str, Quantity] | None = None
    """Custom quantities by name, with the unit in the name."""
    estimated: list[str] | None = None
    """The names of those quantities that were estimated rather than measured."""
    model: str | None = None


class RunMetadata(Measured):
    """Quantities, and free labels such as prompt_version, agent_version, environment, timestamp."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, object]

    prompt_version: str | None = None
    agent_version: str | None = None
    environment: str | None = None
    timestamp: str | None = None


class AgentRun(Measured):
    """A recorded run: what went in, what came out, and what was done in between.

    It has to hold an output, an action or a message; a record with none of them shows nothing.
    """

    input: str = ""
    """What the user asked."""
    final_output: str | None = None
    """The last answer; where it is absent, the text of the last assistant message."""
    tool_calls: list[Annotated[ToolCall, NameOrObject()]] = Field(default_factory=list)
    """Names or objects, in the order in which they were made."""
    messages: list[dict[str, object]] = Field(default_factory=list)
    """The conversation as chat messages (role, content)."""
    plan: list[str] | None = None
    """The names of the actions that the agent said it would take, in order."""
    metadata: RunMetadata | None = None

    @model_validator(mode="after")
    def _shows_something(self) -> Self:
        if not self.model_fields_set & {"final_output", "tool_calls", "messages"}:
            raise ValueError("a run needs 'final_output', 'tool_calls' or 'messages'; this one shows nothing")
        return self


MEASURES: Final = frozenset(Measured.model_fields)
