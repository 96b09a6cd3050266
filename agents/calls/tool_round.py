"""One round of tool calls: a person is asked first about the calls that need an approval."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from langchain_core.messages import BaseMessage, ToolCall, ToolMessage

from agents.calls.conversation import Conversation
from agents.calls.journal import JournaledRequest, hash_request
from agents.calls.stand_in_tools import refuse_call
from agents.calls.tool_gate import ToolGate, describe_call, find_gate
from agents.calls.tools import ToolCalls


@dataclass(frozen=True, slots=True)
class Approval:
    """Asks a person whether a tool may run."""

    gate: ToolGate
    call: ToolCall

    @property
    def key(self) -> str:
        """Describes the call for a journal: an approval is for this tool and these arguments only."""
        return hash_request("approve", describe_call(self.call["name"], self.call["args"]))

    def run(self) -> list[BaseMessage]:
        """Returns the answer to a call that was denied; nothing if it may run."""
        call = self.call
        denial = self.gate.find_denial(call["name"], call["args"])
        if denial is None:
            return []
        reason = f"The call was denied: {denial}. Go on without it."
        return [refuse_call(call["name"], call["args"], call["id"], reason, "denied")]

    async def arun(self) -> list[BaseMessage]:
        """Does the same; LangGraph stops the run at a question, so that nothing waits."""
        return self.run()


def answer_calls(calls: ToolCalls, tools: Collection[str]) -> Conversation[list[BaseMessage]]:
    """Answers all calls of a reply.

    Args:
        calls: The calls.
        tools: Names of the tools that there are.
    """
    gate, denials = find_gate(), list[BaseMessage]()
    for call in calls.reply.tool_calls:
        if call["name"] in tools and gate.asks_before(call["name"], call["args"]):
            approval = Approval(gate, call)
            # Before the first tool runs: a resumed round begins with its first question.
            denials += yield JournaledRequest(approval, [approval])
    permitted = calls.without(
        {message.tool_call_id for message in denials if isinstance(message, ToolMessage)}
    )
    answers = denials
    # Repeated calls one after the other, so that each finds the answer to the one before.
    while permitted.reply.tool_calls or permitted.reply.invalid_tool_calls:
        first, permitted = permitted.split_repeated(gate.once)
        answers += yield JournaledRequest(first, first.split())
    return answers
