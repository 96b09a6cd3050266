import asyncio
import threading
import time

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from orchestrator import LangGraphOrchestrator
from orchestrator.events import RunInterrupted, RunResumed
from tests.fakes.executor import FakeExecutor
from tests.fakes.hook import RecordingHook
from tests.fakes.interruption import cut_off, interrupt_run
from tests.fakes.monitor import FakeMonitor, refuse
from tests.fakes.planner import FakePlanner, steps
from tests.fakes.runs import THREAD, failure_kind
from tests.fakes.runs import build as build_run
from tests.fakes.supervision import SpeakingExecutor

APPROVE = {"answer": "approve"}


def build(opened, plan=("one", "two"), executor=None, monitor=None, **options):
    return build_run(executor, monitor, plan, checkpointer=opened.saver, **options)


def asking(opened, **options):
    return build(opened, executor=SpeakingExecutor(), supervision="human", **options)


def test_a_run_without_a_store_can_be_interrupted_too():
    hook, free = RecordingHook(), threading.Event()

    def interrupt(step, context=""):
        orchestrator.interrupt("thread")
        free.wait(60)
        return "late"

    orchestrator = build_run(FakeExecutor(interrupt), plan=["one"], hooks=[hook])
    state = orchestrator.run("x", "thread")
    free.set()

    assert (state["status"], type(hook.events[-1])) == ("executing", RunInterrupted)


def test_a_run_that_waits_is_answered_after_the_store_was_opened_again(backend):
    with backend.open() as opened:
        state = asking(opened).run("x", "thread")
    questions = []
    while state["status"] == "executing":
        questions.append(state["question"]["step"])
        with backend.open() as opened:
            state = asking(opened).resume("thread", APPROVE)

    assert (state["status"], questions) == ("success", state["plan"])


class CutOff:
    """A planner and an executor whose process ends in the middle of a call, for all that a run sees."""

    def __init__(self, at):
        self.at = at
        self.calls = []
        self.reached = asyncio.Event()

    async def generate_plan(self, task):
        return await self._called(task, steps(3))

    async def execute_step(self, step_description, context=""):
        return await self._called(step_description, f"{step_description} done")

    async def _called(self, name, answer):
        self.calls.append(name)
        if name == self.at:
            self.reached.set()
            await asyncio.sleep(3600)
        return answer


def planned_by(agent, opened):
    return LangGraphOrchestrator(agent, agent, FakeMonitor(), checkpointer=opened.saver)


async def cut_off_at(opened, at, thread="thread"):
    agent = CutOff(at)
    await cut_off(planned_by(agent, opened).arun("x", thread, replace=True), agent.reached.wait())
    return agent.calls


@pytest.mark.parametrize("at", ["x", "step 1", "step 3"])
async def test_a_run_that_was_cut_off_goes_on_where_it_was(backend, at):
    with backend.open() as opened:
        before = await cut_off_at(opened, at)
    agent = CutOff("nowhere")
    with backend.open() as opened:
        state = await planned_by(agent, opened).aresume("thread")
        assert opened.history.show("thread").state == state

    assert (state["status"], before[:-1] + agent.calls) == ("success", ["x", "step 1", "step 2", "step 3"])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("line\n" * 200_000, marks=pytest.mark.soak),
        "line\n" * 4_000,
        "\x00 nul",
        "🌊 ñ \u202e \ufffe",
        "'; DROP TABLE checkpoints; --",
        "%s {} \\u0000",
    ],
    ids=["a million characters", "a long text", "NUL", "Unicode", "SQL", "format"],
)
def test_any_text_is_stored(backend, text):
    task = f"do {text}".replace("\x00", "")
    with backend.open() as opened:
        state = build(opened, [f"step {text}"], FakeExecutor(text)).run(task, "thread")
        assert opened.history.show("thread").state == state

    assert (state["status"], state["task"], state["results"][0]["result"]) == ("success", task, text)


def test_a_resumed_run_keeps_its_own_bound_on_retries(opened):
    interrupt_run(lambda executor: build(opened, ["one"], executor, max_retries=0), "x", "thread")
    resumed = build(opened, monitor=FakeMonitor(*[refuse()] * 3), max_retries=2)
    state = resumed.resume("thread")

    assert (failure_kind(state), len(state["results"])) == ("attempts_exhausted", 1)


class SlowSaver(InMemorySaver):
    def put(self, *args):
        time.sleep(0.05)
        return super().put(*args)


def test_a_step_begins_after_the_end_of_the_step_before_is_stored():
    saver, stored = SlowSaver(), []

    def look(step, context=""):
        checkpoint = saver.get_tuple(THREAD).checkpoint
        stored.append(checkpoint["channel_values"]["current_step_index"])
        return "done"

    build_run(FakeExecutor(look, look, look), plan=steps(3), checkpointer=saver).run("x", "thread")

    assert stored == [0, 1, 2]


# Threads on which runs were begun, gone back in or cut off by LangGraph's own means


def test_a_run_that_one_went_back_to_has_its_own_plan(opened):
    first = build(opened, steps(3))
    first.run("x", "thread")
    history = first.graph.get_state_history(THREAD)
    [begun, *_] = [one.config for one in history if one.next == ("executor_node",)]
    build(opened, steps(1)).run("y", "thread", replace=True)
    asyncio.run(first.graph.ainvoke(None, begun))
    shown = opened.history.show("thread")

    assert (shown.summary.status, shown.summary.steps_done, shown.summary.steps_planned) == ("success", 3, 3)
    assert (shown.state["task"], shown.state["plan"]) == ("x", steps(3))


@pytest.mark.parametrize("before", [True, False], ids=["after another run", "on a new thread"])
async def test_a_run_that_was_given_nothing_but_its_task_is_not_one_that_has_ended(opened, before):
    if before:
        await build(opened, steps(1)).arun("first", "thread")
    agent = CutOff("second")
    await cut_off(planned_by(agent, opened).graph.ainvoke({"task": "second"}, THREAD), agent.reached.wait())
    [listed] = opened.history.runs()
    ended = await build(opened, steps(2)).aresume("thread")

    assert (listed.status, listed.task, listed.steps_done) == ("interrupted", "second", 0)
    assert (ended["status"], ended["task"], ended["plan"]) == ("success", "second", steps(2))


# A run that was cut off as it began


class KeepsTheBeginning(InMemorySaver):
    lost = False

    async def aput_writes(self, config, writes, task_id, task_path=""):
        if self.lost:
            raise OSError("the disk is gone")
        await super().aput_writes(config, writes, task_id, task_path)


@pytest.mark.parametrize("is_used", [False, True], ids=["new thread", "thread of an earlier run"])
def test_a_run_of_which_its_input_alone_was_kept_goes_on_with_its_task(is_used):
    saver, hook, planner = KeepsTheBeginning(), RecordingHook(), FakePlanner(lambda task: [f"do {task}"])
    orchestrator = build_run(planner=planner, checkpointer=saver, hooks=[hook])
    if is_used:
        orchestrator.run("an earlier task", "thread")
    saver.lost = True
    with pytest.raises(OSError, match="the disk is gone"):
        orchestrator.run("the task", "thread", replace=True)
    saver.lost = False
    state = orchestrator.resume("thread")

    (before,) = (event.state for event in hook.events if isinstance(event, RunResumed))
    assert (before["task"], before["status"], before["results"]) == ("the task", "planning", [])
    assert (state["status"], state["results"][0]["result"]) == ("success", "do the task done")
