"""Builds the graph of a run from the agents and settings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Final, TypeAlias

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send

from evaluation import AsyncJudge, Judge
from orchestrator.errors import ConfigurationError
from orchestrator.graph.async_saver import with_async_methods
from orchestrator.graph.routing import route_after_join, route_after_planner
from orchestrator.graph.step import Builder, StepNodes, SupervisionNodes, add_step, build_step_graph
from orchestrator.judging.contracts import Contracts, ContractSource, read_contracts
from orchestrator.judging.evaluator import Evaluator
from orchestrator.nodes.base import Node, without_unchanged
from orchestrator.nodes.commit import commit_node
from orchestrator.nodes.executor import ExecutorMethods, executor_node
from orchestrator.nodes.human import answer_node, approval_node
from orchestrator.nodes.monitor import monitor_node
from orchestrator.nodes.parallel import branch_node, join_node
from orchestrator.nodes.planner import planner_node
from orchestrator.nodes.reconcile import reconcile_node
from orchestrator.nodes.self_assess import post_node
from orchestrator.nodes.supervise import supervise_node
from orchestrator.planning.parallel import build_branches
from orchestrator.runtime.agent_methods import bind_compressor, bind_correction, bind_method
from orchestrator.runtime.context import RunContext
from orchestrator.runtime.protocols import Compressor, Executor, Monitor, Planner
from orchestrator.settings import Settings
from orchestrator.state.graph_state import BRANCH, OrchestratorState, RunInput
from orchestrator.state.stored_form import SCHEMA, SCHEMA_VERSION
from orchestrator.supervision.modes import Modes
from orchestrator.supervision.phases import Phases, choose_phases

Graph: TypeAlias = CompiledStateGraph[OrchestratorState, RunContext, RunInput, OrchestratorState]
_PARALLEL: Final = "parallel"


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of a run.

    Attributes:
        planner: Plans the task.
        step: The nodes of each step.
        branch: Runs one of several parallel steps.
        join: Merges the results of parallel steps.
        replans: Whether the rest of the plan may be planned again.
    """

    planner: Node
    step: StepNodes
    branch: Node
    join: Node
    replans: bool


def build_graph(nodes: Nodes, checkpointer: BaseCheckpointSaver[str] | None) -> Graph:
    """Wires and compiles the graph of a run.

    Raises:
        ConfigurationError: ``checkpointer`` is no LangGraph saver.
    """
    graph: Builder = StateGraph(OrchestratorState, context_schema=RunContext, input_schema=RunInput)
    replan: dict[Hashable, str] = {"replan": "planner_node"} if nodes.replans else {}

    graph.add_node("planner_node", without_unchanged(nodes.planner))
    add_step(graph, nodes.step, replan)
    graph.add_node(BRANCH, nodes.branch)
    graph.add_node("join_node", without_unchanged(nodes.join))

    graph.add_edge(START, "planner_node")
    graph.add_conditional_edges(
        "planner_node",
        _send_branches(lambda state: route_after_planner(state, nodes.step.mode), "route_after_planner"),
        {**nodes.step.first_nodes, _PARALLEL: BRANCH, "end": END},
    )
    graph.add_edge(BRANCH, "join_node")
    graph.add_conditional_edges(
        "join_node",
        _send_branches(route_after_join, "route_after_join"),
        {_PARALLEL: BRANCH, **replan, "end": END},
    )
    return graph.compile(checkpointer=_check_saver(checkpointer), name="plan_execute_monitor")


def _check_saver(checkpointer: BaseCheckpointSaver[str] | None) -> BaseCheckpointSaver[str] | None:
    if checkpointer is not None and not isinstance(checkpointer, BaseCheckpointSaver):
        raise ConfigurationError(
            f"checkpointer is {checkpointer!r:.80}; give a LangGraph saver such as InMemorySaver(), or None"
        )
    return None if checkpointer is None else with_async_methods(checkpointer)


def _send_branches(
    route: Callable[[OrchestratorState], str], name: str
) -> Callable[[OrchestratorState], Awaitable[str | list[Send]]]:
    """Extends a route: for parallel steps, it sends each ready step its own state."""

    async def choose_next(state: OrchestratorState) -> str | list[Send]:
        label = route(state)
        if label != _PARALLEL:
            return label
        return [Send(BRANCH, branch) for branch in build_branches(state)]

    choose_next.__name__ = name
    return choose_next


@dataclass(frozen=True, slots=True)
class Agents:
    """The agents of a run; ``supervisor`` is a chat model, an object with the methods, or None."""

    planner: Planner
    executor: Executor
    monitor: Monitor
    compressor: Compressor | None
    judge: Judge | AsyncJudge | None
    supervisor: object


def compile_graph(
    agents: Agents,
    contract: ContractSource,
    settings: Settings,
    checkpointer: BaseCheckpointSaver[str] | None,
) -> Graph:
    """Builds the graph for these agents.

    Raises:
        ConfigurationError: The contract, the supervision or the checkpointer is not accepted.
    """
    if settings.retry_policy.needs_review == "human" and not settings.can_ask_human:
        raise ConfigurationError(
            "needs_review is 'human', but there is no checkpointer to store the question; "
            "give LangGraphOrchestrator one, such as checkpointer=InMemorySaver()"
        )
    phases = choose_phases(
        agents.executor, agents.monitor, agents.supervisor, settings.supervision_policy, settings.now
    )
    modes = Modes(settings.supervision, human=settings.can_ask_human, model=phases.is_complete)
    step = _build_step(agents, contract, phases, modes, settings)
    nodes = Nodes(
        planner=planner_node(bind_method(agents.planner, "generate_plan"), modes, settings),
        step=step,
        branch=branch_node(build_step_graph(step, settings), settings),
        join=join_node(settings),
        replans=settings.retry_policy.max_replans > 0,
    )
    graph = build_graph(nodes, checkpointer)
    return graph.with_config(recursion_limit=settings.recursion_limit, metadata={SCHEMA: SCHEMA_VERSION})


def _build_step(
    agents: Agents, contract: ContractSource, phases: Phases, modes: Modes, settings: Settings
) -> StepNodes:
    methods = ExecutorMethods(bind_method(agents.executor, "execute_step"), bind_correction(agents.executor))
    contracts = read_contracts(contract)
    evaluator = Evaluator(
        bind_method(agents.monitor, "evaluate"), agents.judge, settings.retry_policy.judge_attempts
    )
    return StepNodes(
        executor=executor_node(methods, bind_compressor(agents.compressor), contracts, settings),
        monitor=monitor_node(evaluator, contracts, settings),
        supervision=_build_supervision(phases, contracts, settings)
        if settings.supervision != "none"
        else None,
        approval=approval_node if settings.can_ask_human and _may_ask_human(settings) else None,
        answer=answer_node(settings),
        mode=settings.default_mode,
        modes=modes.possible_modes,
        reviewed=settings.retry_policy.needs_review == "human",
    )


def _build_supervision(phases: Phases, contracts: Contracts, settings: Settings) -> SupervisionNodes:
    return SupervisionNodes(
        commit=commit_node(phases.commit, contracts, settings),
        post=post_node(phases.assess, settings),
        reconcile=reconcile_node(phases.reconcile, settings),
        supervise=None if phases.supervise is None else supervise_node(phases.supervise, settings),
    )


def _may_ask_human(settings: Settings) -> bool:
    return settings.supervision != "none" or settings.retry_policy.needs_review == "human"
