"""One round of tool calls: each runs its tool, or has an answer in its place.

A person is asked first about the calls that need an approval.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from langchain_core.messages import AIMessage, BaseMessage, ToolCall
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp, GraphInterrupt

from agents.calls.conversation import Conversation, Request, arun_conversation, run_conversation
from agents.calls.journal import JournaledRequests, hash_call, read_values
from agents.calls.planned_call import IDEMPOTENCY_KEY, PlannedCall
from agents.calls.tool_gate import (
    INTERRUPTED,
    TOOL_ANSWER,
    Ask,
    Run,
    StandIn,
    StartLog,
    ToolGate,
    answer_call,
    build_error,
    find_gate,
    read_answer,
    read_decision,
    refuse_doubtful,
)
from agents.reply_types import HumanAnswer

Tools = Mapping[str, BaseTool]


@dataclass(frozen=True, slots=True)
class ToolRun:
    """Answers one call as the gate has decided.

    Attributes:
        tools: The tools by name.
        gate: The gate; it keeps the starts of tools that make the same call once.
        planned: The call.
        decision: The decision of the gate.
    """

    tools: Tools
    gate: ToolGate
    planned: PlannedCall
    decision: Run | StandIn

    @property
    def key(self) -> str:
        """Describes the call for a journal."""
        return hash_call(self.planned.name, self.planned.args, "run")

    def run(self) -> list[BaseMessage]:
        """Returns the answer, also for a failed call."""
        return run_conversation(self._answer())

    async def arun(self) -> list[BaseMessage]:
        """Returns the same without blocking the event loop."""
        return await arun_conversation(self._answer())

    def _answer(self) -> Conversation[list[BaseMessage]]:
        call, key = self.planned.call, self._build_key()
        starts = self.gate.starts if key and self.planned.name in self.gate.once else None
        decision = self._decide(0 if starts is None else starts.count(key))
        if isinstance(decision, StandIn):
            return [answer_call(call, decision)]
        config = self._build_config(key, decision)
        return (yield _Invocation(self.tools[self.planned.name], call, config, starts, key))

    def _decide(self, starts: int) -> Run | StandIn:
        if isinstance(self.decision, StandIn):
            return self.decision
        if self.planned.problem:
            return StandIn(self.planned.problem)
        if self.planned.name not in self.tools:
            names = ", ".join(sorted(self.tools))
            return StandIn(f"There is no tool {self.planned.name!r}; there is: {names}.")
        if not starts:
            return self.decision
        # The process died in the call: a journal has no answer to it, or it would not be made now.
        # With the number: an approval is for one further start.
        reason = INTERRUPTED if starts == 1 else f"{INTERRUPTED}, {starts} times"
        if self.gate.ask is None:
            return refuse_doubtful(reason)
        return read_decision(self.gate.ask(self.planned.name, self.planned.args, reason))

    def _build_key(self) -> str:
        """Returns the idempotency key of the call; empty outside of an execution that has one."""
        execution = read_values().get(IDEMPOTENCY_KEY)
        return self.planned.build_key(execution) if isinstance(execution, str) else ""

    def _build_config(self, key: str, decision: Run) -> RunnableConfig:
        added = {IDEMPOTENCY_KEY: key} if key else {}
        # With the id of the call, and None without an answer: calls within a tool inherit the metadata.
        answered = {"id": self.planned.call["id"], "answer": decision.approval}
        return RunnableConfig(
            configurable={**read_values(), **added},
            metadata={TOOL_ANSWER: answered if decision.approval else None},
        )


@dataclass(frozen=True, slots=True)
class _Invocation:
    """Runs the tool of a call. A failure is an answer, too.

    Attributes:
        starts: Stores the start before the tool runs; None if it is not stored.
        key: The idempotency key of the call.
    """

    tool: BaseTool
    call: ToolCall
    config: RunnableConfig
    starts: StartLog | None
    key: str

    def run(self) -> list[BaseMessage]:
        if self.starts is not None:
            self.starts.add(self.key, 1)
        try:
            return [self._read(self.tool.invoke(self.call, self.config))]
        except GraphInterrupt:
            # The tool asks a person: it starts again after the answer, and nothing is in doubt.
            if self.starts is not None:
                self.starts.add(self.key, -1)
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a tool is user code
            return [self._describe(error)]

    async def arun(self) -> list[BaseMessage]:
        if self.starts is not None:
            await asyncio.to_thread(self.starts.add, self.key, 1)
        try:
            return [self._read(await self.tool.ainvoke(self.call, self.config))]
        except GraphInterrupt:
            if self.starts is not None:
                await asyncio.to_thread(self.starts.add, self.key, -1)
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a tool is user code
            return [self._describe(error)]

    def _read(self, output: object) -> BaseMessage:
        answer = read_answer(output)
        if answer is None:
            return build_error(self.call, "The tool ended without an answer. Go on without it.")
        # A tool may have written the id of another call.
        return answer.model_copy(update={"tool_call_id": self.call["id"]})

    def _describe(self, error: BaseException) -> BaseMessage:
        if isinstance(error, GraphBubbleUp):  # such as a command to a parent graph
            raise error
        reason = f"The tool failed: {type(error).__name__}: {error}. Mend the call, or go on without it."
        return build_error(self.call, reason)


@dataclass(frozen=True, slots=True)
class Approval:
    """Asks a person whether a tool may run."""

    gate: ToolGate
    planned: PlannedCall
    doubt: str

    @property
    def key(self) -> str:
        """Describes the call for a journal: an approval is for this tool and these arguments only."""
        return hash_call(self.planned.name, self.planned.args, "approve")

    def run(self) -> list[BaseMessage]:
        """Returns a message with the answer of the person."""
        if self.gate.ask is None:
            raise LookupError("nobody can be asked")
        answer = self.gate.ask(self.planned.name, self.planned.args, self.doubt)
        return [AIMessage("", additional_kwargs={TOOL_ANSWER: dict(answer)})]

    async def arun(self) -> list[BaseMessage]:
        """Does the same; LangGraph stops the run at a question, so that nothing waits."""
        return self.run()


def answer_calls(tools: Tools, calls: Sequence[PlannedCall]) -> Conversation[list[BaseMessage]]:
    """Answers all calls of a reply.

    Raises:
        CallHaltedError: A person who was asked about a call ends the run.
    """
    gate, answers = find_gate(), list[BaseMessage]()
    while calls:
        batch, calls = _split_calls(calls, gate)
        requests = list[Request]()
        for planned in batch:
            decision = gate.decide(planned)
            if isinstance(decision, Ask):
                # Before the first tool runs: a resumed round begins with its first question.
                [reply] = yield JournaledRequests([Approval(gate, planned, decision.doubt)])
                decision = read_decision(cast("HumanAnswer", reply.additional_kwargs[TOOL_ANSWER]))
            requests.append(ToolRun(tools, gate, planned, decision))
        answers += yield JournaledRequests(requests)
    return answers


def _split_calls(calls: Sequence[PlannedCall], gate: ToolGate) -> tuple[list[PlannedCall], list[PlannedCall]]:
    """Returns the calls that can run at once, and those that have to see the answers of others."""
    seen, first, later = set[tuple[str, str]](), list[PlannedCall](), list[PlannedCall]()
    for call in calls:
        described = call.name, call.describe(call.args)
        is_repeated = call.name in gate.once and described in seen
        waits = is_repeated or (call.name in gate.counted and bool(seen))
        (later if waits else first).append(call)
        seen.add(described)
    return first, later
