"""A shop whose agent refunds orders."""

import asyncio
import json

from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from agents import ActingTool, EffectsMiddleware
from agents.testing import ScriptedChatModel

THREAD = {"configurable": {"thread_id": "t"}}
TASK = {"messages": [("user", "refund order 7")]}


class Shop:
    def __init__(self, *answers):
        self.status: dict[int, str] = {}
        self.refunds: list[int] = []
        self.answers = list(answers)

    def refund(self, order: int) -> str:
        """Refund an order."""
        self.refunds.append(order)
        self.status[order] = "refunded"
        answer = self.answers.pop(0) if self.answers else f"refunded order {order}"
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def arefund(self, order: int) -> str:
        """Refund an order."""
        return await asyncio.to_thread(self.refund, order)

    def get_order(self, order: int) -> str:
        """Return an order."""
        return json.dumps({"order": order, "status": self.status.get(order, "paid")})

    def tools(self):
        refund = StructuredTool.from_function(self.refund, self.arefund, name="refund")
        return [refund, StructuredTool.from_function(self.get_order)]


def ask(*orders):
    calls = [{"name": "refund", "args": {"order": order}, "id": f"c{order}"} for order in orders]
    return AIMessage("", tool_calls=calls)


READING = AIMessage("", tool_calls=[{"name": "get_order", "args": {"order": 7}, "id": "r7"}])


def reply(messages):
    return "done" if messages[-1].type == "tool" else ask(7)


def build(shop, acting, *middleware, script=reply, saver=None, tools=None, **options):
    """An agent with these tools or those of a shop, whose state is kept unless the saver is False."""
    return create_agent(
        script if isinstance(script, ScriptedChatModel) else ScriptedChatModel(script),
        tools or shop.tools(),
        middleware=[EffectsMiddleware(acting), *middleware],
        checkpointer=InMemorySaver() if saver is None else saver,
        **options,
    )


def decide(kind, message=None):
    decision = {"type": kind} if message is None else {"type": kind, "message": message}
    return Command(resume={"decisions": [decision]})


APPROVED = {"refund": ActingTool(approve=True)}
