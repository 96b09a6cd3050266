"""The wiring of one step: COMMIT, EXECUTE, POST, the evaluation, RECONCILE, SUPERVISE, and a person."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from langgraph.graph import END, START, StateGraph

from orchestrator.graph.routing import (
    begin,
    route_after_commit,
    route_after_executor,
    route_after_monitor,
    route_after_post,
    route_after_reconcile,
    route_onwards,
)
from orchestrator.nodes.base import Node, without_unchanged
from orchestrator.nodes.parallel import StepGraph, stop_with_siblings
from orchestrator.runtime.context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.graph_state import OrchestratorState, RunInput
from orchestrator.state.records import SupervisionMode

Builder: TypeAlias = StateGraph[OrchestratorState, RunContext, RunInput, OrchestratorState]
StepBuilder: TypeAlias = StateGraph[OrchestratorState, RunContext, OrchestratorState, OrchestratorState]


@dataclass(frozen=True, slots=True)
class SupervisionNodes:
    """The phases around a supervised execution; ``supervise`` is None where no model decides."""

    commit: Node
    post: Node
    reconcile: Node
    supervise: Node | None

    def each(self, wrapped: Callable[[Node], Node]) -> SupervisionNodes:
        """The same phases, each of them wrapped."""
        supervise = None if self.supervise is None else wrapped(self.supervise)
        return SupervisionNodes(wrapped(self.commit), wrapped(self.post), wrapped(self.reconcile), supervise)


@dataclass(frozen=True, slots=True)
class StepNodes:
    """The nodes of a step.

    Attributes:
        executor: Carries it out.
        monitor: Has it evaluated.
        supervision: None where no step is supervised.
        approval: Waits for a person's answer; None where nobody can be asked.
        answer: Applies it.
        mode: How a step is supervised of which the plan's function of modes does not say it.
        modes: The modes that steps may have; what none of them takes is not drawn.
        reviewed: Whether a person is asked where there is no verdict.
    """

    executor: Node
    monitor: Node
    supervision: SupervisionNodes | None
    approval: Node | None
    answer: Node
    mode: SupervisionMode
    modes: frozenset[SupervisionMode]
    reviewed: bool

    @property
    def begins(self) -> Ways:
        """Where a step begins, by the route's label."""
        return {**self.unsupervised(execute="executor_node"), **self.supervised(commit="commit_node")}

    def unsupervised(self, **ways: str) -> Ways:
        """Ways of steps that are not supervised."""
        return _ways(ways) if "none" in self.modes else {}

    def supervised(self, **ways: str) -> Ways:
        """Ways of steps that are."""
        return {} if self.supervision is None else _ways(ways)


Ways: TypeAlias = dict[Hashable, str]
"""Where the routes of a node lead, by label."""


def _ways(named: Mapping[str, str]) -> Ways:
    return dict(named.items())


def add_step(graph: Builder | StepBuilder, nodes: StepNodes, replan: Ways) -> None:
    """Add the nodes of a step and their edges.

    Args:
        graph: Takes them.
        nodes: The nodes.
        replan: Where a step leads that is out of retries; empty where it ends the run.
    """
    end: Ways = {"end": END}
    ask: Ways = {"ask_human": "approval_node"} if nodes.reviewed else {}
    onwards = {
        **nodes.unsupervised(next_step="executor_node"),
        **nodes.supervised(commit="commit_node"),
        **end,
    }
    failing: Ways = {"retry": "executor_node", **replan}

    graph.add_node("executor_node", without_unchanged(nodes.executor))
    graph.add_node("monitor_node", without_unchanged(nodes.monitor))
    _route(
        graph,
        nodes,
        "executor_node",
        route_after_executor,
        {**nodes.unsupervised(judge="monitor_node"), **nodes.supervised(assess="post_node"), **end},
    )
    settled = {**onwards, **failing, **ask} if "none" in nodes.modes else end
    reconciled = nodes.supervised(reconcile="reconcile_node")
    _route(graph, nodes, "monitor_node", route_after_monitor, {**settled, **reconciled})
    if nodes.supervision is not None:
        _add_phases(graph, nodes, nodes.supervision, onwards, {**failing, **ask})
    if nodes.approval is not None:
        graph.add_node("approval_node", without_unchanged(nodes.approval))
        graph.add_node("answer_node", without_unchanged(nodes.answer))
        graph.add_edge("approval_node", "answer_node")
        answered: Ways = {**onwards, "retry": "executor_node", "ask_human": "approval_node"}
        _route(graph, nodes, "answer_node", route_onwards, answered)


def _add_phases(
    graph: Builder | StepBuilder, nodes: StepNodes, phases: SupervisionNodes, onwards: Ways, failing: Ways
) -> None:
    """The phases before and after an execution; it is evaluated between POST and RECONCILE."""
    end: Ways = {"end": END}
    asked: Ways = {} if nodes.approval is None else {"ask_human": "approval_node"}
    graph.add_node("commit_node", without_unchanged(phases.commit))
    graph.add_node("post_node", without_unchanged(phases.post))
    graph.add_node("reconcile_node", without_unchanged(phases.reconcile))
    _route(graph, nodes, "commit_node", route_after_commit, {"execute": "executor_node", **end})
    _route(graph, nodes, "post_node", route_after_post, {"judge": "monitor_node", **end})
    always: Ways = asked if "human" in nodes.modes else {}
    if phases.supervise is None or "llm" not in nodes.modes:
        _route(graph, nodes, "reconcile_node", route_after_reconcile, {**always, **end})
        return
    graph.add_node("supervise_node", without_unchanged(phases.supervise))
    escalated: Ways = {"supervise": "supervise_node"}
    _route(graph, nodes, "reconcile_node", route_after_reconcile, {**escalated, **onwards, **always})
    _route(graph, nodes, "supervise_node", route_onwards, {**onwards, **failing, **asked})


def _route(graph: Builder | StepBuilder, nodes: StepNodes, source: str, route: Route, ways: Ways) -> None:
    graph.add_conditional_edges(source, on_the_loop(route, nodes.mode), ways)


def build_step(step: StepNodes, settings: Settings) -> StepGraph:
    """Compile the graph of one step by itself, for a step that runs beside others."""
    nodes = _stoppable(step, settings)
    graph: StepBuilder = StateGraph(
        OrchestratorState, context_schema=RunContext, input_schema=OrchestratorState
    )
    add_step(graph, nodes, {"replan": END})
    graph.add_conditional_edges(START, on_the_loop(begin, nodes.mode), nodes.begins)
    return graph.compile(name="step")


def _stoppable(step: StepNodes, settings: Settings) -> StepNodes:
    def guarded(node: Node) -> Node:
        return stop_with_siblings(node, settings)

    phases, approval = step.supervision, step.approval
    return replace(
        step,
        executor=guarded(step.executor),
        monitor=guarded(step.monitor),
        supervision=None if phases is None else phases.each(guarded),
        approval=None if approval is None else guarded(approval),
        answer=guarded(step.answer),
    )


class Route(Protocol):
    """A pure function of the state and of the mode of steps that have none of their own."""

    def __call__(self, state: OrchestratorState, mode: SupervisionMode, /) -> str:
        """Name the way."""
        ...


def on_the_loop(route: Route, mode: SupervisionMode) -> Callable[[OrchestratorState], Awaitable[str]]:
    """A route as a coroutine: LangGraph would run a plain function in a thread, at ten times its cost."""

    async def routed(state: OrchestratorState) -> str:
        return route(state, mode)

    routed.__name__ = getattr(route, "__name__", "route")
    return routed
