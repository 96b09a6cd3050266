import asyncio
import contextvars
import signal
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from orchestrator import ConfigurationError, ResumeError
from orchestrator.events import Planned, RunStarted, StepExecuted, StepStarted
from tests.fakes.executor import AsyncFakeExecutor, FakeExecutor, WaitingExecutor
from tests.fakes.interruption import cut_off
from tests.fakes.planner import FakePlanner, steps
from tests.fakes.runs import build as build_run
from tests.fakes.runs import failure_kind, stored_state


def build(executor, plan=2, **options):
    return build_run(executor, plan=steps(plan), **options)


class SecondStepWaits(WaitingExecutor):
    async def execute_step(self, step_description, context=""):
        if step_description == "step 1":
            return "first"
        return await super().execute_step(step_description, context)


def run_until(orchestrator, started, end, *args):
    with ThreadPoolExecutor() as pool:
        running = pool.submit(orchestrator.run, "x", "thread")
        assert started.wait(20)
        end(*args)
        return running.result(20)


def test_cancel_from_another_thread_ends_the_run_with_its_results():
    executor = SecondStepWaits()
    orchestrator = build(executor)
    state = run_until(orchestrator, executor.started, orchestrator.cancel, "thread", "enough")

    told = {"kind": "cancelled", "message": "step 2: enough", "step_index": 1, "error_type": "CancelledError"}
    assert (state["status"], state["failure"]) == ("failed", told)
    records = [(record["result"], record["status"]) for record in state["results"]]
    assert records == [("first", "validated"), ("", "failed")]
    assert executor.stopped.is_set()


@pytest.mark.parametrize(
    ("kind", "results"),
    [(RunStarted, []), (Planned, ["failed"]), (StepStarted, ["failed"]), (StepExecuted, ["needs_review"])],
)
def test_a_hook_can_cancel_the_run_at_any_event(kind, results):
    """What was under way ends as cancelled; a cancelled judge leaves its result for review."""

    class Patient:
        async def execute_step(self, step_description, context=""):
            await asyncio.sleep(0.2)
            return "out"

    class PatientMonitor:
        async def evaluate(self, objective, result):
            await asyncio.sleep(0.2)
            return {"success": True, "feedback": "ok"}

    def cancel(event):
        if type(event) is kind:
            orchestrator.cancel(event.thread_id, "the hook has had enough")

    orchestrator = build_run(Patient(), PatientMonitor(), ["one"], hooks=[cancel])
    state = orchestrator.run("x")

    assert (state["status"], state["failure"]["kind"]) == ("failed", "cancelled")
    assert "the hook has had enough" in state["failure"]["message"]
    assert [record["status"] for record in state["results"]] == results


def stored(executor):
    saver = InMemorySaver()
    other = build(FakeExecutor(), checkpointer=saver)
    return build(executor, checkpointer=saver), partial(other.resume, "thread")


def check_resumed(state):
    assert (state["status"], state["failure"]) == ("success", None)
    assert [record["result"] for record in state["results"]] == ["first", "step 2 done"]


def test_interrupt_returns_the_state_so_far_and_the_run_can_be_resumed():
    executor = SecondStepWaits()
    orchestrator, resume = stored(executor)
    state = run_until(orchestrator, executor.started, orchestrator.interrupt, "thread")

    assert (state["status"], state["failure"], executor.stopped.is_set()) == ("executing", None, True)
    check_resumed(resume())


def test_ctrl_c_in_run_leaves_a_run_that_can_be_resumed():
    class Interrupting(WaitingExecutor):
        async def execute_step(self, step_description, context=""):
            if step_description == "step 1":
                return "first"
            signal.raise_signal(signal.SIGINT)
            return await super().execute_step(step_description, context)

    orchestrator, resume = stored(Interrupting())
    with pytest.raises(KeyboardInterrupt) as caught:
        orchestrator.run("x", "thread")

    assert caught.value.__notes__ == ["The run is stored; resume('thread') continues it."]
    check_resumed(resume())


async def test_an_interrupted_run_that_is_cancelled_has_ended_for_good():
    executor = SecondStepWaits()
    orchestrator, resume = stored(executor)
    running = asyncio.ensure_future(orchestrator.arun("x", "thread"))
    await cut_off(running, asyncio.to_thread(executor.started.wait, 20))
    await orchestrator.acancel("thread", "enough")
    kept = stored_state(orchestrator)

    assert running.cancelled()
    assert (kept["status"], failure_kind(kept)) == ("failed", "cancelled")
    assert kept["failure"]["message"] == "enough"
    assert [record["result"] for record in kept["results"]] == ["first"]
    with pytest.raises(ResumeError, match="has ended as 'failed'"):
        await asyncio.to_thread(resume)


WHO = contextvars.ContextVar("WHO", default="nobody")


@pytest.mark.parametrize("executor", [FakeExecutor, AsyncFakeExecutor])
async def test_many_runs_at_once_on_one_orchestrator_do_not_mix(executor):
    planner = FakePlanner(lambda task: [f"{task}-{number}" for number in range(3)])
    orchestrator = build_run(executor(), planner=planner)
    states = await asyncio.gather(*[orchestrator.arun(f"task{number}") for number in range(12)])

    for number, state in enumerate(states):
        assert state["task"] == f"task{number}"
        done = [f"task{number}-{step} done" for step in range(3)]
        assert [record["result"] for record in state["results"]] == done


async def test_plain_agents_see_the_callers_context_variables_also_inside_a_running_event_loop():
    WHO.set("me")
    orchestrator = build(FakeExecutor(lambda step, context: WHO.get()), 1)
    states = await orchestrator.arun("x"), orchestrator.run("x")

    assert [state["results"][0]["result"] for state in states] == ["me", "me"]


async def test_a_thread_that_is_running_is_not_run_a_second_time():
    executor = WaitingExecutor()
    orchestrator = build(executor)
    first = asyncio.ensure_future(orchestrator.arun("x", "thread"))
    await asyncio.to_thread(executor.started.wait, 20)

    with pytest.raises(ConfigurationError, match="thread 'thread' is already running"):
        await orchestrator.arun("y", "thread")
    orchestrator.cancel("thread")
    assert (await first)["failure"]["kind"] == "cancelled"
