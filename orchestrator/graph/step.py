"""Wires the graph of one step: COMMIT, EXECUTE, POST, the evaluation, RECONCILE, SUPERVISE, and a person."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from langchain_core.runnables import Runnable
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import get_runtime
from langgraph.types import Send

from agents.sync import run_sync
from evaluation.graph import DirectCall, EvaluationGraph
from orchestrator.graph.routing import (
    route_after_commit,
    route_after_executor,
    route_after_monitor,
    route_after_outcome,
    route_after_post,
    route_after_reconcile,
    route_to_answer,
    route_to_step,
)
from orchestrator.nodes.base import Node, without_unchanged
from orchestrator.nodes.parallel import StepGraph, stop_with_siblings
from orchestrator.planning.parallel import build_branches
from orchestrator.runtime.context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.graph_state import (
    ANSWER_MONITOR,
    BRANCH,
    BRANCH_MONITOR,
    MONITOR,
    SYNTHESIS,
    OrchestratorState,
    RunInput,
    StateUpdate,
)
from orchestrator.state.supervision_records import SupervisionMode

Builder: TypeAlias = StateGraph[OrchestratorState, RunContext, RunInput, OrchestratorState]
StepBuilder: TypeAlias = StateGraph[OrchestratorState, RunContext, OrchestratorState, OrchestratorState]
Routes: TypeAlias = dict[Hashable, str]
"""The nodes that a route may lead to, by label."""
PARALLEL: Final = "parallel"


@dataclass(frozen=True, slots=True)
class SupervisionNodes:
    """The phases around a supervised execution; ``supervise`` is None if no model decides."""

    commit: Node
    post: Node
    reconcile: Node
    supervise: Node | None


@dataclass(frozen=True, slots=True)
class StepNodes:
    """The nodes of a step.

    Attributes:
        executor: Executes the step.
        monitor: Evaluates the execution.
        evaluation: The graph that ``monitor`` runs.
        supervision: The phases of supervised steps; None if no step is supervised.
        approval: Waits for a person's answer; None if nobody can be asked.
        answer: Applies the answer.
        mode: The supervision mode of a step that has none of its own.
        modes: The modes that steps may have. Routes that none of them takes are left out of the graph.
        reviewed: Whether a person is asked if there is no verdict.
        answered: Whether the final answer is written after the last step.
        last_waits: Whether the last step runs after all others: the calls of the run are judged with it.
        one_by_one: Whether steps that could run in parallel run one after another, so that each knows the
            calls before.
        monitor_name: Name of the node ``monitor``.
    """

    executor: Node
    monitor: Node
    evaluation: EvaluationGraph
    supervision: SupervisionNodes | None
    approval: Node | None
    answer: Node
    mode: SupervisionMode
    modes: frozenset[SupervisionMode]
    reviewed: bool
    answered: bool = False
    last_waits: bool = False
    one_by_one: bool = False
    monitor_name: str = MONITOR

    @property
    def first_nodes(self) -> Routes:
        """The node that a step begins with, by the route's label."""
        return {"execute": "executor_node", **self.if_supervised({"commit": "commit_node"})}

    @property
    def answer_routes(self) -> Routes:
        """The route to the synthesis, if there is one."""
        return {"synthesize": SYNTHESIS} if self.answered else {}

    def if_supervised(self, routes: Routes) -> Routes:
        """Returns the routes if a step may be supervised."""
        return {} if self.supervision is None else routes


def add_step(
    graph: Builder | StepBuilder, nodes: StepNodes, replan: Routes, wrap: Callable[[Node], Node]
) -> None:
    """Adds the nodes of a step and their edges.

    Args:
        graph: The graph to extend.
        nodes: The nodes.
        replan: The routes of a step that is out of retries; empty if such a step ends the run.
        wrap: Applied to each node.
    """
    end: Routes = {"end": END}
    ask: Routes = {"ask_human": "approval_node"} if nodes.reviewed else {}
    supervised = nodes.if_supervised({"commit": "commit_node"})
    onwards = {"next_step": "executor_node", **supervised, **nodes.answer_routes, **end}
    failing: Routes = {"retry": "executor_node", **replan}

    graph.add_node("executor_node", build_runnable(wrap(nodes.executor)))
    graph.add_node(nodes.monitor_name, build_runnable(wrap(nodes.monitor), nodes.evaluation))
    evaluation: Routes = {"judge": nodes.monitor_name}
    assessment = nodes.if_supervised({"assess": "post_node"})
    add_route(graph, nodes, "executor_node", route_after_executor, {**evaluation, **assessment, **end})
    reconciliation = nodes.if_supervised({"reconcile": "reconcile_node"})
    add_route(
        graph, nodes, nodes.monitor_name, route_after_monitor, {**onwards, **failing, **ask, **reconciliation}
    )
    if nodes.supervision is not None:
        _add_phases(graph, nodes, nodes.supervision, onwards, {**replan, **ask}, wrap)
    if nodes.approval is not None:
        graph.add_node("approval_node", build_runnable(wrap(nodes.approval)))
        graph.add_node("answer_node", build_runnable(wrap(nodes.answer)))
        graph.add_edge("approval_node", "answer_node")
        answers: Routes = {**onwards, "retry": "executor_node", "ask_human": "approval_node"}
        add_route(graph, nodes, "answer_node", route_after_outcome, answers)


