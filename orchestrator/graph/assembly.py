"""From agents and settings to the compiled graph."""

from __future__ import annotations

from dataclasses import dataclass

from langgraph.checkpoint.base import BaseCheckpointSaver

from evaluation import AsyncJudge, Judge
from orchestrator.errors import ConfigurationError
from orchestrator.graph.graph import Graph, Nodes, build_graph
from orchestrator.graph.step import StepNodes, SupervisionNodes, build_step
from orchestrator.judging.contracts import Contracts, ContractSource, contracts_of
from orchestrator.judging.evaluator import Evaluator
from orchestrator.nodes.branch import branch_node, join_node
from orchestrator.nodes.commit import commit_node
from orchestrator.nodes.executor import ExecutorMethods, executor_node
from orchestrator.nodes.human import answer_node, approval_node
from orchestrator.nodes.monitor import monitor_node
from orchestrator.nodes.planner import planner_node
from orchestrator.nodes.reconcile import reconcile_node
from orchestrator.nodes.self_assess import post_node
from orchestrator.nodes.supervise import supervise_node
from orchestrator.runtime.agent_methods import agent_method, compressor_method, correction_method
from orchestrator.runtime.protocols import Compressor, Executor, Monitor, Planner
from orchestrator.settings import Settings
from orchestrator.state.stored import SCHEMA, SCHEMA_VERSION
from orchestrator.supervision.modes import Modes
from orchestrator.supervision.phases import Phases, phases_of


@dataclass(frozen=True, slots=True)
class Agents:
    """Who does the work; ``supervisor`` is a chat model, an object with the methods, or None."""

    planner: Planner
    executor: Executor
    monitor: Monitor
    compressor: Compressor | None
    judge: Judge | AsyncJudge | None
    supervisor: object


def compiled(
    agents: Agents,
    contract: ContractSource,
    settings: Settings,
    checkpointer: BaseCheckpointSaver[str] | None,
) -> Graph:
    """Build the graph of these agents.

    Raises:
        ConfigurationError: The contract, the supervision or the checkpointer is not accepted.
    """
    if settings.retry_policy.needs_review == "human" and not settings.human:
        raise ConfigurationError(
            "needs_review is 'human', and there is no checkpointer to keep the question; "
            "give LangGraphOrchestrator one, such as checkpointer=InMemorySaver()"
        )
    phases = phases_of(
        agents.executor, agents.monitor, agents.supervisor, settings.supervision_policy, settings.now
    )
    modes = Modes(settings.supervision, human=settings.human, model=phases.complete)
    step = _step(agents, contract, phases, modes, settings)
    nodes = Nodes(
        planner=planner_node(agent_method(agents.planner, "generate_plan"), modes, settings),
        step=step,
        branch=branch_node(build_step(step, settings), settings),
        join=join_node(settings),
        replans=settings.retry_policy.max_replans > 0,
    )
    graph = build_graph(nodes, checkpointer)
    return graph.with_config(recursion_limit=settings.recursion_limit, metadata={SCHEMA: SCHEMA_VERSION})


def _step(
    agents: Agents, contract: ContractSource, phases: Phases, modes: Modes, settings: Settings
) -> StepNodes:
    methods = ExecutorMethods(
        agent_method(agents.executor, "execute_step"), correction_method(agents.executor)
    )
    contracts = contracts_of(contract)
    evaluator = Evaluator(
        agent_method(agents.monitor, "evaluate"), agents.judge, settings.retry_policy.judge_attempts
    )
    return StepNodes(
        executor=executor_node(methods, compressor_method(agents.compressor), contracts, settings),
        monitor=monitor_node(evaluator, contracts, settings),
        supervision=_supervision(phases, contracts, settings) if modes.any else None,
        approval=approval_node if settings.human and _asks(settings) else None,
        answer=answer_node(settings),
        mode=modes.default,
        modes=modes.possible,
        reviewed=settings.retry_policy.needs_review == "human",
    )


def _supervision(phases: Phases, contracts: Contracts, settings: Settings) -> SupervisionNodes:
    return SupervisionNodes(
        commit=commit_node(phases.commit, contracts, settings),
        post=post_node(phases.assess, settings),
        reconcile=reconcile_node(phases.reconcile, settings),
        supervise=None if phases.supervise is None else supervise_node(phases.supervise, settings),
    )


def _asks(settings: Settings) -> bool:
    """Whether a person may be asked anything."""
    return settings.supervision != "none" or settings.retry_policy.needs_review == "human"
