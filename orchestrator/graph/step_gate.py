"""Decides about the calls of one execution: by the contracts, by the calls of the run before, by a person."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Final, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolCall
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest

from agents.errors import CallHaltedError
from agents.loop.decisions import ask_again, choose_earlier, list_answered
from agents.loop.effects import (
    LASTING,
    CallGate,
    CallQuestion,
    EarlierCall,
    Effect,
    build_effect,
    find_last_reply,
    read_reply_mark,
    utc_now,
)
from agents.loop.langgraph_internals import ask_person, read_task_id
from agents.loop.tool_arguments import hash_call
from agents.reply_types import HumanAnswer
from agents.sync import Conversation
from evaluation.sensitive.scanner import shorten
from orchestrator.errors import InterruptError
from orchestrator.judging.contract_choice import CallRules
from orchestrator.judging.executor_tools import ExecutorTools
from orchestrator.runtime.bounded_call import AgentMethod, RunContext
from orchestrator.runtime.call_recorder import read_recorder
from orchestrator.runtime.call_records import CallJournal, plan_record, read_effects
from orchestrator.state.graph_state import (
    COPIED_CALL,
    OrchestratorState,
    current_step,
    list_records,
    read_origin,
)
from orchestrator.state.plain_values import plain_json
from orchestrator.state.records import CallOrigin, ToolCallRecord
from orchestrator.supervision import human

_SHOWN: Final = 5
"""Most earlier calls that a person is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunGate(CallGate):
    """The gate of one execution: ``agents.loop.effects.CallGate``.

    Attributes:
        state: The state before the execution.
        origin: The execution.
        run: The run.
        tools: The executor's tools.
        journal: Stores the effects of agents within the executor; None without a store.
        of_run: The rules for all calls of the run, also of refused executions.
        of_step: The rules for the calls of the execution alone.
        doubtful: The calls of an interrupted execution, if a person is asked about all of it.
    """

    state: OrchestratorState
    origin: CallOrigin
    run: RunContext
    tools: ExecutorTools
    journal: CallJournal | None
    of_run: CallRules
    of_step: CallRules
    doubtful: Sequence[ToolCallRecord] = ()

    def find_breach(self, call: ToolCall, planned: Sequence[ToolCall]) -> str | None:
        """Returns why the contracts exclude a call; None if they may allow it."""
        if self.of_run.is_empty and self.of_step.is_empty:
            return None
        current = [*self._list_current(), *map(_plan_record, (*planned, call))]
        # With the arguments as their tools read them.
        *made, called = map(self.tools.complete_call, current)
        earlier = [each for _, each in self._list_made()]
        return self.of_step.find_breach(called, made) or self.of_run.find_breach(called, [*earlier, *made])

    def find_earlier(self, call: ToolCall) -> EarlierCall | None:
        """Returns the equal call of the run before that decides about a call; None if there is none."""
        # As a record holds it: a store has no form for infinity or a number of more than 64 bits.
        planned = _plan_record(call)
        earlier = [
            (self._describe(origin, each), self.tools.are_equal(planned, each))
            for origin, each in self._list_acting()
        ]
        return choose_earlier(earlier)

    def _describe(self, origin: CallOrigin, record: ToolCallRecord) -> EarlierCall:
        return EarlierCall(
            self.tools.tell_outcome(record),
            record["result"] or record["error"] or "",
            cast("Mapping[str, int]", record.get("made_in", origin)),
            is_same_step=origin["step_index"] == self.origin["step_index"],
            is_same_attempt=origin is self.origin,
            denial=record.get("answer") if record.get("gate") == "denied" else None,
        )

    def ask(self, question: CallQuestion) -> HumanAnswer:
        """Asks until an answer can be read, and returns it."""
        call = question.call
        step = (*current_step(self.state), self.origin["attempt"])
        # With the arguments in the id: an agent within a tool starts again, and may ask about others.
        doubt = [question.doubt] if question.doubt else []
        place = f"{read_task_id()}-{hash_call(call['name'], call['args'], str(call['id']), *doubt)}"
        earlier = [self._describe_call(each) for _, each in self._list_acting()[-_SHOWN:]]
        copied = f"{COPIED_CALL}{call['name']} "
        earlier += [warning for warning in self.state["warnings"] if warning.startswith(copied)]
        asked = human.build_tool_question(place, step, question, _plan_record(call), earlier)
        if self.doubtful:
            made = [self._describe_call(call) for call in self.doubtful]
            asked = human.extend_to_step(asked, self.doubtful, made)
        ask = partial(ask_person, new_after=question.new_after)
        while isinstance(answer := human.read_answer(ask(asked), asked, datetime.now(UTC)), str):
            asked = {**asked, "problem": answer}
        if answer["answer"] == "halt":
            # Also for an agent within a tool, whose error would only be an answer to the model.
            halted = CallHaltedError(f"denied by {answer['answered_by']}: {answer['text']}")
            read_recorder().halted = halted
            raise halted
        return answer

    def _describe_call(self, call: ToolCallRecord) -> str:
        return (
            f"Before: {call['name']} {shorten(json.dumps(call['args']), 120)} "
            f"answered {shorten(call['result'] or call['error'] or 'nothing', 120)!r} "
            f"({self.tools.tell_outcome(call)})"
        )

    def may_have_acted(self, call: ToolCallRecord) -> bool:
        """Returns whether a stored call acted, or did not end and is not known to read."""
        is_open = call["latency_ms"] is None and not self.tools.describe(call["name"]).only_reads
        return is_open or call.get("outcome") in LASTING

    def keep_effects(self, request: ToolCallRequest, effects: Mapping[str, Effect]) -> Conversation[None]:
        """Stores the effects of an agent within the executor, whose own state may be left behind."""
        acting = {key: each for key, each in effects.items() if not each.get("is_open")}
        if self.journal is None or not acting:
            return
        mark = read_reply_mark(find_last_reply(request.state["messages"])[0])
        asked_at = "" if mark is None else mark["replied_at"]
        for record in read_effects(acting):
            yield from self.journal.keep_effect(request.runtime.config, record, asked_at)

    def list_taken(self) -> list[str]:
        """Lists the ids of the calls so far: some models number the calls of each conversation anew."""
        return [str(each.get("id")) for each in self._list_current()]

    def note_call(self, call: ToolCall, effect: Effect, told: str | None = None) -> None:
        """Records the effect of a call."""
        read_recorder().note_call(call, effect, told)

    def note_history(self, messages: Sequence[BaseMessage], effects: Mapping[str, Effect]) -> None:
        """Records the calls before a crash, and those that a middleware answered in place of a tool."""
        stored = () if self.journal is None else self.journal.effects
        known = {each.get("id") for each in stored}
        answered = {
            str(call["id"]): build_effect(call, decision, self.execution)
            for reply in messages
            if isinstance(reply, AIMessage) and read_reply_mark(reply) is not None
            for call, decision in list_answered(reply, messages, effects)
            if self.tools.describe(call["name"]).kind == "acting" and call["id"] not in known
        }
        read_recorder().restore_calls(messages, {**answered, **effects}, self.execution)

    def _list_current(self) -> list[ToolCallRecord]:
        made = read_recorder().list_tool_calls()
        return made if self.journal is None else self.journal.join_calls(made)

    def _list_made(self) -> Iterator[tuple[CallOrigin, ToolCallRecord]]:
        for record in list_records(self.state):
            yield from ((read_origin(record), call) for call in record["tool_calls"])

    def _list_acting(self) -> list[tuple[CallOrigin, ToolCallRecord]]:
        """Lists the calls of the run so far that act, with their executions."""
        made = [*self._list_made(), *((self.origin, each) for each in self._list_current())]
        # An agent within the executor may state that a tool of its own acts.
        return [
            (origin, each)
            for origin, each in made
            if "writes" in each or self.tools.describe(each["name"]).kind == "acting"
        ]