def _add_phases(  # noqa: PLR0917
    graph: Builder | StepBuilder,
    nodes: StepNodes,
    phases: SupervisionNodes,
    onwards: Routes,
    failing: Routes,
    wrap: Callable[[Node], Node],
) -> None:
    """Adds the phases before and after an execution. The evaluation is between POST and RECONCILE."""
    end: Routes = {"end": END}
    questions: Routes = {} if nodes.approval is None else {"ask_human": "approval_node"}
    graph.add_node("commit_node", build_runnable(wrap(phases.commit)))
    graph.add_node("post_node", build_runnable(wrap(phases.post)))
    graph.add_node("reconcile_node", build_runnable(wrap(phases.reconcile)))
    add_route(graph, nodes, "commit_node", route_after_commit, {"execute": "executor_node", **end})
    add_route(graph, nodes, "post_node", route_after_post, {"judge": nodes.monitor_name, **end})
    outcomes: Routes = {**onwards, **(questions if "human" in nodes.modes else {})}
    if phases.supervise is None or "llm" not in nodes.modes:
        add_route(graph, nodes, "reconcile_node", route_after_reconcile, outcomes)
        return
    graph.add_node("supervise_node", build_runnable(wrap(phases.supervise)))
    escalation: Routes = {"supervise": "supervise_node"}
    add_route(graph, nodes, "reconcile_node", route_after_reconcile, {**escalation, **outcomes})
    add_route(graph, nodes, "supervise_node", route_after_outcome, {**onwards, **failing, **questions})


def build_step_graph(step: StepNodes, settings: Settings, *, is_answer: bool = False) -> StepGraph:
    """Compiles the graph of one parallel step, or of the final answer."""

    def wrap(node: Node) -> Node:
        return without_unchanged(stop_with_siblings(node, settings))

    graph: StepBuilder = StateGraph(OrchestratorState, input_schema=OrchestratorState)
    # The Mermaid drawing of LangChain refuses two graphs within nodes of the same name.
    name = ANSWER_MONITOR if is_answer else BRANCH_MONITOR
    step = replace(step, answered=False, monitor_name=name)
    add_step(graph, step, {"replan": END}, wrap)
    if is_answer:
        add_route(graph, step, START, route_to_answer, {**step.first_nodes, "judge": name})
    else:
        add_route(graph, step, START, route_to_step, step.first_nodes)
    return graph.compile(name="step")


def add_route(
    graph: Builder | StepBuilder,
    nodes: StepNodes,
    source: str,
    route: Callable[[OrchestratorState, SupervisionMode], str],
    targets: Routes,
) -> None:
    """Adds the edges after a node. ``PARALLEL`` sends each step that is ready its own state."""
    # LangGraph draws one edge for all labels with the same target.
    labels = {
        label: " or ".join(str(other) for other in targets if targets[other] == target)
        for label, target in targets.items()
    }

    def choose_next(state: OrchestratorState) -> Hashable | Sequence[Hashable]:
        label = route(state, nodes.mode)
        if label != PARALLEL:
            return labels[label]
        branches = build_branches(state, last_waits=nodes.last_waits, one_by_one=nodes.one_by_one)
        return [Send(BRANCH, branch) for branch in branches]

    # LangGraph names a branch of the graph after its function.
    choose_next.__name__ = route.__name__
    # LangGraph runs a plain function in a thread, which takes ten times as long.
    call: DirectCall[OrchestratorState, Hashable | Sequence[Hashable]] = DirectCall(choose_next)
    graph.add_conditional_edges(source, call, {labels[label]: target for label, target in targets.items()})


def build_runnable(
    node: Node, subgraph: Runnable[Any, Any] | None = None
) -> DirectCall[OrchestratorState, StateUpdate]:
    """Makes a node callable from async and from blocking code.

    Args:
        node: The node.
        subgraph: The graph that the node runs, for LangGraph's drawings and listings.
    """

    async def call(state: OrchestratorState) -> StateUpdate:
        return await node(state, get_runtime(RunContext))

    return DirectCall(lambda state: run_sync(lambda: call(state)), call, subgraph)
