"""Requests that answer one tool call: a run of its tool, or an answer in its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from langchain_core.messages import BaseMessage, InvalidToolCall, ToolCall
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp, GraphInterrupt

from agents.calls.conversation import Conversation, Request, arun_conversation, run_conversation
from agents.calls.journal import hash_call, read_values
from agents.calls.planned_call import IDEMPOTENCY_KEY, PlannedCall
from agents.calls.tool_answers import answer_call, build_error, read_answer, refuse_invalid
from agents.calls.tool_gate import (
    INTERRUPTED,
    TOOL_ANSWER,
    Run,
    StandIn,
    StartLog,
    ToolGate,
    read_decision,
    refuse_doubtful,
)

Tools = Mapping[str, BaseTool]
_NO_ANSWER: Final = "The tool ended without an answer. Go on without it."


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
        call, tool = self.planned.call, self.tools.get(self.planned.name)
        if not isinstance(self.decision, Run):
            return [answer_call(call, self.decision)]
        if tool is None:
            reason = f"There is no tool {call['name']!r}; there is: {', '.join(sorted(self.tools))}."
            return [answer_call(call, StandIn(reason))]
        key, starts = self._build_key(), self.gate.starts
        invocation = _Invocation(tool, call, self._build_config(key, self.decision))
        if starts is None or key is None or self.planned.name not in self.gate.once:
            return (yield invocation)
        # A journal has no answer to this call, or it would not be made now.
        if number := starts.count(key):
            decision = self._ask_again(number)
            if not isinstance(decision, Run):
                return [answer_call(call, decision)]
            invocation = replace(invocation, config=self._build_config(key, decision))
        return (yield _LoggedStart(invocation, starts, key))

    def _ask_again(self, number: int) -> Run | StandIn:
        """Asks a person about a call in which the process died."""
        # With the number: an approval is for one further start.
        reason = INTERRUPTED if number == 1 else f"{INTERRUPTED}, {number} times"
        if self.gate.ask is None:
            return refuse_doubtful(reason)
        return read_decision(self.gate.ask(self.planned.name, self.planned.args, reason))

    def _build_key(self) -> str | None:
        execution = read_values().get(IDEMPOTENCY_KEY)
        return self.planned.build_key(execution) if isinstance(execution, str) else None

    def _build_config(self, key: str | None, decision: Run) -> RunnableConfig:
        added = {} if key is None else {IDEMPOTENCY_KEY: key}
        # With the id of the call, and None without an answer: calls within a tool inherit the metadata.
        answered = {"id": self.planned.call["id"], "answer": decision.approval}
        return RunnableConfig(
            configurable={**read_values(), **added},
            metadata={TOOL_ANSWER: answered if decision.approval else None},
        )


@dataclass(frozen=True, slots=True)
class InvalidCalls:
    """Answers the calls of a reply that could not be read."""

    calls: Sequence[InvalidToolCall]

    def run(self) -> list[BaseMessage]:
        """Returns one answer for each call."""
        return [refuse_invalid(call) for call in self.calls]

    async def arun(self) -> list[BaseMessage]:
        """Returns the same; nothing waits."""
        return self.run()


@dataclass(frozen=True, slots=True)
class _Invocation:
    """Runs the tool of a call. A failure is an answer, too."""

    tool: BaseTool
    call: ToolCall
    config: RunnableConfig

    def run(self) -> list[BaseMessage]:
        with self._catch_failure() as answers:
            answers.append(self._read(self.tool.invoke(self.call, self.config)))
        return answers

    async def arun(self) -> list[BaseMessage]:
        with self._catch_failure() as answers:
            answers.append(self._read(await self.tool.ainvoke(self.call, self.config)))
        return answers

    def _read(self, output: object) -> BaseMessage:
        answer = read_answer(output)
        if answer is None:
            return build_error(self.call, _NO_ANSWER)
        # A tool may have written the id of another call.
        return answer.model_copy(update={"tool_call_id": self.call["id"]})

    @contextmanager
    def _catch_failure(self) -> Iterator[list[BaseMessage]]:
        answers = list[BaseMessage]()
        try:
            yield answers
        except GraphBubbleUp:  # the tool asks a person
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a tool is user code
            reason = f"The tool failed: {type(error).__name__}: {error}. Mend the call, or go on without it."
            answers.append(build_error(self.call, reason))


@dataclass(frozen=True, slots=True)
class _LoggedStart:
    """Makes a request after its start is stored."""

    request: Request
    starts: StartLog
    key: str

    def run(self) -> list[BaseMessage]:
        self.starts.add(self.key, 1)
        try:
            return self.request.run()
        except GraphInterrupt:
            # The tool asks a person: it starts again after the answer, and nothing is in doubt.
            self.starts.add(self.key, -1)
            raise

    async def arun(self) -> list[BaseMessage]:
        await self.starts.aadd(self.key, 1)
        try:
            return await self.request.arun()
        except GraphInterrupt:
            await self.starts.aadd(self.key, -1)
            raise
