"""Steps side by side: once one of them was halted or denied, nothing more of the others is begun."""

from __future__ import annotations

from langgraph.runtime import Runtime

from orchestrator.nodes.node import Node, context_of
from orchestrator.runtime.context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.graph_state import OrchestratorState, StateUpdate


def stoppable(node: Node, settings: Settings) -> Node:
    """The node, unless a step beside it was halted or denied; then the step ends with that failure."""

    async def guarded(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        run = context_of(runtime, settings)
        if run.stopped is not None:
            return {"status": "failed", "failure": run.stopped, "question": None}
        update = await node(state, runtime)
        run.note(update.get("failure"))
        return update

    return guarded
