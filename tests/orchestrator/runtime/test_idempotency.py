"""The key by which a tool makes its effect exactly once."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.planner import FakePlanner


def keys_of(plan, monitor, *threads, crash=False, replies=None):
    """The keys that a tool is given over runs on these threads; the process may die in the first call."""
    keys = []

    @tool
    def pay(config: RunnableConfig, to: str = "Ada") -> str:
        """Pay."""
        keys.append(config["configurable"]["idempotency_key"])
        if crash and len(keys) == 1:
            raise KeyboardInterrupt
        return "paid"

    def reply(messages):
        return "done" if messages[-1].type == "tool" else call("Ada")

    model = ScriptedChatModel(reply if replies is None else replies)
    executor = ExecutionAgent(model, [pay])
    orchestrator = LangGraphOrchestrator(FakePlanner(plan), executor, monitor, checkpointer=InMemorySaver())
    for thread in threads:
        if crash:
            with pytest.raises(KeyboardInterrupt):
                orchestrator.run("x", thread, replace=True)
            orchestrator.resume(thread)
            orchestrator.resume(thread, {"answer": "approve"})
        else:
            orchestrator.run("x", thread, replace=True)
    return keys


def call(*payees):
    made = [{"name": "pay", "args": {"to": to}, "id": str(at)} for at, to in enumerate(payees)]
    return AIMessage("", tool_calls=made)


def test_every_call_of_an_execution_has_a_key_of_its_own():
    keys = keys_of(["a"], FakeMonitor(), "thread", replies=[call("Ada", "Bob", "Ada"), call("Ada"), "done"])

    assert len(set(keys)) == len(keys) == 4


def test_a_call_that_is_repeated_after_a_crash_has_the_same_key():
    first, second = keys_of(["a"], FakeMonitor(), "thread", crash=True)

    assert first == second


def test_a_retry_has_a_key_of_its_own():
    first, second = keys_of(["a"], FakeMonitor(refuse(), accept()), "thread")

    assert first != second
