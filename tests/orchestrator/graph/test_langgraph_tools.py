import sqlite3
import threading
from collections.abc import Iterator
from uuid import UUID

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from agents import ExecutionAgent, MonitoringAgent
from agents.testing import ScriptedChatModel
from evaluation.runner import NODES
from orchestrator import ConfigurationError
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.runs import THREAD, build, call, price_of


def build_approving_agent() -> MonitoringAgent:
    return MonitoringAgent(ScriptedChatModel(lambda _: '{"success": true, "feedback": "good"}'))


class Recorder(BaseCallbackHandler):
    run_inline = True

    def __init__(self) -> None:
        self.runs: dict[UUID, tuple[str, UUID | None]] = {}
        self.tags: list[list[str]] = []
        self.metadata: list[dict[str, object]] = []

    def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, name=None, **details) -> None:
        self._record(run_id, parent_run_id, name, details)

    def on_chat_model_start(self, serialized, messages, *, run_id, parent_run_id=None, **details) -> None:
        self._record(run_id, parent_run_id, "model", details)

    def _record(self, run_id, parent, name, details) -> None:
        self.runs[run_id] = name, parent
        self.tags.append(details.get("tags") or [])
        self.metadata.append(details.get("metadata") or {})

    def list_paths(self) -> list[list[str]]:
        return [list(self._walk_up(run_id))[::-1] for run_id in self.runs]

    def _walk_up(self, run_id: UUID | None) -> Iterator[str]:
        while run_id is not None:
            name, run_id = self.runs[run_id]
            yield name


def test_the_evaluation_is_a_subgraph_of_the_monitor():
    subgraphs = dict(build(synthesis=True).graph.get_subgraphs(recurse=True))

    assert set(NODES) <= set(subgraphs["monitor_node"].nodes)


def test_the_graph_is_invoked_and_streams_to_blocking_code():
    state = build().graph.invoke({"task": "x"})
    updates = build().graph.stream({"task": "x"}, stream_mode="updates", subgraphs=True)
    names = {name for _, update in updates for name in update}

    assert (state["status"], len(state["results"])) == ("success", 2)
    assert {"planner_node", "monitor_node", "prepare_evaluation", "finalize_report"} <= names


def test_the_agent_of_the_executor_is_a_subgraph_whose_state_the_run_keeps():
    executor = ExecutionAgent(ScriptedChatModel([call("price_of", title="Emma"), "12.5"]), [price_of])
    graph = build(executor, plan=["one"], checkpointer=InMemorySaver()).graph
    drawn = graph.get_graph(xray=True).nodes
    streamed = graph.stream({"task": "x"}, THREAD, stream_mode="updates", subgraphs=True)
    updates = {
        (*(place.partition(":")[0] for place in path), name) for path, each in streamed for name in each
    }
    stored = graph.checkpointer.list(THREAD)
    places = [each.config["configurable"]["checkpoint_ns"].partition(":")[0] for each in stored]

    assert {"model", "tools"} <= set(dict(graph.get_subgraphs())["executor_node"].nodes)
    assert {"executor_node:model", "executor_node:tools"} <= set(drawn)
    assert {("executor_node", "model"), ("executor_node", "tools")} <= updates
    assert places.count("executor_node") > 3


def test_an_evaluation_keeps_no_checkpoints_of_its_own():
    orchestrator = build(checkpointer=InMemorySaver())
    recorder = Recorder()
    orchestrator.run("x", "thread", config={"callbacks": [recorder]})
    stored = orchestrator.graph.checkpointer.list(None)

    assert "prepare_evaluation" in {name for name, _ in recorder.runs.values()}
    assert {checkpoint.config["configurable"]["checkpoint_ns"] for checkpoint in stored} == {""}


def test_the_call_of_the_judge_hangs_under_its_node_in_a_trace():
    recorder = Recorder()
    build(monitor=build_approving_agent(), plan=["one"]).run("x", config={"callbacks": [recorder]})

    [path] = [path for path in recorder.list_paths() if path[-1] == "model"]
    assert path[:4] == ["plan_execute_monitor", "monitor_node", "evaluate step 1", "run_rubric_judge"]


def test_a_trace_says_which_execution_a_model_call_belongs_to():
    recorder = Recorder()
    executor = ExecutionAgent(ScriptedChatModel(["one", "two"]))
    monitor = FakeMonitor(refuse(), accept())
    build(executor, monitor, plan=["step"]).run("x", config={"callbacks": [recorder]})

    runs = zip(recorder.runs.values(), recorder.metadata, strict=True)
    calls = [(found["step_index"], found["attempt"]) for (name, _), found in runs if name == "model"]
    assert calls == [(0, 1), (0, 2)]


STARTS = {
    "run": lambda orchestrator, config: orchestrator.run("x", "thread", config=config),
    "stream": lambda orchestrator, config: list(orchestrator.stream("x", "thread", config=config)),
    "resume": lambda orchestrator, config: orchestrator.resume("thread", config=config),
    "fork": lambda orchestrator, config: orchestrator.fork("thread", 0, config=config),
}


def test_the_config_of_the_caller_reaches_the_model_calls(subtests):
    for name, start in STARTS.items():
        with subtests.test(start=name):
            orchestrator = build(monitor=build_approving_agent(), checkpointer=InMemorySaver())
            if name in {"resume", "fork"}:
                orchestrator.run("x", "thread", config={"recursion_limit": 3})
            recorder = Recorder()
            start(orchestrator, {"callbacks": [recorder], "tags": ["nightly"], "metadata": {"team": "a"}})

            assert "model" in {name for name, _ in recorder.runs.values()}
            assert all("nightly" in tags for tags in recorder.tags)
            assert all(metadata["team"] == "a" for metadata in recorder.metadata)


class ReadingExecutor(FakeExecutor):
    def execute_step(self, step_description: str, context: str = "") -> str:
        return str(read_user.invoke({}))


@tool
def read_user(config: RunnableConfig) -> str:
    """Return the user that the config names."""
    return str(config["configurable"]["user"])


def test_tools_read_values_of_the_callers_config():
    orchestrator = build(ReadingExecutor(), plan=["one"])
    state = orchestrator.run("x", config={"configurable": {"user": "anna"}})

    assert state["results"][0]["result"] == "anna"


def test_a_config_that_contradicts_the_call_is_refused(subtests):
    for thread, config, problem in [
        (None, {"configurable": {"checkpoint_id": "1"}}, "names checkpoint_id; use fork"),
        (None, {"configurable": {"thread_id": 7}}, "thread_id is 7"),
    ]:
        with subtests.test(thread=thread, config=config), pytest.raises(ConfigurationError, match=problem):
            build().run("x", thread, config=config)


# Savers without async methods


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
