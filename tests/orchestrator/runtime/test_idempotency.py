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
from orchestrator.runtime.nested_graphs import idempotency_key
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.planner import FakePlanner


def keys_of(plan, monitor, *threads, fail_once=False):
    """The keys that a tool is given over runs on these threads; the first call may crash the process."""
    keys = []

    @tool
    def pay(config: RunnableConfig) -> str:
        """Pay."""
        keys.append(config["configurable"]["idempotency_key"])
        if fail_once and len(keys) == 1:
            raise SystemExit
        return "paid"

    def reply(messages):
        if messages[-1].type == "tool":
            return "done"
        return AIMessage("", tool_calls=[{"name": "pay", "args": {}, "id": "1"}])

    executor = ExecutionAgent(ScriptedChatModel(reply), [pay])
    orchestrator = LangGraphOrchestrator(FakePlanner(plan), executor, monitor, checkpointer=InMemorySaver())
    for thread in threads:
        orchestrator.run("x", thread, replace=True)
    return keys


def test_every_step_has_a_key_of_its_own():
    first, second = keys_of(["a", "b"], FakeMonitor(), "thread")

    assert first != second


def test_the_same_step_text_twice_has_two_keys():
    first, second = keys_of(["a", "a"], FakeMonitor(), "thread")

    assert first != second


def test_a_retry_has_a_key_of_its_own():
    first, second = keys_of(["a"], FakeMonitor(refuse(), accept()), "thread")

    assert first != second


def test_a_second_run_on_a_thread_has_keys_of_its_own():
    first, second = keys_of(["a"], FakeMonitor(), "thread", "thread")

    assert first != second


@pytest.mark.parametrize(
    "other",
    [
        ("t", "r", 0, 2, "c"),
        ("t", "r", 1, 1, "c"),
        ("t", "r", 0, 1, "d"),
        ("u", "r", 0, 1, "c"),
        ("t", "s", 0, 1, "c"),
    ],
)
def test_a_key_names_all_that_it_is_made_of(other):
    assert idempotency_key("t", "r", 0, 1, "c") != idempotency_key(*other)


def test_a_key_is_the_same_whenever_it_is_made():
    assert idempotency_key("t", "r", 0, 1, "\ud800ü") == idempotency_key("t", "r", 0, 1, "\ud800ü")
