"""Resuming a run that waits for a person or was cut off."""

from __future__ import annotations

import asyncio

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from orchestrator import LangGraphOrchestrator, ResumeError, SupervisionPolicy
from orchestrator.events import RunFinished, RunResumed
from tests.fakes.monitor import FakeMonitor
from tests.fakes.supervision import (
    SpeakingExecutor,
)
from tests.orchestrator.supervision.supervised_runs import (
    APPROVE,
    build_human,
    start_human,
    statuses,
)


def test_resume_without_an_answer_gives_the_waiting_run_back():
    executor = SpeakingExecutor()
    orchestrator, before = start_human(executor)

    assert orchestrator.resume("thread") == before
    assert len(executor.calls) == 1


def test_a_thread_that_is_not_there_cannot_be_resumed(subtests):
    for give in [None, APPROVE]:
        with (
            subtests.test(give=give),
            pytest.raises(ResumeError, match="thread 'other' is not in this store"),
        ):
            build_human().resume("other", give)


def test_a_waiting_run_cannot_be_resumed_where_nobody_can_be_asked():
    saver = InMemorySaver()
    _, before = start_human(checkpointer=saver)
    nobody = SupervisionPolicy(human=False)
    other = build_human(supervision="none", supervision_policy=nobody, checkpointer=saver)
    with pytest.raises(ResumeError, match="resume it with the supervision, the retry_policy"):
        other.resume("thread", APPROVE)

    assert before["status"] == "executing"


def test_the_events_of_a_resumed_run_begin_with_what_it_goes_on_from():
    orchestrator, before = start_human(plan=["one"])
    events = list(orchestrator.stream_resumed("thread", APPROVE))

    assert isinstance(events[0], RunResumed)
    assert events[0].state == before
    assert isinstance(events[-1], RunFinished)
    assert events[-1].state["status"] == "success"


class CutOff:
    """A planner and an executor; the process ends in the middle of their first call, as far as a run sees."""

    def __init__(self, at):
        self.at = at
        self.calls: list[str] = []
        self.reached = asyncio.Event()

    async def generate_plan(self, task):
        return await self._called(task, ["one", "two"])

    async def execute_step(self, step_description, context=""):
        return await self._called(step_description, f"{step_description} done")

    async def _called(self, name, answer):
        self.calls.append(name)
        if name == self.at and self.calls.count(name) == 1:
            self.reached.set()
            await asyncio.sleep(3600)
        return answer


async def cut_off(at):
    """The agent and the orchestrator of a run that was cut off in this call."""
    agent = CutOff(at)
    orchestrator = LangGraphOrchestrator(agent, agent, FakeMonitor(), checkpointer=InMemorySaver())
    running = asyncio.ensure_future(orchestrator.arun("x", "thread"))
    await asyncio.wait_for(agent.reached.wait(), 20)
    running.cancel()
    await asyncio.wait([running])
    return agent, orchestrator


async def test_a_run_that_was_cut_off_goes_on_where_it_was(subtests):
    for at, calls in [
        ("x", ["x", "x", "one", "two"]),
        ("one", ["x", "one", "one", "two"]),
        ("two", ["x", "one", "two", "two"]),
    ]:
        with subtests.test(at=at):
            agent, orchestrator = await cut_off(at)
            state = await orchestrator.aresume("thread")

            assert (state["status"], statuses(state), agent.calls) == ("success", ["validated"] * 2, calls)
