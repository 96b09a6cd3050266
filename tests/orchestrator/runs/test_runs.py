"""What holds for runs in every store."""

import asyncio
import time

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from orchestrator import LangGraphOrchestrator
from tests.fakes.executor import FakeExecutor
from tests.fakes.interruption import interrupt_run
from tests.fakes.monitor import FakeMonitor, refuse
from tests.fakes.planner import steps
from tests.fakes.runs import THREAD, failure_kind
from tests.fakes.runs import build as build_run
from tests.fakes.supervision import SpeakingExecutor

APPROVE = {"answer": "approve"}


def build(opened, plan=("one", "two"), executor=None, monitor=None, **options):
    return build_run(executor, monitor, plan, checkpointer=opened.saver, **options)


def asking(opened, **options):
    return build(opened, executor=SpeakingExecutor(), supervision="human", **options)


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


async def cut_off(opened, at, thread="thread"):
    """Run a task until a call at which it is cut off; the calls."""
    agent = CutOff(at)
    orchestrator = LangGraphOrchestrator(agent, agent, FakeMonitor(), checkpointer=opened.saver)
    running = asyncio.ensure_future(orchestrator.arun("x", thread, replace=True))
    await asyncio.wait_for(agent.reached.wait(), 20)
    running.cancel()
    await asyncio.wait([running])
    return agent.calls


@pytest.mark.parametrize("at", ["x", "step 1", "step 3"])
async def test_a_run_that_was_cut_off_goes_on_where_it_was(backend, at):
    with backend.open() as opened:
        before = await cut_off(opened, at)
    agent = CutOff("nowhere")
    with backend.open() as opened:
        orchestrator = LangGraphOrchestrator(agent, agent, FakeMonitor(), checkpointer=opened.saver)
        state = await orchestrator.aresume("thread")
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
