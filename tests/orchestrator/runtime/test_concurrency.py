"""Runs beside each other, inside running event loops, and plain agents off the loop."""

from __future__ import annotations

import asyncio
import contextvars
import time

import pytest

from orchestrator import ConfigurationError, LangGraphOrchestrator
from tests.fakes.executor import FakeExecutor, WaitingExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner

WHO = contextvars.ContextVar("WHO", default="nobody")


class Echo:
    """Its output tells the step and the context that it was given."""

    async def execute_step(self, step_description, context=""):
        await asyncio.sleep(0.001)
        return f"<{step_description}>"


class PlainEcho:
    def execute_step(self, step_description, context=""):
        time.sleep(0.001)
        return f"<{step_description}>"


@pytest.mark.parametrize("executor", [Echo, PlainEcho])
async def test_many_runs_at_once_on_one_orchestrator_do_not_mix(executor):
    planner = FakePlanner(lambda task: [f"{task}-{number}" for number in range(3)])
    orchestrator = LangGraphOrchestrator(planner, executor(), FakeMonitor())
    states = await asyncio.gather(*[orchestrator.arun(f"task{number}") for number in range(30)])

    for number, state in enumerate(states):
        assert state["task"] == f"task{number}"
        assert [record["result"] for record in state["results"]] == [
            f"<task{number}-{step}>" for step in range(3)
        ]


async def test_plain_agents_see_the_callers_context_variables_also_inside_a_running_event_loop():
    WHO.set("me")
    executor = FakeExecutor(lambda step, context: WHO.get())
    orchestrator = LangGraphOrchestrator(FakePlanner(["one"]), executor, FakeMonitor())
    states = await orchestrator.arun("x"), orchestrator.run("x")

    assert [state["results"][0]["result"] for state in states] == ["me", "me"]


async def test_a_thread_that_is_running_is_not_run_a_second_time():
    executor = WaitingExecutor()
    orchestrator = LangGraphOrchestrator(FakePlanner(), executor, FakeMonitor())
    first = asyncio.ensure_future(orchestrator.arun("x", "thread"))
    await asyncio.sleep(0.2)

    with pytest.raises(ConfigurationError, match="thread 'thread' is already running"):
        await orchestrator.arun("y", "thread")
    orchestrator.cancel("thread")
    assert (await first)["failure"]["kind"] == "cancelled"
