"""commit_node (COMMIT): the executor says what it will do, before it does it."""

from __future__ import annotations

from functools import partial

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
from orchestrator.retry.refused_step import build_instruction, find_commit_kind
from orchestrator.retry.step_request import build_request, join_refusal
from orchestrator.runtime.call import Raised, Returned, call_agent
from orchestrator.runtime.context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.current_step import current_index
from orchestrator.state.graph_state import OrchestratorState, StateUpdate, Underway
from orchestrator.state.supervision_records import Commitment
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
        called = await call_agent(
            partial(
                commit, *_build_request(state, settings), describe_task(state), index, find_commit_kind(state)
            ),
            run=run,
            step_index=index,
        )
        totals = with_totals(state, called.spent)
        # A bound of the run ends it; an error of the executor escalates the step after its execution.
        if isinstance(called, Raised) and called.kind is not None:
            return {**totals, **build_failure(called.kind, called.message, index, called.error)}
        commitment, usage = _read_commitment(called, state, run), called.spent.usage
        underway: Underway = {**state["underway"], "commitment": commitment, "committing": usage}
        return stop_if_over_budget({**totals, "underway": underway}, run, index)

    return node


def _build_request(state: OrchestratorState, settings: Settings) -> tuple[str, str]:
    """Returns the instruction, and the context with the reason if the step was refused."""
    request = join_refusal(build_request(state, settings.retry_policy))
    return request.instruction, request.context


def _read_commitment(
    called: Returned[Commitment] | Raised, state: OrchestratorState, run: RunContext
) -> Commitment:
    if isinstance(called, Returned):
        return called.value
    error = Unreadable(f"the commitment could not be made: {called.message}", called.message)
    index, instruction = current_index(state), build_instruction(state)
    return build_commitment(error, index, instruction, run.now(), find_commit_kind(state))
