"""Builds the graph of a run from the agents and settings, and adds async methods to savers that have none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.graph import START, StateGraph
from langgraph.types import StreamWriter

from evaluation.plugins import Plugins
from orchestrator.errors import ConfigurationError
from orchestrator.graph.executor import ExecutorMethods, executor_node
from orchestrator.graph.monitor import monitor_node, report_ended
from orchestrator.graph.planner import planner_node
from orchestrator.graph.step import (
    NO_LIMIT,
    Builder,
    StepNodes,
    add_route,
    add_step,
    build_runnable,
    route_after_planner,
    with_conclusion,
)
from orchestrator.graph.supervise import (
    answer_node,
    approval_node,
    commit_node,
    post_node,
    reconcile_node,
    supervise_node,
)
from orchestrator.judging.contract_choice import Contracts, Synthesis
from orchestrator.judging.contract_options import TaskContracts
from orchestrator.judging.evaluator import Evaluator
from orchestrator.judging.executor_tools import ExecutorTools, check_approvals
from orchestrator.judging.judging_calls import Judges
from orchestrator.runs.launch import Graph
from orchestrator.runtime import agent_methods
from orchestrator.runtime.bounded_call import Node, Reporter, RunContext
from orchestrator.settings import MODES, Modes, Settings
from orchestrator.state.graph_state import (
    EXECUTOR,
    MONITOR,
    SCHEMA,
    SCHEMA_VERSION,
    OrchestratorState,
    RunInput,
    StateUpdate,
    is_answer_due,
)
from orchestrator.state.records import SupervisionMode
from orchestrator.supervision.phases import Phases, choose_phases

V = TypeVar("V", int, float, str)


def with_async_methods(saver: BaseCheckpointSaver[V]) -> BaseCheckpointSaver[V]:
    """Returns the saver itself if it has async methods, else a ``ThreadedSaver`` around it."""
    # Imported here: a run without a store does not need SQLite.
    from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: PLC0415

    # SqliteSaver overrides the async methods only to raise NotImplementedError with a hint.
    has_own_method = type(saver).aget_tuple is not BaseCheckpointSaver.aget_tuple
    return saver if has_own_method and not isinstance(saver, SqliteSaver) else ThreadedSaver(saver)


class ThreadedSaver(BaseCheckpointSaver[V]):
    """Wraps a saver; its plain methods run in threads when they are awaited.

    LangGraph calls a saver from several threads, so the saver must work from any thread (a ``sqlite3``
    connection: ``check_same_thread=False``).
    """

    def __init__(self, saver: BaseCheckpointSaver[V]) -> None:
        super().__init__(serde=saver.serde)
        self._saver: BaseCheckpointSaver[V] = saver
        for name in ("get_tuple", "list", "put", "put_writes", "delete_thread", "get_next_version"):
            setattr(self, name, getattr(saver, name))

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> BaseCheckpointSaver[V]:
        """Wraps the saver with another allowlist."""
        return ThreadedSaver(self._saver.with_allowlist(extra_allowlist))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Reads a checkpoint."""
        return await asyncio.to_thread(self._saver.get_tuple, config)

    async def alist(self, *args: Any, **named: Any) -> AsyncIterator[CheckpointTuple]:  # noqa: ANN401
        """Reads checkpoints, the newest first."""
        # All at once: a database cursor may be bound to the thread that opened it.
        for stored in await asyncio.to_thread(lambda: [*self._saver.list(*args, **named)]):
            yield stored

    async def aput(self, *args: Any) -> RunnableConfig:  # noqa: ANN401
        """Stores a checkpoint."""
        return await asyncio.to_thread(self._saver.put, *args)

    async def aput_writes(self, *args: Any) -> None:  # noqa: ANN401
        """Stores the writes of a task."""
        await asyncio.to_thread(self._saver.put_writes, *args)

    async def adelete_thread(self, thread_id: str) -> None:
        """Deletes a thread with all its checkpoints."""
        await asyncio.to_thread(self._saver.delete_thread, thread_id)


@dataclass(frozen=True, slots=True)
class Agents:
    """The agents of a run; ``supervisor`` is a chat model, an object with the methods, or None.

    ``plugins`` are those of the evaluation; their judge takes the place of the monitor. ``models`` has the
    models by name to which a retry policy escalates. ``tools`` are the executor's.
    """

    planner: agent_methods.Planner
    executor: agent_methods.Executor
    monitor: agent_methods.Monitor
    compressor: agent_methods.Compressor | None
    supervisor: object
    plugins: Plugins
    models: Mapping[str, BaseChatModel] = field(default_factory=dict)
    tools: ExecutorTools = field(default_factory=ExecutorTools)


