"""post_node (POST): the executor compares its work with its commitment."""

from __future__ import annotations

from langgraph.runtime import Runtime

from orchestrator.nodes.base import (
    Node,
    emit_verdicts,
    fail_unjudged,
    get_context,
    stop_if_over_budget,
    with_judge_usage,
    with_totals,
)
from orchestrator.runtime.call import Raised, Returned, call_agent
from orchestrator.runtime.context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.current_step import latest_record, mode_of
from orchestrator.state.graph_state import OrchestratorState, StateUpdate, StepRecord
from orchestrator.state.records import Commitment, SelfAssessment
from orchestrator.supervision.human import blank_supervision
from orchestrator.supervision.phases import Assess


def post_node(assess: Assess | None, settings: Settings) -> Node:
    """Returns the node that asks for the self-assessment; it does nothing if there was no commitment."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        record = latest_record(state)
        supervision = record["supervision"] or blank_supervision(mode_of(state, settings.default_mode))
        commitment = supervision["commitment"]
        if assess is None or commitment is None:
            return {}
        run = get_context(runtime, settings)
        called = await _call_assess(assess, record, commitment, state, run)
        record = with_judge_usage(record, called.spent.usage)
        if isinstance(called, Raised):
            update = fail_unjudged(state, record, called, "executor_error")
        else:
            update = {"results": [{**record, "supervision": {**supervision, "assessment": called.value}}]}
        totals = with_totals(state, called.spent)
        update = stop_if_over_budget({**totals, **update}, run, record["step_index"])
        emit_verdicts(runtime.stream_writer, run.thread_id, update)
        return update

    return node


async def _call_assess(
    assess: Assess, record: StepRecord, commitment: Commitment, state: OrchestratorState, run: RunContext
) -> Returned[SelfAssessment] | Raised:
    index, tools = record["step_index"], list(dict.fromkeys(call["name"] for call in record["tool_calls"]))
    return await call_agent(
        lambda: assess(record["step"], commitment, record["result"], tools, index),
        run=run,
        spent_before=state["usage"],
        step_index=index,
    )