async def execute_again(
    journal: CallJournal, gate: RunGate, execute: AgentMethod[object], *args: str, **named: object
) -> object:
    """Executes a step by an executor that is no graph, after a person was asked if its calls may have acted.

    Raises:
        InterruptError: Nobody can be asked.
        CallHaltedError: The person ends the run.
    """
    made, doubtful = journal.calls, [call for call in journal.calls if gate.may_have_acted(call)]
    try:
        if doubtful and journal.marks.starts > 0:
            answer = await _ask_to_repeat(journal, replace(gate, doubtful=doubtful))
            made = [_add_answer(each, answer) if each in doubtful else each for each in made]
            if answer["answer"] == "correct":
                return answer["text"]
    finally:
        read_recorder().add_calls(made)
    if doubtful or journal.marks.starts < 1:
        await journal.mark("begun")
    try:
        return await execute(*args, **named)
    except GraphInterrupt:
        await journal.mark("paused")
        raise


def _add_answer(call: ToolCallRecord, answer: HumanAnswer) -> ToolCallRecord:
    """Returns the call with the answer of a person, who states what a call has done that did not end."""
    answered: ToolCallRecord = {**call, "answer": answer}
    if answer["answer"] != "correct" or call.get("outcome") != "unknown":
        return answered
    return {**answered, "outcome": "stated", "result": answer["text"], "error": None}


async def _ask_to_repeat(journal: CallJournal, gate: RunGate) -> HumanAnswer:
    if journal.marks.is_unasked:
        await journal.mark("asked", journal.marks.answers)
    call = ToolCall(name=gate.doubtful[-1]["name"], args={}, id=None)
    decision = ask_again(gate, call, journal.marks, utc_now().isoformat())
    if (answer := decision.approval) is None:
        names = ", ".join(dict.fromkeys(call["name"] for call in gate.doubtful))
        raise InterruptError(
            f"the execution was interrupted after calls that may have acted ({names}), and nobody can be "
            "asked whether the step is executed again"
        )
    return answer


def _plan_record(call: ToolCall) -> ToolCallRecord:
    return plan_record(call["name"], plain_json(call["args"]))
