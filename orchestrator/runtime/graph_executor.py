"""Lets a compiled LangGraph with ``messages`` carry out steps: ``create_agent``, deepagents, a StateGraph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode

from agents import ExecutionAgent, prompts
from agents.base import overrides_invoke
from agents.errors import TextualCallError
from agents.loop.effects import find_gate
from agents.loop.executor_graph import read_output
from agents.loop.langgraph_internals import choose_durability
from agents.loop.reply_problems import find_unmade_call
from agents.loop.tool_arguments import list_parameters
from orchestrator.errors import ConfigurationError
from orchestrator.runtime.agent_methods import Executor

AnyGraph: TypeAlias = CompiledStateGraph[Any, Any, Any, Any]
_STEPS = ("execute_step", "aexecute_step", "correct_step", "acorrect_step")


class GraphExecutor:
    """Carries out steps with a graph, which runs as a subgraph of the run.

    Its replies and the answers of its tools are kept by the checkpointer of the run, and a question that it
    asks with ``interrupt`` is a question of the run.

    Args:
        graph: The graph.
        context: The runtime context of the graph; None if it has none.

    Raises:
        ConfigurationError: The graph has no ``messages``, or a checkpointer of its own.
    """

    def __init__(self, graph: AnyGraph, context: object = None) -> None:
        if "messages" not in graph.channels:
            raise ConfigurationError(
                f"executor is a graph without messages, its state has {', '.join(sorted(graph.channels))}; "
                "give a graph whose state has messages, as create_agent builds it"
            )
        if graph.checkpointer is not None:
            raise ConfigurationError(
                f"executor is a graph with checkpointer={graph.checkpointer!r:.60}; compile it without one: "
                "the checkpointer of the orchestrator keeps its state"
            )
        self.graph = graph
        self.tools = _find_tools(graph)
        self._context = context

    async def aexecute_step(
        self, step_description: str, context: str = "", *, task: str = "", schema: object = None
    ) -> str:
        """Carries out a step, and returns the text of the last message."""
        return await self._run([_build_request(step_description, context, task, schema)])

    async def acorrect_step(
        self,
        step_description: str,
        previous_output: str,
        feedback: str,
        context: str = "",
        *,
        task: str = "",
        schema: object = None,
    ) -> str:
        """Carries out a step again, after its last output and the reason why it was refused."""
        request = _build_request(step_description, context, task, schema)
        # Servers refuse a message without text.
        refused = AIMessage(previous_output if previous_output.strip() else "(empty)")
        return await self._run([request, refused, HumanMessage(prompts.correction_turn(feedback))])

    execute_step = aexecute_step
    correct_step = acorrect_step

    async def _run(self, messages: Sequence[BaseMessage]) -> str:
        durability = choose_durability()
        state = await self.graph.ainvoke(
            {"messages": [*messages]}, context=self._context, durability=durability
        )
        made = state["messages"][len(messages) :]
        if (gate := find_gate()) is not None:
            gate.note_history(made, state.get("effects") or {})
        output, replies = read_output(state), [each for each in made if isinstance(each, AIMessage)]
        called = {call["name"] for reply in replies for call in reply.tool_calls}
        # The graph ended with it: nobody is left to tell its model.
        tools = list_parameters(self.tools)
        if replies and (call := find_unmade_call(replies[-1], tools, called)) is not None:
            raise TextualCallError(call)
        return output


def read_executor(executor: Executor | AnyGraph, context: object) -> Executor:
    """Returns an executor with the documented methods.

    Raises:
        ConfigurationError: A graph is not accepted, or there is a context and no graph.
    """
    if isinstance(executor, CompiledStateGraph):
        return cast("Executor", GraphExecutor(executor, context))
    if context is not None:
        raise ConfigurationError(
            f"executor_context is for an executor that is a compiled graph, and the executor is a "
            f"{type(executor).__name__}; leave it out"
        )
    return executor


def find_agent_graph(executor: object) -> AnyGraph | None:
    """Returns the graph that carries out the steps of an executor; None if it does that by itself."""
    if isinstance(executor, GraphExecutor):
        return executor.graph
    if not isinstance(executor, ExecutionAgent) or overrides_invoke(executor):
        return None
    kind = type(executor)
    is_own = any(getattr(kind, name) is not getattr(ExecutionAgent, name) for name in _STEPS)
    return None if is_own or vars(executor).keys() & {*_STEPS} else executor.graph


def _build_request(step: str, context: str, task: str, schema: object) -> HumanMessage:
    form = schema if isinstance(schema, Mapping) else None
    return HumanMessage(prompts.add_schema(prompts.step_request(step, context, task), form))


def _find_tools(graph: AnyGraph) -> list[BaseTool]:
    nodes = (node.bound for node in graph.nodes.values())
    tools = (node.tools_by_name.values() for node in nodes if isinstance(node, ToolNode))
    return [tool for each in tools for tool in each]
