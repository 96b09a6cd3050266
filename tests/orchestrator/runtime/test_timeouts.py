import asyncio
import threading
import time
from types import SimpleNamespace

from langchain_core.tools import tool

from agents import ExecutionAgent, TransportRetry
from agents.testing import ScriptedChatModel
from orchestrator import Budget, RetryPolicy
from tests.fakes.executor import AsyncFakeExecutor, FakeExecutor, WaitingExecutor
from tests.fakes.monitor import FakeMonitor, refuse
from tests.fakes.planner import AsyncFakePlanner, steps
from tests.fakes.runs import agent, call, run


async def wait(*_):
    await asyncio.sleep(3600)


def test_an_agent_that_takes_too_long_is_stopped_and_ends_the_run(subtests):
    judged_late = [("step 1 done", "needs_review")]
    for agents, step_index, results in [
        ({"planner": SimpleNamespace(generate_plan=wait)}, None, []),
        ({"executor": WaitingExecutor()}, 0, [("", "failed")]),
        ({"monitor": SimpleNamespace(evaluate=wait)}, 0, judged_late),
    ]:
        with subtests.test(agents=agents):
            state = run(plan=steps(2), **agents, call_timeout=0.2)
            failure, where = state["failure"], "" if step_index is None else "step 1: "

            told = f"{where}call_timeout is 0.2 s and has passed: raise --call-timeout"
            assert failure["message"].startswith(told)
            assert (failure["kind"], failure["step_index"]) == ("timeout", step_index)
            assert failure["error_type"] == "TimeoutError"
            assert [(record["result"], record["status"]) for record in state["results"]] == results
            assert "executor" not in agents or agents["executor"].stopped.is_set()


def test_step_timeout_counts_all_attempts_of_a_step():
    executor = FakeExecutor(lambda step, context: time.sleep(0.2) or "out")
    state = run(executor, FakeMonitor(refuse()), plan=steps(2), max_retries=40, step_timeout=1)

    assert (state["failure"]["kind"], state["failure"]["step_index"]) == ("timeout", 0)
    assert "step_timeout is 1 s and has passed" in state["failure"]["message"]
    assert len(state["results"]) <= 6


async def answers():
    return "late"


async def fails():
    raise RuntimeError("late")


def test_a_timeout_does_not_wait_for_a_tool_that_blocks():
    let_go, ended = threading.Event(), []

    def slow(n: int) -> str:
        """Take long."""
        let_go.wait(60)
        ended.append(n)
        return "late"

    state = run(agent(call("slow", n=1), "end", tools=[slow]), plan=steps(2), call_timeout=0.3)

    assert (state["failure"]["kind"], ended) == ("timeout", [])
    let_go.set()


class LoopBlockingExecutor:
    def __init__(self, then):
        self.then = then

    async def execute_step(self, step_description, context=""):
        time.sleep(0.5)  # noqa: ASYNC251 - that is the point
        return await self.then()


def test_a_bound_holds_for_an_agent_that_blocks_the_event_loop(subtests):
    for then in [answers, fails]:
        for options, kind, named in [
            ({"call_timeout": 0.3}, "timeout", "call_timeout"),
            ({"step_timeout": 0.3}, "timeout", "step_timeout"),
            ({"budget": Budget(max_seconds=0.3)}, "budget_exceeded", "max_seconds"),
        ]:
            with subtests.test(then=then, options=options):
                state = run(LoopBlockingExecutor(then), planner=AsyncFakePlanner(["one"]), **options)

                assert (state["failure"]["kind"], state["results"][0]["result"]) == (kind, "")
                assert f"{named} is 0.3" in state["failure"]["message"]


THREE = RetryPolicy(transport=TransportRetry(max_attempts=3, initial_seconds=0))


def run_three_times(executor, **options):
    return run(executor, plan=["one"], **{"retry_policy": THREE, **options})


def test_two_lost_connections_and_a_result_are_one_attempt(subtests):
    for executor in [FakeExecutor, AsyncFakeExecutor]:
        with subtests.test(executor=executor):
            fake = executor(ConnectionError("refused"), ConnectionError("reset"), "out")
            state = run_three_times(fake)

            assert (state["status"], state["attempts"], len(fake.calls)) == ("success", 0, 3)
            assert [(record["attempt"], record["result"]) for record in state["results"]] == [(1, "out")]


def test_an_agent_that_retries_by_itself_is_not_retried_once_more():
    llm = ScriptedChatModel(lambda messages: ConnectionError("refused"))
    retry = TransportRetry(max_attempts=2, initial_seconds=0)
    state = run_three_times(ExecutionAgent(llm, transport_retry=retry))

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
    state = run_three_times(executor)

    assert (state["status"], len(executor.calls)) == ("failed", 1)
    assert [call["result"] for call in state["results"][0]["tool_calls"]] == ["paid 3"]


def test_a_lost_connection_within_a_tool_loop_is_mended_without_a_second_payment():
    llm = ScriptedChatModel([call("pay", amount=3), ConnectionError("reset"), "paid"])
    retry = TransportRetry(max_attempts=2, initial_seconds=0)
    state = run_three_times(ExecutionAgent(llm, [pay], transport_retry=retry))

    assert state["status"] == "success"
    assert len(state["results"][0]["tool_calls"]) == 1
