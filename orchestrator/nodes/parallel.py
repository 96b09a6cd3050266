"""Steps side by side: once one of them was halted or denied, nothing more of the others is begun."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeAlias, cast

from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from orchestrator.judging.verdict import failed
from orchestrator.nodes.base import Node, context_of
from orchestrator.planning.parallel import branch_end, joined
from orchestrator.runtime.context import RunContext
from orchestrator.runtime.events import Event
from orchestrator.settings import Settings
from orchestrator.state.graph_state import NO_USAGE, OrchestratorState, StateUpdate


def stoppable(node: Node, settings: Settings) -> Node:
    """The node, unless a step beside it was halted or denied; then the step ends with that failure."""

    async def guarded(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        run = context_of(runtime, settings)
        if run.stopped is not None:
            return {"status": "failed", "failure": run.stopped, "question": None}
        update = await node(state, runtime)
        run.note_failure(update.get("failure"))
        return update

    return guarded


StepGraph: TypeAlias = CompiledStateGraph[OrchestratorState, RunContext, OrchestratorState, OrchestratorState]


def branch_node(step: StepGraph, settings: Settings) -> Node:
    """The node over the graph of one step; its events are passed on as they happen."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        run = context_of(runtime, settings)
        index = state["current_step_index"]
        run.start_parallel_step(index, state["usage"])
        ended = state
        stream = step.astream({**state, "usage": NO_USAGE}, context=run, stream_mode=["custom", "values"])
        async with aclosing(cast("AsyncGenerator[tuple[str, object], None]", stream)) as chunks:
            async for _, chunk in chunks:
                if isinstance(chunk, Event):
                    runtime.stream_writer(chunk)
                elif isinstance(chunk, dict) and "__interrupt__" not in chunk:
                    ended = cast("OrchestratorState", chunk)
        return {"branches": [branch_end(ended)]}

    return node


def join_node(settings: Settings) -> Node:
    """The node that puts the steps which ran side by side together."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        run = context_of(runtime, settings)
        run.end_parallel_steps()
        update = joined(state, state["branches"])
        reason = run.budget.find_excess(update["usage"])
        if reason is not None and update.get("status", "executing") == "executing":
            update = {**update, **failed("budget_exceeded", reason)}
        return cast("StateUpdate", {**update, "branches": Overwrite([])})

    return node
