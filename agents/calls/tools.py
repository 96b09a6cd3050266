"""Runs the tools that a model calls, with LangGraph's ToolNode."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast
from uuid import NAMESPACE_OID, uuid5

from langchain_core.messages import AIMessage, BaseMessage, InvalidToolCall, ToolCall, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.errors import GraphInterrupt
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from agents.calls.journal import hash_request
from agents.calls.stand_in_tools import refuse_call, reuse_answer
from agents.calls.tool_gate import describe_call, find_gate

ToolRunner = Runnable[MessagesState, MessagesState]
ToolOutcome = ToolMessage | Command[str]

_OUTER_GRAPH: Final = "outer_graph"
"""Name of the values of the graph that calls the agent in ``config["configurable"]`` of the tools."""
_NO_ANSWER: Final = "The tool ended without an answer. Go on without it."
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


def add_call_ids(reply: AIMessage, place: int) -> AIMessage:
    """Gives each tool call an id of its own: some servers send none or one for all, and an answer needs one.

    Args:
        reply: The reply.
        place: Its place in the conversation. A resumed run finds the same ids, and so the same answers.
    """
    calls = [*reply.tool_calls, *reply.invalid_tool_calls]
    ids = [call["id"] for call in calls]
    with_ids = [
        {**call, "id": call["id"] if call["id"] and call["id"] not in ids[:at] else _build_id(place, at)}
        for at, call in enumerate(calls)
    ]
    valid = len(reply.tool_calls)
    return reply.model_copy(update={"tool_calls": with_ids[:valid], "invalid_tool_calls": with_ids[valid:]})


def _build_id(place: int, at: int) -> str:
    return uuid5(NAMESPACE_OID, f"{place}.{at}").hex


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """The tool calls of one reply.

    Attributes:
        runner: Runs the calls.
        reply: The model's reply. Each of its calls has an id.
    """

    runner: ToolRunner
    reply: AIMessage

    def run(self) -> list[BaseMessage]:
        """Runs the calls. Returns one answer for each, also for a failed call."""
        if not self.reply.tool_calls:
            return self._refuse_invalid_calls()
        return self._collect_answers(self.runner.invoke({"messages": [self.reply]}, _add_outer_graph()))

    async def arun(self) -> list[BaseMessage]:
        """Runs the calls without blocking the event loop; returns as ``run`` does."""
        if not self.reply.tool_calls:
            return self._refuse_invalid_calls()
        state = await self.runner.ainvoke({"messages": [self.reply]}, _add_outer_graph())
        return self._collect_answers(state)

    def split(self) -> list[ToolCalls]:
        """Returns the calls as requests of one call each, with those that cannot be read in the last one."""
        single = [self._with_calls([call], []) for call in self.reply.tool_calls]
        invalid = self.reply.invalid_tool_calls
        return [*single, *([self._with_calls([], invalid)] if invalid else [])]

    def without(self, ids: Collection[str]) -> ToolCalls:
        """Returns the request without the calls with these ids."""
        others = [call for call in self.reply.tool_calls if call["id"] not in ids]
        return self._with_calls(others, self.reply.invalid_tool_calls)

    def split_repeated(self, once: Collection[str]) -> tuple[ToolCalls, ToolCalls]:
        """Returns the calls that can run at once, and the repeated ones that have to see their answers.

        Args:
            once: Names of the tools that do not run again with the same arguments.
        """
        seen, repeated = set[str](), list[ToolCall]()
        for call in self.reply.tool_calls:
            described = describe_call(call["name"], call["args"])
            if call["name"] in once and described in seen:
                repeated.append(call)
            seen.add(described)
        return self.without({call["id"] or "" for call in repeated}), self._with_calls(repeated, [])

    @property
    def key(self) -> str:
        """Describes the calls for a journal."""
        return hash_request(
            "run", *(describe_call(call["name"], call["args"]) for call in self.reply.tool_calls)
        )

    def _with_calls(self, calls: list[ToolCall], invalid: list[InvalidToolCall]) -> ToolCalls:
        update = {"tool_calls": calls, "invalid_tool_calls": invalid}
        return replace(self, reply=self.reply.model_copy(update=update))

    def _collect_answers(self, state: MessagesState) -> list[BaseMessage]:
        # A tool may have removed the reply or other answers, and a server refuses a call without an answer.
        answers = [message for message in state["messages"] if not self._is_reply(message)]
        answered = {message.tool_call_id for message in answers if isinstance(message, ToolMessage)}
        silent = [call for call in self.reply.tool_calls if call["id"] not in answered]
        return [
            *answers,
            *(_error_answer(call, _NO_ANSWER) for call in silent),
            *self._refuse_invalid_calls(),
        ]

    def _refuse_invalid_calls(self) -> list[BaseMessage]:
        return [_refuse_invalid(call) for call in self.reply.invalid_tool_calls]

    def _is_reply(self, message: BaseMessage) -> bool:
        return isinstance(message, AIMessage) and message.tool_calls == self.reply.tool_calls


def _run_tool(request: ToolCallRequest, execute: Callable[[ToolCallRequest], ToolOutcome]) -> ToolOutcome:
    if (answer := _answer_without_tool(request)) is not None:
        return answer
    try:
        return _address(request, execute(request))
    except GraphInterrupt as question:
        return _answer_question(request, question)
    except SystemExit as error:
        return _error_answer(request.tool_call, _format_failure(error))


async def _arun_tool(
    request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[ToolOutcome]]
) -> ToolOutcome:
    if (answer := _answer_without_tool(request)) is not None:
        return answer
    try:
        return _address(request, await execute(request))
    except GraphInterrupt as question:
        return _answer_question(request, question)
    except SystemExit as error:
        return _error_answer(request.tool_call, _format_failure(error))


def _answer_without_tool(request: ToolCallRequest) -> ToolMessage | None:
    """Answers a call of an unknown or forbidden tool, or one that ran before; None if the tool has to run."""
    call = request.tool_call
    if request.tool is None:
        return _refuse_unknown(request)
    gate = find_gate(request.runtime.config)
    if gate.forbids(call["name"]):
        reason = f"Tool {call['name']!r} is forbidden in this step."
        return refuse_call(call["name"], call["args"], call["id"], reason, "forbidden")
    if (text := gate.find_earlier(call["name"], call["args"])) is not None:
        return reuse_answer(call, text)
    return None


def _answer_question(request: ToolCallRequest, question: GraphInterrupt) -> ToolMessage:
    """Answers a tool's question to a human, unless an outer graph can ask it."""
    if request.runtime.config["configurable"].get(_OUTER_GRAPH) is not None:
        raise question
    return _error_answer(request.tool_call, _NO_HUMAN)


