"""One round of tool calls: a person is asked first about the calls that need an approval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from langchain_core.messages import AIMessage, BaseMessage

from agents.calls.conversation import Conversation, Request
from agents.calls.journal import JournaledRequests, hash_call
from agents.calls.planned_call import PlannedCall
from agents.calls.tool_gate import TOOL_ANSWER, Ask, ToolGate, find_gate, read_decision
from agents.calls.tool_run import ToolRun, Tools
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
