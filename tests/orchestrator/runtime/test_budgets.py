from __future__ import annotations

import contextlib
import time

from langchain_core.tools import tool

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation import Price
from orchestrator import Budget
from tests.fakes.executor import AsyncModelExecutor, FakeExecutor, ModelExecutor, WaitingExecutor
from tests.fakes.planner import steps
from tests.fakes.runs import call
from tests.fakes.runs import run as run_agents

PRICES = {"ScriptedChatModel": Price(input_usd=1e6, output_usd=2e6)}
"""A dollar for a token sent, two for a token received."""
OTHER_PRICES = {"another": Price(input_usd=1, output_usd=1)}


def model(usage=(3, 2)):
    return ScriptedChatModel(lambda messages: "out", usage=usage)


def run(executor, budget, plan=3):
    return run_agents(executor, plan=steps(plan), budget=budget)


def ended_by(state, name):
    return (state["status"], state["failure"]["kind"], name in state["failure"]["message"])


OUT_OF_BUDGET = ("failed", "budget_exceeded", True)


def loop(llm):
    return ExecutionAgent(llm, [look])


def test_max_model_calls_refuses_the_call_after_the_last_one(subtests):
    again = call("look", what="sea")
    for kind, said in [(ModelExecutor, "out"), (AsyncModelExecutor, "out"), (Stubborn, "out"), (loop, again)]:
        with subtests.test(kind=kind):
            llm = ScriptedChatModel(lambda messages, said=said: said, usage=(3, 2))
            state = run(kind(llm), Budget(max_model_calls=3), plan=9)

            assert ended_by(state, "max_model_calls is 3") == OUT_OF_BUDGET
            assert (len(llm.prompts), state["usage"]["model_calls"]) == (3, 3)


def test_a_budget_that_is_just_enough_ends_nothing(subtests):
    for budget in [
        Budget(max_model_calls=3),
        Budget(max_total_tokens=15),
        Budget(max_cost_usd=21, prices=PRICES),
        Budget(max_seconds=600),
    ]:
        with subtests.test(budget=budget):
            assert run(ModelExecutor(model((3, 2))), budget)["status"] == "success"


@tool
def look(what: str) -> str:
    """Look something up."""
    return f"seen {what}"


class Stubborn(ModelExecutor):
    """Catches whatever a model call raises, and asks on."""

    def execute_step(self, step_description, context=""):
        for _ in range(20):
            with contextlib.suppress(Exception):
                self.llm.invoke(step_description)
        return "whatever"


class SlowPrices(dict):
    def __contains__(self, name):
        time.sleep(0.05)
        return super().__contains__(name)


def test_max_model_calls_are_not_exceeded_by_parallel_calls():
    class Executor(FakeExecutor):
        def execute_step(self, step_description, context=""):
            llm.invoke("first")
            replies = llm.batch(["more"] * 8, config={"max_concurrency": 8}, return_exceptions=True)
            return f"{len(replies)} replies"

    llm = model()
    run(Executor(), Budget(max_model_calls=3, prices=SlowPrices(PRICES)), plan=1)

    assert len(llm.prompts) <= 3


def test_a_run_ends_once_its_tokens_or_its_money_are_used_or_unknown(subtests):
    for usage, budget, calls, reason in [
        ((6, 4), Budget(max_total_tokens=20), 2, "max_total_tokens is 20 and 20 were used"),
        ((6, 4), Budget(max_total_tokens=29), 3, "max_total_tokens is 29 and 30 were used"),
        (None, Budget(max_total_tokens=100), 1, "max_total_tokens is 100 and cannot be checked"),
        ((3, 2), Budget(max_cost_usd=13, prices=PRICES), 2, "max_cost_usd is 13 and 14.0 were used"),
        ((3, 2), Budget(max_cost_usd=100, prices=OTHER_PRICES), 1, "max_cost_usd is 100 and cannot be"),
    ]:
        with subtests.test(usage=usage, budget=budget):
            llm = model(usage)
            state = run(ModelExecutor(llm), budget)

            assert ended_by(state, reason) == OUT_OF_BUDGET
            assert len(llm.prompts) == state["usage"]["model_calls"] == calls


def test_max_seconds_ends_a_run_that_waits():
    executor = WaitingExecutor()
    state = run(executor, Budget(max_seconds=0.3))

    assert ended_by(state, "max_seconds is 0.3 and has passed") == OUT_OF_BUDGET
    assert executor.stopped.is_set()
