"""approval_node waits for a person's answer; answer_node applies it."""

from __future__ import annotations

from typing import NoReturn, cast

from langgraph.types import StreamWriter, interrupt

from agents.reply_types import HumanAnswer
from orchestrator.judging.basis import add_basis
from orchestrator.judging.evidence import Evidence
from orchestrator.nodes.node_types import emit_verdicts
from orchestrator.retry.verdict_updates import accept, add_decision, fail, retry
from orchestrator.runtime.run_context import RunContext
from orchestrator.state.current_step import latest_record
from orchestrator.state.graph_state import OrchestratorState, StateUpdate
from orchestrator.state.records import Question, StepRecord
from orchestrator.supervision import human


async def approval_node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:  # noqa: ARG001 - as every node
    """Waits for an answer."""
    # Nothing else belongs here: LangGraph runs an interrupted node again from its first line.
    return {"underway": {**state["underway"], "answer": interrupt(state["question"])}}


def wait_for_server(message: str) -> NoReturn:
    """Stops the run, so that ``resume`` goes on with this execution when its model's server is back.

    Raises:
        GraphInterrupt: Always.
    """
    while True:  # an interrupt that was resumed returns, and the server is away again
        interrupt(human.build_outage(message))


async def answer_node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
    """Applies an answer; if it cannot be read, asks again."""
    question = cast("Question", state["question"])
    answer = human.read_answer(state["underway"]["answer"], question, run.now())
    taken: StateUpdate = {"underway": {**state["underway"], "answer": None}}
    if isinstance(answer, str):
        return {**taken, "question": {**question, "problem": answer}}
    update = _apply_answer(state, human.with_answer(latest_record(state), answer), answer)
    emit_verdicts(write, run.thread_id, update)
    return {**taken, **update}


def _apply_answer(state: OrchestratorState, record: StepRecord, answer: HumanAnswer) -> StateUpdate:
    person = answer["answered_by"]
    if answer["answer"] == "approve":
        # A deadline that approves is nobody's approval.
        approved = record if person == human.DEADLINE else add_basis(record, Evidence(person=person))
        return accept(state, add_decision(approved, "accept", f"approved by {person}"))
    refused: StepRecord = {**record, "status": "failed"}
    if answer["answer"] == "correct":
        asked = record.get("decision")
        rule = None if asked is None else asked["rule"]
        return retry(state, add_decision(refused, "correct", f"corrected by {person}", rule), semantic=False)
    reason = f"denied by {person}: {answer['text']}"
    return fail(state, add_decision(refused, "stop", reason), "denied", reason)
