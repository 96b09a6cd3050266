"""post_node (POST): the executor compares its work with its commitment."""

from __future__ import annotations

from functools import partial

from langgraph.runtime import Runtime

from agents.contracts import Unreadable
from orchestrator.nodes.base import Node, call_supervision, get_context
from orchestrator.planning.outline import describe_task
from orchestrator.runtime.context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.current_step import latest_record
from orchestrator.state.graph_state import OrchestratorState, StateUpdate
from orchestrator.state.records import StepRecord
from orchestrator.supervision.phases import Assess
from orchestrator.supervision.replies import AssessmentReply
from orchestrator.supervision.statements import build_assessment


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
