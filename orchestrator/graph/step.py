"""Wires the nodes of a step: COMMIT, EXECUTE, POST, the evaluation, RECONCILE, SUPERVISE, and a person."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, TypeAlias

from langchain_core.runnables import Runnable
from langgraph.graph import END, StateGraph
from langgraph.runtime import get_runtime
from langgraph.types import StreamWriter

from agents.sync import run_sync
from evaluation.graph import DirectCall
from orchestrator.judging.contract_choice import Contracts
from orchestrator.retry.verdict_updates import accept_output
from orchestrator.runs.resume import name_way_on
from orchestrator.runtime.bounded_call import Node, RunContext
from orchestrator.runtime.call_records import list_effects
from orchestrator.settings import Settings
from orchestrator.state.graph_state import (
    EXECUTOR,
    GROWING,
    MONITOR,
    OrchestratorState,
    RunInput,
    StateUpdate,
    apply_update,
    current_records,
    is_answer_due,
    lacks_report,
    list_accepted,
    list_records,
    read_place,
    supervision_mode,
)
from orchestrator.state.records import SupervisionMode

Route: TypeAlias = Callable[[OrchestratorState, SupervisionMode], str]
"""Takes the supervision mode of a step without its own. Returns the label of the next node."""


def route_after_planner(state: OrchestratorState, mode: SupervisionMode) -> str:
    """Executes the plan, or ends if there is none."""
    return route_to_step(state, mode) if state["status"] == "executing" else "end"


def route_to_step(state: OrchestratorState, mode: SupervisionMode) -> str:
    """Begins a step; a supervised one with its commitment."""
    return "execute" if supervision_mode(state, mode) == "none" else "commit"


def route_after_commit(state: OrchestratorState, mode: SupervisionMode) -> str:  # noqa: ARG001 - as every route
    """Executes the step, unless the run has ended."""
    return "execute" if state["status"] == "executing" else "end"


def route_after_executor(state: OrchestratorState, mode: SupervisionMode) -> str:
    """Evaluates the output; in a supervised step, after the executor has assessed it.

    An execution that has ended the run is evaluated as well, so that it has a report.
    """
    if state["status"] != "executing":
        return "judge" if lacks_report(state) else "end"
    supervision = current_records(state)[-1]["supervision"]
    is_assessed = supervision is not None and supervision["assessment"] is not None
    return "judge" if is_assessed or supervision_mode(state, mode) == "none" else "assess"


def route_after_monitor(state: OrchestratorState, mode: SupervisionMode) -> str:
    """Continues after the verdict; a supervised step is reconciled first."""
    return "reconcile" if _is_pending(state) else route_after_outcome(state, mode)


def route_after_reconcile(state: OrchestratorState, mode: SupervisionMode) -> str:
    """Continues after a clean step; otherwise the supervisor decides."""
    return "supervise" if _is_pending(state) else route_after_outcome(state, mode)


def route_after_outcome(state: OrchestratorState, mode: SupervisionMode) -> str:
    """Continues as the latest outcome says: a step, a retry, a re-plan, a question, the end."""
    if state["status"] != "executing":
        return "end"
    if state["question"] is not None:
        return "ask_human"
    if state["underway"]["replan"] is not None:
        return "replan"
    # Each execution of a supervised step has a commitment of its own.
    if route_to_step(state, mode) == "commit":
        return "commit"
    return "retry" if state["attempts"] else "next_step"


def _is_pending(state: OrchestratorState) -> bool:
    """Checks whether the latest execution of the current step still waits for its verdict."""
    if state["status"] != "executing" or state["question"] is not None:
        return False
    records = current_records(state)
    return bool(records) and records[-1]["status"] == "pending_validation"


Builder: TypeAlias = StateGraph[OrchestratorState, RunContext, RunInput, OrchestratorState]
NO_LIMIT: Final = 2**31 - 1
"""LangGraph's limit would end a long run as an error; the settings bound the executions of each step."""
_ROUTES: Final[Mapping[str, tuple[Route, Sequence[str]]]] = {
    EXECUTOR: (route_after_executor, ("judge", "assess", "end")),
    MONITOR: (
        route_after_monitor,
        ("next_step", "commit", "end", "retry", "replan", "ask_human", "reconcile"),
    ),
    "commit_node": (route_after_commit, ("execute", "end")),
    "reconcile_node": (
        route_after_reconcile,
        ("supervise", "next_step", "commit", "end", "ask_human"),
    ),
    "supervise_node": (
        route_after_outcome,
        ("next_step", "commit", "end", "replan", "ask_human"),
    ),
    "answer_node": (
        route_after_outcome,
        ("next_step", "commit", "end", "retry", "ask_human"),
    ),
}
"""The route after each node of a step, with its labels."""
_TARGETS: Final[Mapping[str, str]] = {
    "end": END,
    "replan": "planner_node",
    "judge": MONITOR,
    "execute": EXECUTOR,
    "next_step": EXECUTOR,
    "retry": EXECUTOR,
    "commit": "commit_node",
    "assess": "post_node",
    "reconcile": "reconcile_node",
    "supervise": "supervise_node",
    "ask_human": "approval_node",
}


@dataclass(frozen=True, slots=True)
class StepNodes:
    """The nodes of a step.

    Attributes:
        nodes: Each node by its name: those that no step can reach are left out.
        subgraphs: The graphs that nodes run, by the names of the nodes: of the monitor and the executor.
        mode: The supervision mode of a step that has none of its own.
        replans: Whether the rest of the run is planned anew after a step that is out of retries.
    """

    nodes: Mapping[str, Node]
    subgraphs: Mapping[str, Runnable[Any, Any]]
    mode: SupervisionMode
    replans: bool


