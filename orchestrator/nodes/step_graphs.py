"""Nodes that run the graph of one step: a parallel branch or the final answer, and what joins or ends it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TypeAlias, cast

from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Overwrite, StreamWriter

from orchestrator.judging.basis import is_enough
from orchestrator.judging.contract_choice import Contracts
from orchestrator.nodes.node_types import Node, stop_if_over_budget
from orchestrator.planning.parallel import join_branches, read_branch_end
from orchestrator.planning.synthesis import (
    begin_synthesis,
    conclude_steps,
    end_synthesis,
    offer_last_result,
)
from orchestrator.retry.verdict_updates import build_failure
from orchestrator.runtime.events import Event
from orchestrator.runtime.run_context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.current_step import current_records, list_accepted, supervision_mode
from orchestrator.state.graph_state import OrchestratorState, StateUpdate
from orchestrator.state.records import StepRecord
from orchestrator.state.reducers import merge_records
from orchestrator.state.usage import NO_USAGE

StepGraph: TypeAlias = CompiledStateGraph[OrchestratorState, RunContext, OrchestratorState, OrchestratorState]


def stop_with_siblings(node: Node) -> Node:
    """Wraps a node of a parallel step so that it does nothing once a sibling was halted or denied."""

    async def guard(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
        if run.stopped is not None:
            return {"status": "failed", "failure": run.stopped, "question": None}
        update = await node(state, run, write)
        run.note_failure(update.get("failure"))
        return update

    return guard


def branch_node(step: StepGraph) -> Node:
    """Returns the node that runs the graph of one step and passes its events on as they happen."""

    async def node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
        # Each branch counts its own usage from zero, so that the join can add all of them.
        end = await run_step_graph(step, {**state, "usage": NO_USAGE}, run, write)
        return {"branches": [read_branch_end(end)]}

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
    update = stop_if_over_budget(join_branches(state, state["branches"]), run)
    # The reducer of "branches" adds; the next parallel steps must not join these again.
    return cast("StateUpdate", {**update, "branches": Overwrite([])})


def synthesis_node(step: StepGraph, contracts: Contracts, settings: Settings) -> Node:
    """Returns the node that runs the graph of one step, whose executor writes the answer."""

    async def node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
        begin = begin_synthesis(state)
        # A form says nothing of an answer: only a result whose content code checks may stand for it.
        if contracts.output.states_content and supervision_mode(begin, settings.default_mode) == "none":
            begin = offer_last_result(begin, list_accepted(state["results"])[-1])
        end = await run_step_graph(step, begin, run, write)
        records = current_records(end)
        return _finish(end_synthesis(state, end, records), records, contracts, settings)

    return node


def with_conclusion(node: Node, contracts: Contracts, settings: Settings) -> Node:
    """Wraps a node that may accept the last step, so that the run then has its output or goes on to it."""

    async def conclude(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
        update = await node(state, run, write)
        if changed := run.take_changed():
            update = {**update, "warnings": [*update.get("warnings", []), *changed]}
        if update.get("status") != "success":
            return update
        records = merge_records(state["results"], update.get("results", []))
        # A step that a re-plan made the only one was not executed as the whole output.
        is_checked = not contracts.has_output_rules(state) or len(state["plan"]) == 1
        end = conclude_steps(records, writes_answer=contracts.writes_answer(state), is_checked=is_checked)
        return _finish({**update, **end}, records, contracts, settings)

    return conclude


def _finish(
    update: StateUpdate, records: Sequence[StepRecord], contracts: Contracts, settings: Settings
) -> StateUpdate:
    """Returns the update with the output in its form, or the failure if its basis is not enough."""
    text, basis = update.get("output"), update.get("basis")
    if text is None or basis is None:
        return update
    if is_enough(basis, settings.require):
        return {**update, "output": contracts.output.format_output(text)}
    reason = list_accepted(records)[-1].get("basis_reason", basis)
    message = f"the output is not accepted, because require is {settings.require!r}: {reason}"
    return {**update, "output": None, **build_failure("unverified", message)}
