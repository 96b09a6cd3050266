"""Threads on which runs were begun, gone back in or cut off by LangGraph's own means."""

import asyncio

import pytest

from orchestrator import LangGraphOrchestrator
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import steps
from tests.orchestrator.runs.test_runs import CutOff, build

CONFIG = {"configurable": {"thread_id": "thread"}}


def test_a_run_that_one_went_back_to_has_its_own_plan(opened):
    first = build(opened, steps(3))
    first.run("x", "thread")
    [begun, *_] = [
        one.config for one in first.graph.get_state_history(CONFIG) if one.next == ("executor_node",)
    ]
    build(opened, steps(1)).run("y", "thread", replace=True)
    asyncio.run(first.graph.ainvoke(None, begun))
    shown = opened.history.show("thread")

    assert (shown.summary.status, shown.summary.steps_done, shown.summary.steps_planned) == ("success", 3, 3)
    assert (shown.state["task"], shown.state["plan"]) == ("x", steps(3))


def planned_by(agent, opened):
    return LangGraphOrchestrator(agent, agent, FakeMonitor(), checkpointer=opened.saver)


@pytest.mark.parametrize("before", [True, False], ids=["after another run", "on a new thread"])
async def test_a_run_that_was_given_nothing_but_its_task_is_not_one_that_has_ended(opened, before):
    if before:
        await build(opened, steps(1)).arun("first", "thread")
    agent = CutOff("second")
    running = asyncio.ensure_future(planned_by(agent, opened).graph.ainvoke({"task": "second"}, CONFIG))
    await asyncio.wait_for(agent.reached.wait(), 20)
    running.cancel()
    await asyncio.wait([running])
    [listed] = opened.history.runs()
    ended = await build(opened, steps(2)).aresume("thread")

    assert (listed.status, listed.task, listed.steps_done) == ("interrupted", "second", 0)
    assert (ended["status"], ended["task"], ended["plan"]) == ("success", "second", steps(2))
