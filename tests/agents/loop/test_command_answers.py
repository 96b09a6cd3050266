"""EffectsMiddleware keeps the Command of a tool one Command: middleware of deepagents takes no list."""

from __future__ import annotations

from typing import Annotated

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.types import Command

from agents import EffectsMiddleware
from agents.testing import ScriptedChatModel


@tool
def send(to: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command:
    """Send a letter."""
    return Command(update={"messages": [ToolMessage(f"sent to {to}", tool_call_id=tool_call_id)]})


class Strict(AgentMiddleware):
    """Takes one message or one command from a tool, and nothing else."""

    def wrap_tool_call(self, request, handler):
        output = handler(request)
        assert isinstance(output, ToolMessage | Command)
        return output

    async def awrap_tool_call(self, request, handler):
        output = await handler(request)
        assert isinstance(output, ToolMessage | Command)
        return output


async def test_a_command_of_a_tool_stays_one_command_with_the_effect(subtests):
    for is_async in [False, True]:
        with subtests.test(is_async=is_async):
            call = {"name": "send", "args": {"to": "Ada"}, "id": "1"}
            model = ScriptedChatModel([AIMessage("", tool_calls=[call]), "It is sent."])
            agent = create_agent(model, [send], middleware=[Strict(), EffectsMiddleware(["send"])])

            state = await agent.ainvoke({"messages": []}) if is_async else agent.invoke({"messages": []})

            assert [each.text for each in state["messages"]][1:] == ["sent to Ada", "It is sent."]
            assert (state["effects"]["1"]["outcome"], state["effects"]["1"]["answer"]) == (
                "acted",
                "sent to Ada",
            )
