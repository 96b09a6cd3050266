"""commit_node (COMMIT): the executor says what it will do, before it does it."""

from __future__ import annotations

from langgraph.runtime import Runtime

from agents.contracts import Unreadable
from orchestrator.judging.contracts import Contracts
from orchestrator.judging.verdict import build_failure
from orchestrator.nodes.base import (
    Node,
    find_contract_failure,
    get_context,
    stop_if_over_budget,
    with_totals,
)
from orchestrator.planning.outline import describe_task
from orchestrator.retry.step_request import build_request, join_refusal
from orchestrator.runtime.call import Raised, Returned, call_agent
from orchestrator.runtime.context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.current_step import current_index, last_refused_record, read_correction
from orchestrator.state.graph_state import OrchestratorState, StateUpdate, Underway
from orchestrator.state.supervision_records import CommitKind
from orchestrator.supervision.phases import Commit
from orchestrator.supervision.statements import build_commitment


def commit_node(commit: Commit | None, contracts: Contracts, settings: Settings) -> Node:
    """Returns the node that asks for a commitment; it does nothing if the executor makes none."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        if commit is None:
            return {}
        if (failure := find_contract_failure(contracts, state)) is not None:
            return failure
        run, index = get_context(runtime, settings, state), current_index(state)
        run.start_step(index)
        # With the reason if the step was refused.
        request = join_refusal(build_request(state, settings.retry_policy))
        called = await call_agent(
            commit, request.instruction, request.context, describe_task(state), run=run, step_index=index
        )
        totals = with_totals(state, called.spent)
        # A bound of the run ends it; an error of the executor escalates the step after its execution.
        if isinstance(called, Raised) and called.kind is not None:
            return {**totals, **build_failure(called.kind, called.message, index, called.error)}
        reply = called.value if isinstance(called, Returned) else _explain_error(called)
        kind = _find_kind(state)
        commitment = build_commitment(reply, index, request.instruction, run.now(), kind)
        underway: Underway = {**state["underway"], "commitment": commitment, "committing": called.spent.usage}
        return stop_if_over_budget({**totals, "underway": underway}, run, index)

    return node


def _explain_error(called: Raised) -> Unreadable:
    return Unreadable(f"the commitment could not be made: {called.message}", called.message)


def _find_kind(state: OrchestratorState) -> CommitKind:
    """Returns which execution the commitment is for."""
    refused = last_refused_record(state)
    if refused is None:
        return "first"
    return "reorient" if read_correction(refused) else "retry"
