"""Nodes of parallel steps: one runs a step as a branch, one joins the branches, a wrapper stops siblings."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeAlias, cast

from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Overwrite, StreamWriter

from orchestrator.nodes.base import Node, get_context, stop_if_over_budget
from orchestrator.planning.parallel import join_branches, read_branch_end
from orchestrator.runtime.context import RunContext
from orchestrator.runtime.events import Event
from orchestrator.settings import Settings
from orchestrator.state.graph_state import OrchestratorState, StateUpdate
from orchestrator.state.usage import NO_USAGE

StepGraph: TypeAlias = CompiledStateGraph[OrchestratorState, RunContext, OrchestratorState, OrchestratorState]


def stop_with_siblings(node: Node, settings: Settings) -> Node:
    """Wraps a node of a parallel step so that it does nothing once a sibling was halted or denied."""

    async def guard(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        run = get_context(runtime, settings, state)
        if run.stopped is not None:
            return {"status": "failed", "failure": run.stopped, "question": None}
        update = await node(state, runtime)
        run.note_failure(update.get("failure"))
        return update

    return guard


def branch_node(step: StepGraph, settings: Settings) -> Node:
    """Returns the node that runs the graph of one step and passes its events on as they happen."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        run = get_context(runtime, settings, state)
        # Each branch counts its own usage from zero, so that the join can add all of them.
        end = await run_step_graph(step, {**state, "usage": NO_USAGE}, run, runtime.stream_writer)
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


def join_node(settings: Settings) -> Node:
    """Returns the node that merges the results of parallel steps."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        run = get_context(runtime, settings, state)
        update = stop_if_over_budget(join_branches(state, state["branches"]), run)
        # The reducer of "branches" adds; the next parallel steps must not join these again.
        return cast("StateUpdate", {**update, "branches": Overwrite([])})

    return node
