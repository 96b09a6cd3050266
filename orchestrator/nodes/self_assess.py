"""post_node (POST): the executor compares its work with its commitment."""

from __future__ import annotations

from functools import partial

from langgraph.runtime import Runtime

from agents.contracts import Unreadable
from orchestrator.nodes.base import Node, call_supervision, get_context
from orchestrator.planning.outline import describe_task
from orchestrator.runtime.call import Raised
from orchestrator.runtime.context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.current_step import latest_record
from orchestrator.state.graph_state import OrchestratorState, StateUpdate
from orchestrator.state.records import StepRecord
from orchestrator.state.supervision_records import SelfAssessment
from orchestrator.supervision.human import blank_supervision
from orchestrator.supervision.phases import Assess
from orchestrator.supervision.statements import build_assessment


def post_node(assess: Assess | None, settings: Settings) -> Node:
    """Returns the node that asks for the self-assessment; it does nothing if there was no commitment.

    After an error of the executor, the commitment counts as not met.
    """

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        record = latest_record(state)
        supervision = record["supervision"]
        commitment = None if supervision is None else supervision["commitment"]
        if assess is None or commitment is None:
            return {}
        run = get_context(runtime, settings, state)

        def recover(called: Raised) -> SelfAssessment:
            problem = Unreadable("", called.message)
            return build_assessment(problem, record["step_index"], record["result"], tools, run.now())

        tools = list(dict.fromkeys(call["name"] for call in record["tool_calls"]))
        return await call_supervision(
            partial(assess, record["step"], commitment, record["result"], tools, describe_task(state)),
            record,
            state,
            run,
            runtime.stream_writer,
            _add_assessment,
            recover,
        )

    return node


def _add_assessment(record: StepRecord, assessment: SelfAssessment) -> StateUpdate:
    supervision = record["supervision"] or blank_supervision("llm")
    return {"results": [{**record, "supervision": {**supervision, "assessment": assessment}}]}
