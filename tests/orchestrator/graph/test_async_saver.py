"""Savers without async methods: a run with them is the same."""

from __future__ import annotations

import sqlite3
import threading

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from orchestrator import LangGraphOrchestrator
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.planner import FakePlanner

CONFIG = {"configurable": {"thread_id": "thread"}}


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


def build(saver, executor=None):
    agents = FakePlanner(["one", "two"]), executor or FakeExecutor(), FakeMonitor(refuse(), accept())
    return LangGraphOrchestrator(*agents, checkpointer=saver)


def test_a_run_with_a_plain_saver_stores_what_it_returns(saver):
    orchestrator = build(saver)
    state = orchestrator.run("x", "thread")

    assert state["status"] == "success"
    assert orchestrator.graph.get_state(CONFIG).values == state


async def test_a_plain_saver_does_not_block_the_event_loop(saver):
    await build(saver).arun("x", "thread")

    assert threading.current_thread() not in saver.threads


async def test_a_thread_in_a_plain_saver_can_be_deleted_either_way(saver):
    orchestrator = build(saver)
    for thread, delete in (("a", False), ("b", True)):
        await orchestrator.arun("x", thread)
        stored = orchestrator.graph.checkpointer
        await stored.adelete_thread(thread) if delete else stored.delete_thread(thread)

    assert list(saver.list(None)) == []


def test_a_saver_with_async_methods_is_used_as_it_is():
    memory = InMemorySaver()

    assert build(memory).graph.checkpointer is memory
