"""post_node (POST): the executor says how what it did differs from what it committed to."""

from __future__ import annotations

from langgraph.runtime import Runtime

from orchestrator.nodes.base import Node, announce, bounded, context_of, counted, judged_by
from orchestrator.retry.outcome import fail
from orchestrator.runtime.call import Raised, Returned, call_agent
from orchestrator.runtime.context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.current_step import latest_record, mode_of
from orchestrator.state.graph_state import OrchestratorState, StateUpdate, StepRecord
from orchestrator.state.records import Commitment, SelfAssessment
from orchestrator.supervision.human import blank_supervision
from orchestrator.supervision.phases import Assess


def post_node(assess: Assess | None, settings: Settings) -> Node:
    """The node over the executor's assessment of itself; it does nothing where there was no commitment."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        record = latest_record(state)
        supervision = record["supervision"] or blank_supervision(mode_of(state, settings.default_mode))
        commitment = supervision["commitment"]
        if assess is None or commitment is None:
            return {}
        run = context_of(runtime, settings)
        called = await _assessed(assess, record, commitment, state, run)
        spent = judged_by(record, called.spent.usage)
        if isinstance(called, Raised):
            lost: StepRecord = {**spent, "status": "needs_review", "error": called.message}
            update = fail(state, lost, called.kind or "executor_error", called.message, called.error)
        else:
            update = {"results": [{**spent, "supervision": {**supervision, "assessment": called.value}}]}
        update = bounded({**counted(state, called.spent), **update}, run, record["step_index"])
        announce(runtime.stream_writer, run.thread_id, update)
        return update

    return node


async def _assessed(
    assess: Assess, record: StepRecord, commitment: Commitment, state: OrchestratorState, run: RunContext
) -> Returned[SelfAssessment] | Raised:
    index, tools = record["step_index"], list(dict.fromkeys(call["name"] for call in record["tool_calls"]))
    return await call_agent(
        lambda: assess(record["step"], commitment, record["result"], tools, index),
        run=run,
        spent_before=state["usage"],
        step_index=index,
    )
