"""Spans of the calls of models and tools, from LangChain's callbacks to the fields of OpenTelemetry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from opentelemetry.util.genai.invocation import InferenceInvocation
from opentelemetry.util.genai.types import (
    InputMessage,
    MessagePart,
    OutputMessage,
    TextPart,
    ToolCallRequestPart,
    ToolCallResponsePart,
)

from orchestrator.telemetry.span_tree import Place

_AGENTS: Final = {"planner_node": "planner", "executor_node": "executor", "monitor_node": "monitor"}
_ROLES: Final = {"human": "user", "ai": "assistant"}


def find_place(metadata: Mapping[str, object]) -> Place:
    """Finds the agent that makes a call, and the execution if the metadata names it."""
    path = str(metadata.get("langgraph_checkpoint_ns", "")).split("|")
    nodes = [part.split(":")[0].removeprefix("branch_") for part in path]
    known = [_AGENTS[node] for node in nodes if node in _AGENTS]
    agent = known[-1] if known else nodes[0].removesuffix("_node")
    step, attempt = metadata.get("step_index"), metadata.get("attempt")
    is_executed = isinstance(step, int) and isinstance(attempt, int) and agent != "planner"
    return Place(step, attempt, agent) if is_executed else Place(agent=agent)  # type: ignore[arg-type]


def read_model(metadata: Mapping[str, object]) -> tuple[str, str | None]:
    """Returns the provider and the name of the model that is called, as LangChain states them."""
    name = metadata.get("ls_model_name")
    return str(metadata.get("ls_provider") or "unknown"), None if name is None else str(name)


def describe_input(messages: Sequence[BaseMessage]) -> list[InputMessage]:
    """Describes the messages that a model gets."""
    return [InputMessage(_ROLES.get(each.type, each.type), _list_parts(each)) for each in messages]


def add_response(call: InferenceInvocation, response: LLMResult) -> None:
    """Adds the reply, its tokens and its reason for ending to the span of a call."""
    generation = response.generations[0][0] if response.generations and response.generations[0] else None
    if not isinstance(generation, ChatGeneration) or not isinstance(generation.message, AIMessage):
        return
    message = generation.message
    details = message.response_metadata
    if usage := message.usage_metadata:
        call.input_tokens, call.output_tokens = usage["input_tokens"], usage["output_tokens"]
    if isinstance(name := details.get("model_name") or details.get("model"), str):
        call.response_model_name = name
    reason = str(details.get("finish_reason") or details.get("done_reason") or "stop")
    call.finish_reasons = [reason]
    if call.should_capture_content:
        call.output_messages = [OutputMessage("assistant", _list_parts(message), reason)]


def _list_parts(message: BaseMessage) -> list[MessagePart]:
    if message.type == "tool":
        return [ToolCallResponsePart(message.text, getattr(message, "tool_call_id", None))]
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    asked = [ToolCallRequestPart(call["args"], call["name"], call["id"]) for call in calls]
    return [*([TextPart(message.text)] if message.text else []), *asked]
