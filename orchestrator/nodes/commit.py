"""commit_node (COMMIT): the executor says what it will do, before it does it."""

from __future__ import annotations

from langgraph.runtime import Runtime

from orchestrator.judging.contracts import Contracts
from orchestrator.judging.verdict import failed
from orchestrator.nodes.base import Node, bounded, context_of, counted, without_contract
from orchestrator.runtime.call import Raised, call_agent
from orchestrator.runtime.context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.current_step import current_step
from orchestrator.state.graph_state import OrchestratorState, StateUpdate, Underway
from orchestrator.supervision.phases import Commit


def commit_node(commit: Commit | None, contracts: Contracts, settings: Settings) -> Node:
    """The node over the executor's commitment; it does nothing where the executor makes none."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        if commit is None:
            return {}
        if (refused := without_contract(contracts, state)) is not None:
            return refused
        run = context_of(runtime, settings)
        index, step = current_step(state)
        run.start_step(index)
        called = await call_agent(
            lambda: commit(step, state["context"], index),
            run=run,
            spent_before=state["usage"],
            step_index=index,
        )
        spent = counted(state, called.spent)
        if isinstance(called, Raised):
            kind = called.kind or "executor_error"
            return {**spent, **failed(kind, called.message, index, called.error)}
        usage = called.spent.usage
        underway: Underway = {**state["underway"], "commitment": called.value, "committing": usage}
        return bounded({**spent, "underway": underway}, run, index)

    return node
