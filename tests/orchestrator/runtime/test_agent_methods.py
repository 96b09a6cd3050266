"""Which method of an agent is called: the one that its author wrote last."""

from __future__ import annotations

import asyncio
from functools import wraps
from types import SimpleNamespace

import pytest

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent
from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator
from tests.fakes.monitor import FakeMonitor, accept
from tests.fakes.planner import FakePlanner
from tests.fakes.runs import run


def never(messages):
    raise AssertionError("the model is not to be called")


NO_MODEL = ScriptedChatModel(never)


def test_a_subclass_that_overrides_the_coroutine_is_called_by_that_one():
    class Fixed(PlanningAgent):
        async def agenerate_plan(self, task):
            return ["fixed"]

    assert run(planner=Fixed(NO_MODEL))["plan"] == ["fixed"]


def test_each_role_honours_an_override_of_the_plain_method():
    class Executor(ExecutionAgent):
        def execute_step(self, step_description, context=""):
            return f"<{step_description}>"

    class Monitor(MonitoringAgent):
        def evaluate(self, objective, result):
            return accept("mine")

    state = run(Executor(NO_MODEL), Monitor(NO_MODEL))

    assert [(record["result"], record["verdict"]["feedback"]) for record in state["results"]] == [
        ("<one>", "mine"),
        ("<two>", "mine"),
    ]


def test_a_coroutine_behind_a_plain_decorator_is_awaited():
    def logged(method):
        @wraps(method)
        def wrapper(*args, **kwargs):
            return method(*args, **kwargs)

        return wrapper

    class Decorated:
        @logged
        async def execute_step(self, step_description, context=""):
            await asyncio.sleep(0)
            return "out"

    assert run(Decorated())["status"] == "success"


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), StopIteration()])
def test_an_agent_in_a_thread_cannot_end_the_process(error):
    def execute_step(step, context=""):
        raise error

    executor = SimpleNamespace(execute_step=execute_step)
    state = LangGraphOrchestrator(FakePlanner(), executor, FakeMonitor()).run("x")

    assert state["failure"]["kind"] == "executor_error"
    assert type(error).__name__ in state["failure"]["message"]
