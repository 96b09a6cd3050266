"""Nodes that run the graph of one step: a parallel branch or the final answer, and what joins or ends it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeAlias, cast

from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Overwrite, StreamWriter

from orchestrator.events import Event
from orchestrator.graph.node_types import Node, stop_if_over_budget
from orchestrator.judging.contract_choice import Contracts
from orchestrator.judging.evidence import is_enough
from orchestrator.planning.parallel import join_branches, name_way_on
from orchestrator.retry.verdict_updates import build_failure
from orchestrator.runtime.run_context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.current_step import (
    current_records,
    lacks_report,
    list_accepted,
    read_evidence,
    select_derived,
    select_earlier,
)
from orchestrator.state.graph_state import (
    NOTHING_UNDERWAY,
    OrchestratorState,
    StateUpdate,
    blank_state,
    merge_records,
)
from orchestrator.state.records import StepRecord
from orchestrator.state.usage import NO_USAGE


def begin_synthesis(state: OrchestratorState) -> OrchestratorState:
    """Returns the state of the synthesis: a plan whose only step is the task, after all steps of the run.

    If the answer is to be judged again, the state has the attempts at it.
    """
    return {
        **blank_state(state["task"], state["max_retries"]),
        "status": "executing",
        "plan": [state["task"]],
        "declared": select_derived(state["declared"], []),
        "current_step_index": len(state["plan"]),
        "context": state["context"],
        "results": [*select_earlier(state["results"]), *state["synthesis"]],
        "attempts": max(0, len(state["synthesis"]) - 1),
        "retries": state["retries"],
        "judge_calls": state["judge_calls"],
        "usage": state["usage"],
        "underway": {**NOTHING_UNDERWAY, "branch": len(state["plan"])},
    }


StepGraph: TypeAlias = CompiledStateGraph[OrchestratorState, RunContext, OrchestratorState, OrchestratorState]


def stop_with_siblings(node: Node) -> Node:
    """Wraps a node of a parallel step so that the step ends once a sibling was halted or denied.

    An execution without a report still gets one.
    """

    async def guard(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
        stopped: StateUpdate = {}
        if run.stopped is not None:
            stopped = {"status": "failed", "failure": run.stopped, "question": None}
            if not lacks_report(state):
                return stopped
        update = await node(cast("OrchestratorState", {**state, **stopped}), run, write)
        run.note_failure(update.get("failure"))
        return {**update, **stopped}

    return guard


def branch_node(step: StepGraph) -> Node:
    """Returns the node that runs the graph of one step and passes its events on as they happen."""

    async def node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
        # Each branch counts its own usage from zero, so that the join can add all of them.
        end = await run_step_graph(step, {**state, "usage": NO_USAGE}, run, write)
        return {"branches": [{**end}]}

    return node


async def run_step_graph(
    step: StepGraph, state: OrchestratorState, run: RunContext, write: StreamWriter
) -> OrchestratorState:
    """Runs the graph of one step, passes its events on as they happen, and returns its last state."""
    end = state
    stream = step.astream(state, context=run, stream_mode=["custom", "values"])
    async with aclosing(cast("AsyncGenerator[tuple[str, object], None]", stream)) as chunks:
        async for _, chunk in chunks:
            if isinstance(chunk, Event):
                write(chunk)
            elif isinstance(chunk, dict) and "__interrupt__" not in chunk:
                end = cast("OrchestratorState", chunk)
    return end


async def join_node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:  # noqa: ARG001 - as every node
    """Merges the results of parallel steps."""
    update = stop_if_over_budget(join_branches(state), run)
    # The reducer of "branches" adds; the next parallel steps must not join these again.
    return cast("StateUpdate", {**update, "branches": Overwrite([])})


def synthesis_node(step: StepGraph, contracts: Contracts, settings: Settings) -> Node:
    """Returns the node that runs the graph of one step, whose executor writes the answer."""

    async def node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
        begin = begin_synthesis(state)
        end = await run_step_graph(step, begin, run, write)
        update = _end_synthesis(state, end)
        if end["status"] == "success":
            update = _accept_output(update, list_accepted(current_records(end))[-1], contracts, settings)
        return name_way_on(state, update) if run.interruptible else update

    return node


def _end_synthesis(state: OrchestratorState, end: OrchestratorState) -> StateUpdate:
    """Returns the update after the synthesis. The steps, their results and the context stay as they are."""
    step, name, failure = f"step {len(state['plan']) + 1}: ", "final answer: ", end["failure"]
    if failure is not None:
        message = f"{name}{failure['message'].removeprefix(step)}"
        failure = {**failure, "message": message, "step_index": None}
    return {
        "synthesis": current_records(end),
        "warnings": [f"{name}{text.removeprefix(step)}" for text in end["warnings"]],
        "retries": end["retries"],
        "judge_calls": end["judge_calls"],
        "usage": end["usage"],
        "attempts": end["attempts"],
        "status": end["status"],
        "failure": failure,
    }


def with_conclusion(node: Node, contracts: Contracts, settings: Settings) -> Node:
    """Wraps a node that may accept the last step, so that the run then has its output or goes on to it."""

    async def conclude(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
        update = await node(state, run, write)
        if changed := run.take_changed():
            update = {**update, "warnings": [*update.get("warnings", []), *changed]}
        if update.get("status") == "failed" and run.interruptible:
            return name_way_on(state, update)
        if update.get("status") != "success":
            return update
        accepted = list_accepted(merge_records(state["results"], update.get("results", [])))
        # A step that a re-plan made the only one was not executed as the whole output.
        is_checked = not contracts.has_output_rules(state) or len(state["plan"]) == 1
        if contracts.writes_answer(state) and (len(accepted) > 1 or not is_checked):
            return {**update, "status": "executing"}
        return _accept_output(update, accepted[-1], contracts, settings)

    return conclude


def _accept_output(
    update: StateUpdate, record: StepRecord, contracts: Contracts, settings: Settings
) -> StateUpdate:
    """Returns the update with the output of the run, or the failure if its basis is not enough."""
    basis, require = record.get("basis", "unverified"), settings.options["require"]
    update = {**update, "basis": basis, "evidence": read_evidence(record)}
    if is_enough(basis, require):
        return {**update, "status": "success", "output": contracts.output.format_output(record["result"])}
    reason = record.get("basis_reason", basis)
    message = f"the output is not accepted, because require is {require!r}: {reason}"
    return {**update, **build_failure("unverified", message)}
