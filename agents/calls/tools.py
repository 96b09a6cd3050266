"""Running the tools that a model asked for, on LangGraph's own ToolNode."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, cast
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, InvalidToolCall, ToolCall, ToolMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langchain_core.tools.base import ArgsSchema
from langgraph.errors import GraphInterrupt
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

ToolRunner = Runnable[MessagesState, MessagesState]
ToolOutcome = ToolMessage | Command[str]

_NOBODY: Final = "The tool wanted to ask a human, and none can be asked here. Go on without it."
_SILENT: Final = "The tool ended without an answer. Go on without it."


def build_tool_runner(tools: Sequence[BaseTool]) -> ToolRunner:
    """A runnable that answers each tool call of the last message, failures included.

    It keeps no checkpoints of its own, whatever graph it is called from.

    Raises:
        GraphInterrupt: A tool asks a human, and the runner is called from within a graph.
    """
    node = ToolNode(tools, handle_tool_errors=_describe, wrap_tool_call=_answered, awrap_tool_call=_aanswered)
    graph = StateGraph(MessagesState)
    graph.add_node("tools", node)
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    return cast("ToolRunner", graph.compile(checkpointer=False))


def has_async_only_tool(tools: Sequence[BaseTool]) -> bool:
    """Whether one of the tools can only be awaited, as those from MCP servers."""
    return any(isinstance(tool, StructuredTool) and tool.func is None for tool in tools)


def add_call_ids(reply: AIMessage) -> AIMessage:
    """The reply with an id for each of its tool calls; some servers give none, and answers need one."""
    if all(call["id"] for call in (*reply.tool_calls, *reply.invalid_tool_calls)):
        return reply
    calls: list[ToolCall] = [{**call, "id": call["id"] or uuid4().hex} for call in reply.tool_calls]
    invalid: list[InvalidToolCall] = [
        {**call, "id": call["id"] or uuid4().hex} for call in reply.invalid_tool_calls
    ]
    return reply.model_copy(update={"tool_calls": calls, "invalid_tool_calls": invalid})


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """The tool calls of one reply.

    Attributes:
        runner: Carries out those that it can.
        names: The tools there are.
        reply: The model's reply, as ``identified`` gives it.
    """

    runner: ToolRunner
    names: frozenset[str]
    reply: AIMessage

    def run(self) -> list[BaseMessage]:
        """Run them; a failure is an answer, too."""
        return self._answers(self.runner.invoke(self._state()) if self._known() else None)

    async def arun(self) -> list[BaseMessage]:
        """Run them without blocking the event loop."""
        return self._answers(await self.runner.ainvoke(self._state()) if self._known() else None)

    def _known(self) -> list[ToolCall]:
        return [call for call in self.reply.tool_calls if call["name"] in self.names]

    def _state(self) -> MessagesState:
        return {"messages": [self.reply.model_copy(update={"tool_calls": self._known()})]}

    def _asked(self, message: AnyMessage) -> bool:
        """Whether it is the reply itself: a tool may have taken that away, or put it elsewhere."""
        return isinstance(message, AIMessage) and message.tool_calls == self._known()

    def _answers(self, state: MessagesState | None) -> list[BaseMessage]:
        done = [message for message in state["messages"] if not self._asked(message)] if state else []
        answered = {message.tool_call_id for message in done if isinstance(message, ToolMessage)}
        unknown = [call for call in self.reply.tool_calls if call["name"] not in self.names]
        return [
            *done,
            *(_error(call, _SILENT) for call in self._known() if call["id"] not in answered),
            *(_unknown(call, self.names) for call in unknown),
            *(_unparsable(call) for call in self.reply.invalid_tool_calls),
        ]


def _answered(request: ToolCallRequest, execute: Callable[[ToolCallRequest], ToolOutcome]) -> ToolOutcome:
    try:
        return _addressed(request, execute(request))
    except GraphInterrupt as question:
        return _unasked(request, question)
    except SystemExit as end:
        return _error(request.tool_call, _failure(end))


async def _aanswered(
    request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[ToolOutcome]]
) -> ToolOutcome:
    try:
        return _addressed(request, await execute(request))
    except GraphInterrupt as question:
        return _unasked(request, question)
    except SystemExit as end:
        return _error(request.tool_call, _failure(end))


def _addressed(request: ToolCallRequest, outcome: ToolOutcome) -> ToolOutcome:
    """A tool's own message as the answer to its call, whichever call the tool wrote on it."""
    if not isinstance(outcome, ToolMessage) or outcome.tool_call_id == request.tool_call["id"]:
        return outcome
    return outcome.model_copy(update={"tool_call_id": request.tool_call["id"]})


def _unasked(request: ToolCallRequest, question: GraphInterrupt) -> ToolMessage:
    """The answer to a call whose tool has a question, where no graph can hand that to a human."""
    if _within_graph(request):
        raise question
    return _error(request.tool_call, _NOBODY)


def _within_graph(request: ToolCallRequest) -> bool:
    """Whether the runner was called from a node of another graph, whose namespace then comes first."""
    return "|" in request.runtime.config["configurable"]["checkpoint_ns"]


def _error(call: ToolCall, reason: str) -> ToolMessage:
    return ToolMessage(reason, name=call["name"], tool_call_id=call["id"], status="error")


class _Refused(BaseTool):
    """Stands in for a call that cannot be carried out, so that callbacks hear of it as of any other."""

    name: str
    description: str = "Refuses a call."
    args_schema: ArgsSchema | None = {"type": "object", "properties": {}}  # noqa: RUF012 - a pydantic field
    handle_tool_error: bool = True
    reason: str

    def _run(self, **_: object) -> str:
        raise ToolException(self.reason)


def _describe(error: Exception) -> str:
    """Named to ToolNode, which reads from the annotation what it is to catch."""
    return _failure(error)


def _failure(error: BaseException) -> str:
    return f"The tool failed: {type(error).__name__}: {error}. Mend the call, or go on without it."


def _unknown(call: ToolCall, names: frozenset[str]) -> ToolMessage:
    reason = f"There is no tool {call['name']!r}; there is: {', '.join(sorted(names))}."
    return _refusal(call["name"], call["args"], call["id"], reason)


def _unparsable(call: InvalidToolCall) -> ToolMessage:
    reason = f"The arguments are not valid JSON: {call['error'] or call['args']}"
    return _refusal(call["name"] or "", {"arguments": call["args"]}, call["id"], reason)


def _refusal(name: str, args: dict[str, object], call_id: str | None, reason: str) -> ToolMessage:
    call = ToolCall(name=name, args=args, id=call_id or "", type="tool_call")
    return cast("ToolMessage", _Refused(name=name, reason=reason).invoke(call))