def add_step(graph: Builder, step: StepNodes, settings: Settings, wrap: Callable[[Node], Node]) -> None:
    """Adds the nodes of a step and their edges.

    Args:
        graph: The graph to extend.
        step: The nodes.
        settings: The settings of the run.
        wrap: Applied to each node.
    """
    for name, node in step.nodes.items():
        graph.add_node(name, build_runnable(wrap(node), settings, step.subgraphs.get(name)))
    for name, (route, labels) in _ROUTES.items():
        if name in step.nodes:
            add_route(graph, step, name, route, *labels)
    if "post_node" in step.nodes:
        graph.add_edge("post_node", MONITOR)
    if "approval_node" in step.nodes:
        graph.add_edge("approval_node", "answer_node")


def add_route(graph: Builder, nodes: StepNodes, source: str, route: Route, *names: str) -> None:
    """Adds the edges after a node, to the nodes that the labels of its route name."""
    # Labels that lead to nodes that the graph lacks are left out.
    reachable = {*nodes.nodes, END, *(["planner_node"] if nodes.replans else [])}
    targets = {label: _TARGETS[label] for label in names if _TARGETS[label] in reachable}
    # LangGraph draws one edge for all labels with the same target.
    labels = {
        label: " or ".join(other for other in targets if targets[other] == target)
        for label, target in targets.items()
    }

    def choose_next(state: OrchestratorState) -> Hashable:
        return labels[route(state, nodes.mode)]

    # LangGraph names a branch of the graph after its function.
    choose_next.__name__ = route.__name__
    # LangGraph runs a plain function in a thread, which takes ten times as long.
    call: DirectCall[OrchestratorState, Hashable] = DirectCall(choose_next)
    graph.add_conditional_edges(source, call, {labels[label]: target for label, target in targets.items()})


def with_conclusion(node: Node, contracts: Contracts, settings: Settings) -> Node:
    """Wraps a node of a step, so that a run whose last step was accepted has its output or goes on to it."""

    async def conclude(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
        update = await node(state, run, write)
        if is_answer_due(state):
            update = _set_apart(state, update)
        if run.changed:
            update = {**update, "warnings": [*update.get("warnings", []), *run.changed]}
            run.changed = ()
        if update.get("status") == "failed" and run.interruptible:
            return name_way_on(state, update)
        if update.get("status") != "success":
            return update
        accepted = list_accepted(list_records(apply_update(state, update)))
        # A step that a re-plan made the only one was not executed as the whole output.
        is_checked = not contracts.has_output_rules(state) or len(state["plan"]) == 1
        is_written = is_answer_due(state) or not contracts.writes_answer(state)
        if not is_written and (len(accepted) > 1 or not is_checked):
            return {**update, "status": "executing"}
        return accept_output(update, accepted[-1], contracts.output_type, settings.options["require"])

    return conclude


_OF_STEPS: Final = frozenset({"results", "context", "current_step_index"})
"""The fields of an update that belong to steps alone."""


def _set_apart(state: OrchestratorState, update: StateUpdate) -> StateUpdate:
    """Returns the update of a node for the final answer. The steps, their results and the context stay."""
    step, name, failure = f"step {len(state['plan']) + 1}: ", "final answer: ", update.get("failure")
    if failure is not None:
        message = f"{name}{failure['message'].removeprefix(step)}"
        update = {**update, "failure": {**failure, "message": message, "step_index": None}}
    return {
        **{field: value for field, value in update.items() if field not in _OF_STEPS},
        "synthesis": update.get("results", []),
        "warnings": [f"{name}{text.removeprefix(step)}" for text in update.get("warnings", [])],
    }


def build_runnable(
    node: Node, settings: Settings, subgraph: Runnable[Any, Any] | None = None
) -> DirectCall[OrchestratorState, StateUpdate]:
    """Makes a node callable from async and from blocking code, with the context of the run.

    Args:
        node: The node.
        settings: The settings of the run, for a host that calls the graph without a context.
        subgraph: The graph that the node runs, for LangGraph's drawings and listings.
    """

    async def call(state: OrchestratorState) -> StateUpdate:
        runtime = get_runtime(RunContext)
        context: object = runtime.context
        run = context if isinstance(context, RunContext) else _build_context(state, settings)
        return _select_changes(state, await node(state, run, runtime.stream_writer))

    return DirectCall(lambda state: run_sync(lambda: call(state)), call, subgraph)


def _build_context(state: OrchestratorState, settings: Settings) -> RunContext:
    """Builds the context of a node that another host runs, such as LangGraph's server, with none of ours.

    Bounds on the time of the run and of a step do not hold there, because each node gets a new clock.
    """
    run = settings.new_context("")
    # The thread of a run that begins may hold the usage of an earlier one.
    if state.get("status") == "executing":
        run.spent = state["usage"]
    return run


def _select_changes(state: OrchestratorState, update: StateUpdate) -> StateUpdate:
    """Returns the update with the effects of its executions, and without the fields that stay as they are.

    A store writes a row for each field.
    """
    known: StateUpdate = {**state}
    written = [value for name in ("results", "synthesis") if isinstance(value := update.get(name), list)]
    if new := [*chain.from_iterable(written)]:
        judged = {*map(read_place, new)}
        kept = [effect for effect in state["effects"] if read_place(effect) not in judged]
        update = {**update, "effects": sorted([*kept, *list_effects(new)], key=read_place)}
    return {
        name: value
        for name, value in update.items()
        if (value if name in GROWING else name not in known or known[name] != value)
    }
