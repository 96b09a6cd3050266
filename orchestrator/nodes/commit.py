"""commit_node (COMMIT): the executor says what it will do, before it does it."""

from __future__ import annotations

from langgraph.runtime import Runtime

from orchestrator.judging.contracts import Contracts
from orchestrator.judging.verdict import build_failure
from orchestrator.nodes.base import (
    Node,
    find_contract_failure,
    get_context,
    stop_if_over_budget,
    with_totals,
)
from orchestrator.runtime.call import Raised, call_agent
from orchestrator.runtime.context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.current_step import current_step
from orchestrator.state.graph_state import OrchestratorState, StateUpdate, Underway
from orchestrator.supervision.phases import Commit


def commit_node(commit: Commit | None, contracts: Contracts, settings: Settings) -> Node:
    """Returns the node that asks for a commitment; it does nothing if the executor makes none."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        if commit is None:
            return {}
        if (failure := find_contract_failure(contracts, state)) is not None:
            return failure
        run = get_context(runtime, settings)
        index, step = current_step(state)
        run.start_step(index)
        called = await call_agent(
            lambda: commit(step, state["context"], index),
            run=run,
            spent_before=state["usage"],
            step_index=index,
        )
        totals = with_totals(state, called.spent)
        if isinstance(called, Raised):
            kind = called.kind or "executor_error"
            return {**totals, **build_failure(kind, called.message, index, called.error)}
        usage = called.spent.usage
        underway: Underway = {**state["underway"], "commitment": called.value, "committing": usage}
        return stop_if_over_budget({**totals, "underway": underway}, run, index)

    return node
