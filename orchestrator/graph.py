"""The wiring of a run. It reads as it is drawn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from orchestrator.errors import ConfigurationError
from orchestrator.nodes.node import Node
from orchestrator.routing import route_after_executor, route_after_monitor, route_after_planner
from orchestrator.run_context import RunContext
from orchestrator.state import OrchestratorState, RunInput
from orchestrator.threaded_saver import awaitable_saver

Graph = CompiledStateGraph[OrchestratorState, RunContext, RunInput, OrchestratorState]


def build_graph(
    planner: Node, executor: Node, monitor: Node, checkpointer: BaseCheckpointSaver[str] | None
) -> Graph:
    """Compile the graph of the three nodes."""
    graph = StateGraph(OrchestratorState, context_schema=RunContext, input_schema=RunInput)

    graph.add_node("planner_node", planner)
    graph.add_node("executor_node", executor)
    graph.add_node("monitor_node", monitor)

    graph.add_edge(START, "planner_node")
    graph.add_conditional_edges(
        "planner_node", _on_the_loop(route_after_planner), {"execute": "executor_node", "end": END}
    )
    graph.add_conditional_edges(
        "executor_node", _on_the_loop(route_after_executor), {"judge": "monitor_node", "end": END}
    )
    graph.add_conditional_edges(
        "monitor_node",
        _on_the_loop(route_after_monitor),
        {"next_step": "executor_node", "retry": "executor_node", "end": END},
    )
    if checkpointer is not None and not isinstance(checkpointer, BaseCheckpointSaver):
        raise ConfigurationError(
            f"checkpointer is {checkpointer!r:.80}; give a LangGraph saver such as InMemorySaver(), or None"
        )
    saver = None if checkpointer is None else awaitable_saver(checkpointer)
    return graph.compile(checkpointer=saver, name="plan_execute_monitor")


def _on_the_loop(route: Callable[[OrchestratorState], str]) -> Callable[[OrchestratorState], Awaitable[str]]:
    """A route as a coroutine: LangGraph would run a plain function in a thread, at ten times its cost."""

    async def routed(state: OrchestratorState) -> str:
        return route(state)

    routed.__name__ = route.__name__
    return routed
