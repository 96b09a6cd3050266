"""commit_node (COMMIT) and post_node (POST): the executor says what it will do, and whether it did it."""

from __future__ import annotations

from functools import partial

from langgraph.runtime import Runtime

from agents.reply_types import Unreadable
from orchestrator.errors import ContractFunctionError
from orchestrator.judging.contract_choice import Contracts
from orchestrator.nodes.node_types import (
    Node,
    call_supervision,
    get_context,
    stop_if_over_budget,
    with_totals,
)
from orchestrator.retry.step_request import build_request, join_refusal
from orchestrator.retry.verdict_updates import build_failure
from orchestrator.runtime.call import Raised, Returned, call_agent
from orchestrator.runtime.run_context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.current_step import (
    current_index,
    describe_task,
    last_refused_record,
    latest_record,
    read_correction,
)
from orchestrator.state.graph_state import OrchestratorState, StateUpdate, Underway
from orchestrator.state.records import StepRecord
from orchestrator.state.supervision_records import CommitKind
from orchestrator.supervision.phases import Assess, Commit
from orchestrator.supervision.replies import AssessmentReply
from orchestrator.supervision.statements import build_assessment, build_commitment


def commit_node(commit: Commit | None, contracts: Contracts, settings: Settings) -> Node:
    """Returns the node that asks for a commitment; it does nothing if the executor makes none."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        if commit is None:
            return {}
        run, index = get_context(runtime, settings, state), current_index(state)
        # Checked before the executor runs: a step that cannot be judged must cost nothing.
        try:
            contracts.list_demands(state)
        except ContractFunctionError as error:
            return build_failure("contract_error", str(error), index, error)
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
        reply = (
            called.value
            if isinstance(called, Returned)
            else Unreadable(f"the commitment could not be made: {called.message}", called.message)
        )
        kind = _find_kind(state)
        commitment = build_commitment(reply, index, request.instruction, run.now(), kind)
        underway: Underway = {**state["underway"], "commitment": commitment, "committing": called.spent.usage}
        return stop_if_over_budget({**totals, "underway": underway}, run, index)

    return node


def _find_kind(state: OrchestratorState) -> CommitKind:
    """Returns which execution the commitment is for."""
    refused = last_refused_record(state)
    if refused is None:
        return "first"
    return "reorient" if read_correction(refused) else "retry"


def post_node(assess: Assess | None, settings: Settings) -> Node:
    """Returns the node that asks for the self-assessment; it does nothing if there was no commitment.

    After an error of the executor, the commitment counts as not met.
    """

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        record = latest_record(state)
        supervision = record["supervision"]
        if assess is None or supervision is None or (commitment := supervision["commitment"]) is None:
            return {}
        run = get_context(runtime, settings, state)

        index, output = record["step_index"], record["result"]
        tools = list(dict.fromkeys(call["name"] for call in record["tool_calls"]))

        def apply(assessed: StepRecord, reply: AssessmentReply | Unreadable) -> StateUpdate:
            assessment = build_assessment(reply, index, output, tools, run.now())
            return {"results": [{**assessed, "supervision": {**supervision, "assessment": assessment}}]}

        return await call_supervision(
            partial(assess, record["step"], commitment, output, tools, describe_task(state)),
            record,
            state,
            run,
            runtime.stream_writer,
            apply,
            lambda called: Unreadable("", called.message),
        )

    return node