def _add_outer_graph() -> RunnableConfig:
    """Returns the running config with the values of the graph that calls the agent, if there is one."""
    values = (var_child_runnable_config.get() or RunnableConfig()).get("configurable", {})
    outer = values if values.get("checkpoint_ns") else None
    return RunnableConfig(configurable={**values, _OUTER_GRAPH: outer})


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
    return outcome.model_copy(update={"tool_call_id": request.tool_call["id"]})


def _error_answer(call: ToolCall, reason: str) -> ToolMessage:
    return ToolMessage(reason, name=call["name"], tool_call_id=call["id"], status="error")


def _describe_failure(error: Exception) -> str:
    # ToolNode catches the class in the annotation; SystemExit is no Exception, so it needs its own function.
    return _format_failure(error)


def _format_failure(error: BaseException) -> str:
    return f"The tool failed: {type(error).__name__}: {error}. Mend the call, or go on without it."


def _refuse_unknown(request: ToolCallRequest) -> ToolMessage:
    call, names = request.tool_call, sorted(tool.name for tool in request.runtime.tools)
    reason = f"There is no tool {call['name']!r}; there is: {', '.join(names)}."
    return refuse_call(call["name"], call["args"], call["id"], reason)


def _refuse_invalid(call: InvalidToolCall) -> ToolMessage:
    reason = f"The arguments are not valid JSON: {call['error'] or call['args']}"
    return refuse_call(call["name"] or "", {"arguments": call["args"]}, call["id"], reason)
