"""One round of tool calls: a person is asked first about the calls that need an approval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from langchain_core.messages import AIMessage, BaseMessage, InvalidToolCall, ToolMessage

from agents.calls.conversation import Conversation, Request
from agents.calls.journal import JournaledRequests, hash_call
from agents.calls.planned_call import PlannedCall
from agents.calls.tool_answers import answer_call
from agents.calls.tool_gate import (
    TOOL_ANSWER,
    Ask,
    Refuse,
    Run,
    StatedResult,
    ToolGate,
    find_gate,
    refuse_denied,
)
from agents.calls.tool_run import InvalidCalls, ToolRun, Tools, read_decision
from agents.contracts import HumanAnswer


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
        """Returns the answer of the person, or the answer to a call that the person denied."""
        answer = self.gate.ask_person(self.planned, self.doubt)
        if answer["answer"] != "deny":
            return [AIMessage("", additional_kwargs={TOOL_ANSWER: dict(answer)})]
        return [answer_call(self.planned.call, refuse_denied(answer))]

    async def arun(self) -> list[BaseMessage]:
        """Does the same; LangGraph stops the run at a question, so that nothing waits."""
        return self.run()


def answer_calls(
    tools: Tools, calls: Sequence[PlannedCall], invalid: Sequence[InvalidToolCall]
) -> Conversation[list[BaseMessage]]:
    """Answers all calls of a reply.

    Args:
        tools: The tools by name.
        calls: The calls that can be read.
        invalid: The calls that cannot.

    Raises:
        CallHaltedError: A person who was asked about a call ends the run.
    """
    gate, answers = find_gate(), list[BaseMessage]()
    while calls or invalid:
        batch, calls = _split_calls(calls, gate)
        requests = list[Request]()
        for planned in batch:
            decision = gate.decide(planned)
            if not isinstance(decision, Ask):
                requests.append(ToolRun(tools, gate, planned, decision))
                continue
            # Before the first tool runs: a resumed round begins with its first question.
            replies = yield JournaledRequests([Approval(gate, planned, decision.doubt)])
            if replies and isinstance(replies[0], ToolMessage):
                answers += replies
            else:
                requests.append(ToolRun(tools, gate, planned, _read_decision(replies)))
        requests += [InvalidCalls(invalid)] if invalid else []
        answers += (yield JournaledRequests(requests)) if requests else []
        invalid = ()
    return answers


def _read_decision(replies: Sequence[BaseMessage]) -> Run | Refuse | StatedResult:
    # Runs of earlier versions kept no answer of a person who approved.
    answer = replies[0].additional_kwargs.get(TOOL_ANSWER) if replies else None
    return Run() if answer is None else read_decision(cast("HumanAnswer", answer))


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
