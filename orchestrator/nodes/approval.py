"""approval_node waits for a person's answer; answer_node applies it. A tool call can wait for one, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from langgraph.types import StreamWriter, interrupt

from agents.calls.journal import hash_call
from agents.errors import CallHaltedError
from agents.reply_types import HumanAnswer
from orchestrator.judging.basis import add_basis
from orchestrator.judging.evidence import Evidence
from orchestrator.nodes.node_types import emit_verdicts
from orchestrator.retry.verdict_updates import accept, add_decision, fail, retry
from orchestrator.runtime.langgraph_internals import read_task_id
from orchestrator.runtime.recording.call_recorder import read_recorder
from orchestrator.runtime.run_context import RunContext
from orchestrator.state.current_step import current_records, current_step, latest_record
from orchestrator.state.graph_state import OrchestratorState, StateUpdate
from orchestrator.state.plain_values import plain_json
from orchestrator.state.records import Question, StepRecord, ToolCallRecord
from orchestrator.supervision import human
from orchestrator.supervision.modes import SupervisionPolicy


async def approval_node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:  # noqa: ARG001 - as every node
    """Waits for an answer."""
    # Nothing else belongs here: LangGraph runs an interrupted node again from its first line.
    return {"underway": {**state["underway"], "answer": interrupt(state["question"])}}


@dataclass(frozen=True, slots=True)
class ToolApproval:
    """Asks a person whether a tool may run.

    Attributes:
        state: The state before the execution.
        policy: Sets the deadline of the answer.
        now: Returns the current time in UTC.
        read_start: Returns the time of the question, which is the same after a resume.
    """

    state: OrchestratorState
    policy: SupervisionPolicy
    now: Callable[[], datetime]
    read_start: Callable[[], str]

    def __call__(self, name: str, args: Mapping[str, object], doubt: str) -> HumanAnswer:
        """Asks until an answer can be read, and returns it.

        Args:
            name: Name of the tool.
            args: Arguments of the call.
            doubt: Why it is not known whether the same call had its effect before; empty if it is new.
        """
        call = ToolCallRecord(name=name, args=plain_json(args), result=None, error=None, latency_ms=None)
        step = (*current_step(self.state), len(current_records(self.state)) + 1)
        # With the arguments in the id: an agent within a tool, which has no journal, may ask about others.
        place = f"{read_task_id()}-{hash_call(name, args, *([doubt] if doubt else []))}"
        question = human.build_tool_question(place, step, call, self.policy, self.read_start(), doubt)
        while isinstance(answer := human.read_answer(interrupt(question), question, self.now()), str):
            question = {**question, "problem": answer}
        if answer["answer"] == "halt":
            # Also for an agent within a tool, whose error would only be an answer to the model.
            read_recorder().halted = CallHaltedError(f"denied by {answer['answered_by']}: {answer['text']}")
        return answer


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
