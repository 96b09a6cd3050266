"""Builds the runnable that runs the tool of a call, with LangGraph's ToolNode."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, cast

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.errors import GraphInterrupt
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest, msg_content_output
from langgraph.types import Command

from agents.calls.stand_in_tools import refuse_unknown

ToolRunner = Runnable[MessagesState, MessagesState]
ToolOutcome = ToolMessage | Command[str]

_OUTER_GRAPH: Final = "outer_graph"
"""Name of the values of the graph that calls the agent in ``config["configurable"]`` of the tools."""
_NO_HUMAN: Final = "The tool wanted to ask a human, and none can be asked here. Go on without it."


def build_tool_runner(tools: Sequence[BaseTool]) -> ToolRunner:
    """Builds a runnable that answers each tool call of the last message. A failure is an answer, too.

    Raises:
        GraphInterrupt: A tool asks a human, and the runner is called inside a graph.
    """
    node = ToolNode(
        tools, handle_tool_errors=_describe_failure, wrap_tool_call=_run_tool, awrap_tool_call=_arun_tool
    )

    def run(state: MessagesState, config: RunnableConfig) -> object:
        return node.invoke(state, _use_outer_graph(config))

    async def arun(state: MessagesState, config: RunnableConfig) -> object:
        return await node.ainvoke(state, _use_outer_graph(config))

    graph = StateGraph(MessagesState)
    graph.add_node("tools", RunnableLambda(run, arun))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    # False, since it would inherit the checkpointer of a graph that calls the agent.
    return cast("ToolRunner", graph.compile(checkpointer=False))


def has_async_only_tool(tools: Sequence[BaseTool]) -> bool:
    """Checks whether a tool can only be awaited, as the tools of MCP servers."""
    return any(isinstance(tool, StructuredTool) and tool.func is None for tool in tools)


def read_outer_values() -> Mapping[str, object]:
    """Returns the values in ``config["configurable"]`` of the caller of the agent."""
    return (var_child_runnable_config.get() or RunnableConfig()).get("configurable", {})


def build_runner_config(added: Mapping[str, object], metadata: Mapping[str, object]) -> RunnableConfig:
    """Builds the config of a runner.

    Args:
        added: Values for the tools, beside the values of the caller of the agent.
        metadata: Metadata of the call.
    """
    values = {**read_outer_values(), **added}
    outer = values if values.get("checkpoint_ns") else None
    return RunnableConfig(configurable={**values, _OUTER_GRAPH: outer}, metadata=dict(metadata))


def _run_tool(request: ToolCallRequest, execute: Callable[[ToolCallRequest], ToolOutcome]) -> ToolOutcome:
    if request.tool is None:
        return _refuse_unknown(request)
    try:
        return _address(request, execute(request))
    except GraphInterrupt as question:
        return _answer_question(request, question)
    except SystemExit as error:
        return build_error(request.tool_call, _format_failure(error))


async def _arun_tool(
    request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[ToolOutcome]]
) -> ToolOutcome:
    if request.tool is None:
        return _refuse_unknown(request)
    try:
        return _address(request, await execute(request))
    except GraphInterrupt as question:
        return _answer_question(request, question)
    except SystemExit as error:
        return build_error(request.tool_call, _format_failure(error))


def _refuse_unknown(request: ToolCallRequest) -> ToolMessage:
    return refuse_unknown(request.tool_call, sorted(tool.name for tool in request.runtime.tools))


def _answer_question(request: ToolCallRequest, question: GraphInterrupt) -> ToolMessage:
    """Answers a tool's question to a human, unless an outer graph can ask it."""
    if request.runtime.config["configurable"].get(_OUTER_GRAPH) is not None:
        raise question
    return build_error(request.tool_call, _NO_HUMAN)


def _use_outer_graph(config: RunnableConfig) -> RunnableConfig:
    """Returns the config of the tools, in which an ``interrupt()`` belongs to the graph that calls the agent.

    LangGraph finds the answer to an interrupt by its place, and the runner's own graph has a random place.
    """
    own = config.get("configurable", {})
    outer = own.get(_OUTER_GRAPH)
    if outer is None:
        return config
    return RunnableConfig(**{**config, "configurable": {**own, **outer, _OUTER_GRAPH: outer}})


def _address(request: ToolCallRequest, outcome: ToolOutcome) -> ToolOutcome:
    """Writes the id of the call on the message of a tool, which may have written another one."""
    if not isinstance(outcome, ToolMessage):
        return outcome
    return format_lists(outcome).model_copy(update={"tool_call_id": request.tool_call["id"]})


def format_lists(answer: ToolMessage) -> ToolMessage:
    """Returns the answer as the model reads it, with a list as JSON unless it is a list of content blocks.

    LangChain takes a list of texts for content blocks, whose text is one word after another.
    """
    content = "[]" if answer.content == [] else msg_content_output(answer.content)
    return answer.model_copy(update={"content": content})


def build_error(call: ToolCall, reason: str) -> ToolMessage:
    """Builds the answer to a call that failed."""
    return ToolMessage(reason, name=call["name"], tool_call_id=call["id"], status="error")


def _describe_failure(error: Exception) -> str:
    # ToolNode catches the class in the annotation; SystemExit is no Exception, so it needs its own function.
    return _format_failure(error)


def _format_failure(error: BaseException) -> str:
    return f"The tool failed: {type(error).__name__}: {error}. Mend the call, or go on without it."
