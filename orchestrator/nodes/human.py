"""approval_node and answer_node: a person is asked, and what the answer means."""

from __future__ import annotations

from typing import cast

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from orchestrator.nodes.base import Node, announce, context_of
from orchestrator.retry.outcome import accept, fail, retry
from orchestrator.runtime.context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.current_step import latest_record
from orchestrator.state.graph_state import OrchestratorState, Question, StateUpdate, StepRecord
from orchestrator.state.records import HumanAnswer
from orchestrator.supervision.human import read_answer, with_answer


async def approval_node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:  # noqa: ARG001 - as every node
    """Wait for an answer; nothing else, since an interrupted node starts again from its top."""
    return {"underway": {**state["underway"], "answer": interrupt(state["question"])}}


def answer_node(settings: Settings) -> Node:
    """The node that applies an answer, or asks again where it is none."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        run = context_of(runtime, settings)
        question = cast("Question", state["question"])
        answer = read_answer(state["underway"]["answer"], question, run.now())
        waiting: StateUpdate = {"underway": {**state["underway"], "answer": None}}
        if isinstance(answer, str):
            return {**waiting, "question": {**question, "problem": answer}}
        update = _applied(state, with_answer(latest_record(state), answer), answer)
        announce(runtime.stream_writer, run.thread_id, update)
        return {**waiting, **update}

    return node


def _applied(state: OrchestratorState, record: StepRecord, answer: HumanAnswer) -> StateUpdate:
    if answer["answer"] == "approve":
        return accept(state, record)
    refused: StepRecord = {**record, "status": "failed"}
    if answer["answer"] == "correct":
        return retry(state, refused, semantic=False)
    return fail(state, refused, "denied", f"denied by {answer['answered_by']}: {answer['text']}")
