"""Running the tools that a model asked for, on LangGraph's own ToolNode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, InvalidToolCall, ToolMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

ToolRunner = Runnable[MessagesState, MessagesState]


def tool_runner(tools: Sequence[BaseTool]) -> ToolRunner:
    """A runnable that answers each tool call of the last message, failures included.

    It keeps no checkpoints of its own, whatever graph it is called from.
    """
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(tools, handle_tool_errors=_describe))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    return cast("ToolRunner", graph.compile(checkpointer=False))


def awaits(tools: Sequence[BaseTool]) -> bool:
    """Whether one of the tools can only be awaited, as those from MCP servers."""
    return any(isinstance(tool, StructuredTool) and tool.func is None for tool in tools)


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """The tool calls of one reply."""

    runner: ToolRunner
    reply: AIMessage

    def run(self) -> list[BaseMessage]:
        """Run them; a failure is an answer, too."""
        return self._answers(self.runner.invoke(self._state()) if self.reply.tool_calls else None)

    async def arun(self) -> list[BaseMessage]:
        """Run them without blocking the event loop."""
        return self._answers(await self.runner.ainvoke(self._state()) if self.reply.tool_calls else None)

    def _state(self) -> MessagesState:
        return {"messages": [self.reply]}

    def _answers(self, state: MessagesState | None) -> list[BaseMessage]:
        done: list[AnyMessage] = state["messages"][1:] if state else []
        return [*done, *(_refusal(call) for call in self.reply.invalid_tool_calls)]


def _describe(error: Exception) -> str:
    return f"The tool failed: {type(error).__name__}: {error}. Mend the call, or go on without it."


def _refusal(call: InvalidToolCall) -> ToolMessage:
    return ToolMessage(
        f"The arguments are not valid JSON: {call['error'] or call['args']}",
        tool_call_id=call["id"] or "",
        name=call["name"],
        status="error",
    )
