"""Transient errors are retried without counting as attempts of a step."""

from __future__ import annotations

from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from agents import ExecutionAgent, TransportRetry
from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator, RetryPolicy
from tests.fakes.executor import AsyncFakeExecutor, FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner

THREE = RetryPolicy(transport=TransportRetry(max_attempts=3, initial_seconds=0))


def run(executor, monitor=None, planner=None, **options):
    options.setdefault("retry_policy", THREE)
    agents = planner or FakePlanner(["one"]), executor, monitor or FakeMonitor()
    return LangGraphOrchestrator(*agents, **options).run("x")


def test_two_lost_connections_and_a_result_are_one_attempt(subtests):
    for executor in [FakeExecutor, AsyncFakeExecutor]:
        with subtests.test(executor=executor):
            agent = executor(ConnectionError("refused"), ConnectionError("reset"), "out")
            state = run(agent)

            assert (state["status"], state["attempts"], len(agent.calls)) == ("success", 0, 3)
            assert [(record["attempt"], record["result"]) for record in state["results"]] == [(1, "out")]


def test_an_agent_that_retries_by_itself_is_not_retried_once_more():
    llm = ScriptedChatModel(lambda messages: ConnectionError("refused"))
    agent = ExecutionAgent(llm, transport_retry=TransportRetry(max_attempts=2, initial_seconds=0))
    state = run(agent)

    assert (len(llm.prompts), state["failure"]["error_type"]) == (2, "ModelUnavailableError")


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


def test_nothing_is_tried_again_once_a_tool_was_called():
    class Payer(FakeExecutor):
        def execute_step(self, step_description, context=""):
            pay.invoke({"amount": 3})
            return super().execute_step(step_description, context)

    executor = Payer(ConnectionError("reset"), "out")
    state = run(executor)

    assert (state["status"], len(executor.calls)) == ("failed", 1)
    assert [call["result"] for call in state["results"][0]["tool_calls"]] == ["paid 3"]


def test_a_lost_connection_within_a_tool_loop_is_mended_without_a_second_payment():
    call = AIMessage("", tool_calls=[{"name": "pay", "args": {"amount": 3}, "id": "1"}])
    llm = ScriptedChatModel([call, ConnectionError("reset"), "paid"])
    agent = ExecutionAgent(llm, [pay], transport_retry=TransportRetry(max_attempts=2, initial_seconds=0))
    state = run(agent)

    assert state["status"] == "success"
    assert len(state["results"][0]["tool_calls"]) == 1
