"""The wiring of a run. It reads as it is drawn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Final, TypeAlias

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send

from orchestrator.errors import ConfigurationError
from orchestrator.graph.routing import route_after_join, route_after_planner
from orchestrator.graph.step import Builder, StepNodes, add_step
from orchestrator.graph.threaded_saver import awaitable_saver
from orchestrator.nodes.node import Node, saving
from orchestrator.planning.parallel import branches_of
from orchestrator.runtime.context import RunContext
from orchestrator.state.graph_state import BRANCH, OrchestratorState, RunInput

Graph: TypeAlias = CompiledStateGraph[OrchestratorState, RunContext, RunInput, OrchestratorState]
_PARALLEL: Final = "parallel"


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of a run.

    Attributes:
        planner: Makes the plan.
        step: The nodes of each of its steps.
        branch: Runs one step beside others.
        join: Puts those together again.
        replans: Whether the rest may be planned anew.
    """

    planner: Node
    step: StepNodes
    branch: Node
    join: Node
    replans: bool


def build_graph(nodes: Nodes, checkpointer: BaseCheckpointSaver[str] | None) -> Graph:
    """Compile the graph of a run.

    Raises:
        ConfigurationError: ``checkpointer`` is no LangGraph saver.
    """
    graph: Builder = StateGraph(OrchestratorState, context_schema=RunContext, input_schema=RunInput)
    replan: dict[Hashable, str] = {"replan": "planner_node"} if nodes.replans else {}

    graph.add_node("planner_node", saving(nodes.planner))
    add_step(graph, nodes.step, replan)
    graph.add_node(BRANCH, nodes.branch)
    graph.add_node("join_node", saving(nodes.join))

    graph.add_edge(START, "planner_node")
    graph.add_conditional_edges(
        "planner_node",
        _sending(lambda state: route_after_planner(state, nodes.step.mode), "route_after_planner"),
        {**nodes.step.begins, _PARALLEL: BRANCH, "end": END},
    )
    graph.add_edge(BRANCH, "join_node")
    graph.add_conditional_edges(
        "join_node",
        _sending(route_after_join, "route_after_join"),
        {_PARALLEL: BRANCH, **replan, "end": END},
    )
    return graph.compile(checkpointer=_saver(checkpointer), name="plan_execute_monitor")


def _saver(checkpointer: BaseCheckpointSaver[str] | None) -> BaseCheckpointSaver[str] | None:
    if checkpointer is not None and not isinstance(checkpointer, BaseCheckpointSaver):
        raise ConfigurationError(
            f"checkpointer is {checkpointer!r:.80}; give a LangGraph saver such as InMemorySaver(), or None"
        )
    return None if checkpointer is None else awaitable_saver(checkpointer)


def _sending(
    route: Callable[[OrchestratorState], str], name: str
) -> Callable[[OrchestratorState], Awaitable[str | list[Send]]]:
    """A route, as a coroutine, that sends every step which can run now its own state."""

    async def routed(state: OrchestratorState) -> str | list[Send]:
        label = route(state)
        if label != _PARALLEL:
            return label
        return [Send(BRANCH, branch) for branch in branches_of(state)]

    routed.__name__ = name
    return routed
