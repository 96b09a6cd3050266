"""The compiled graph: its drawing, its use by itself, and savers without async methods."""

import sqlite3
import threading

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import interrupt

from orchestrator import LangGraphOrchestrator
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.planner import FakePlanner
from tests.fakes.runs import build


class Asking(FakeExecutor):
    """Asks a person before it goes on."""

    def execute_step(self, step_description, context=""):
        return f"{step_description}: {interrupt('may I?')}"


class AsyncAsking(FakeExecutor):
    async def execute_step(self, step_description, context=""):
        return f"{step_description}: {interrupt('may I?')}"


class AskingPlanner:
    async def generate_plan(self, task):
        return [interrupt("may I?")]


class AskingMonitor:
    async def evaluate(self, objective, result):
        return interrupt("may I?")


class AskingCompressor:
    async def invoke(self, text):
        return interrupt("may I?")


def test_an_interrupt_without_a_checkpointer_ends_the_run_as_failed(subtests):
    for agents, kind in [
        ({"executor": Asking()}, "executor_error"),
        ({"executor": AsyncAsking()}, "executor_error"),
        ({"planner": AskingPlanner()}, "planner_error"),
        ({"monitor": AskingMonitor()}, "monitor_error"),
        ({"compressor": AskingCompressor()}, "compressor_error"),
    ]:
        with subtests.test(agents=agents):
            fakes = {
                "planner": FakePlanner(["one", "two"]),
                "executor": FakeExecutor(),
                "monitor": FakeMonitor(),
            }
            state = LangGraphOrchestrator(**{**fakes, **agents}).run("x")

            assert (state["status"], state["failure"]["kind"]) == ("failed", kind)
            assert state["failure"]["error_type"] == "InterruptError"
            assert "called interrupt(), which needs a checkpointer; give" in state["failure"]["message"]


class WatchedSqliteSaver(SqliteSaver):
    """SqliteSaver overrides the async methods only to refuse them."""

    def __init__(self):
        super().__init__(sqlite3.connect(":memory:", check_same_thread=False))
        self.threads = set()

    def get_tuple(self, config):
        self.threads.add(threading.current_thread())
        return super().get_tuple(config)

    def put(self, *args):
        self.threads.add(threading.current_thread())
        return super().put(*args)


@pytest.fixture
def saver():
    return WatchedSqliteSaver()


async def test_a_plain_saver_does_not_block_the_event_loop(saver):
    await build(monitor=FakeMonitor(refuse(), accept()), checkpointer=saver).arun("x", "thread")

    assert threading.current_thread() not in saver.threads


async def test_a_thread_in_a_plain_saver_can_be_deleted_either_way(saver):
    orchestrator = build(monitor=FakeMonitor(refuse(), accept()), checkpointer=saver)
    for thread, delete in (("a", False), ("b", True)):
        await orchestrator.arun("x", thread)
        stored = orchestrator.graph.checkpointer
        await stored.adelete_thread(thread) if delete else stored.delete_thread(thread)

    assert list(saver.list(None)) == []


def test_a_saver_with_async_methods_is_used_as_it_is():
    memory = InMemorySaver()

    assert build(checkpointer=memory).graph.checkpointer is memory