def compile_graph(
    agents: Agents,
    contracts: Contracts,
    derived: TaskContracts | None,
    settings: Settings,
    checkpointer: BaseCheckpointSaver[str] | None,
) -> tuple[Graph, Reporter]:
    """Builds the graph for these agents.

    Returns:
        The graph, and the reporter of an execution at which a run ended.

    Raises:
        ConfigurationError: The contract or the supervision is not accepted, or needs a checkpointer.
    """
    _check_people(agents.executor, agents.tools, settings)
    options, supervisor = settings.options, agents.supervisor
    most = options["supervision_policy"].max_assumptions
    phases = choose_phases(agents.executor, agents.monitor, supervisor, most)
    modes = Modes(options["supervision"], _find_modes(phases, settings, supervisor))
    step = _build_step(agents, contracts, phases, modes, settings)
    wrap = partial(with_conclusion, contracts=contracts, settings=settings)
    plan = agent_methods.bind_method(agents.planner, "generate_plan")
    graph: Builder = StateGraph(OrchestratorState, input_schema=RunInput)
    graph.add_node("planner_node", build_runnable(planner_node(plan, modes, settings, derived), settings))
    graph.add_edge(START, "planner_node")
    add_step(graph, step, settings, wrap)
    add_route(graph, step, "planner_node", route_after_planner, "execute", "commit", "end")
    saver = None if checkpointer is None else with_async_methods(checkpointer)
    compiled = graph.compile(checkpointer=saver, name="plan_execute_monitor")
    reporter = partial(report_ended, wrap(step.nodes[MONITOR]))
    return compiled.with_config(recursion_limit=NO_LIMIT, metadata={SCHEMA: SCHEMA_VERSION}), reporter


def _find_modes(phases: Phases, settings: Settings, supervisor: object) -> frozenset[SupervisionMode]:
    """Returns the modes that somebody can carry out, of an orchestrator that was built for supervision."""
    if settings.options["supervision"] == "none" and supervisor is None:
        return frozenset({"none"})
    is_complete = None not in (phases.commit, phases.assess, phases.supervise)
    possible = {"none": True, "llm": is_complete, "human": settings.can_ask_human}
    return frozenset(mode for mode in MODES if possible[mode])


def _check_people(executor: agent_methods.Executor, tools: ExecutorTools, settings: Settings) -> None:
    """Checks that people can be asked if they have to be."""
    if settings.options["retry_policy"].asks_human and not settings.can_ask_human:
        raise ConfigurationError(
            "a rule of strategies is ask_human, but there is no checkpointer to store the question; "
            "give LangGraphOrchestrator one, such as checkpointer=InMemorySaver()"
        )
    check_approvals(executor, tools, can_ask=settings.can_ask_human)


def choose_synthesis(
    executor: agent_methods.Executor, contracts: Contracts, settings: Settings, *, is_derived: bool
) -> Synthesis:
    """Decides when the results of several steps become one answer, which alone meets rules for the output."""
    if settings.options["synthesis"] is not None:
        return "always" if settings.options["synthesis"] else "never"
    if agent_methods.has_own(executor, "synthesize") or not contracts.own_checks.is_empty:
        return "always"
    return "if_derived" if is_derived else "never"


def _build_step(
    agents: Agents, contracts: Contracts, phases: Phases, modes: Modes, settings: Settings
) -> StepNodes:
    """Returns the nodes of a step that can be reached."""
    policy, possible = settings.options["retry_policy"], modes.possible
    evaluator = _build_evaluator(agents, settings)
    methods = _bind_methods(agents, settings)
    nodes = {
        EXECUTOR: _build_executor(agents, methods, contracts, settings),
        MONITOR: monitor_node(evaluator, contracts, settings),
    }
    if possible != {"none"}:
        nodes["commit_node"] = commit_node(phases.commit, contracts, settings)
        nodes["post_node"] = post_node(phases.assess)
        nodes["reconcile_node"] = reconcile_node(phases.reconcile, settings)
    if phases.supervise is not None and "llm" in possible:
        nodes["supervise_node"] = supervise_node(phases.supervise, contracts, settings)
    if settings.can_ask_human and (policy.asks_human or possible != {"none"}):
        nodes |= {"approval_node": approval_node, "answer_node": answer_node}
    subgraphs: dict[str, Runnable[Any, Any]] = {MONITOR: evaluator.graph}
    if methods.graph is not None:
        subgraphs[EXECUTOR] = methods.graph
    return StepNodes(nodes, subgraphs, settings.default_mode, replans=policy.max_replans > 0)


def _build_evaluator(agents: Agents, settings: Settings) -> Evaluator:
    judges = Judges(
        agent=agents.monitor if agents.plugins.judge is None else agents.plugins.judge,
        monitor=agent_methods.bind_method(agents.monitor, "evaluate"),
        judge=agents.plugins.judge,
        attempts=settings.options["retry_policy"].judge_attempts,
    )
    return Evaluator(judges, agents.plugins, settings.options["grounding"])


def _bind_methods(agents: Agents, settings: Settings) -> ExecutorMethods:
    executor, policy = agents.executor, settings.options["retry_policy"]
    return ExecutorMethods(
        execute=agent_methods.bind_method(executor, "execute_step"),
        correct=agent_methods.bind_method(executor, "correct_step")
        if agent_methods.has_own(executor, "correct_step")
        else None,
        compress=agent_methods.bind_compressor(agents.compressor),
        models=agent_methods.load_models(policy.escalations, agents.models, executor),
        tools=agents.tools,
        graph=agent_methods.find_agent_graph(executor),
    )


def _build_executor(
    agents: Agents, methods: ExecutorMethods, contracts: Contracts, settings: Settings
) -> Node:
    """Returns the node that executes a step, and that writes the final answer if it is ever written."""
    execute = executor_node(methods, contracts, settings)
    if contracts.synthesis == "never":
        return execute
    writer = agent_methods.bind_synthesis(agents.executor)
    own = replace(methods, execute=writer, correct=None, tools=ExecutorTools(), graph=None)
    write = executor_node(own, contracts, settings)

    async def node(state: OrchestratorState, run: RunContext, emit: StreamWriter) -> StateUpdate:
        return await (write if is_answer_due(state) else execute)(state, run, emit)

    return node
