import asyncio
import multiprocessing
import os
import signal
import threading
from pathlib import Path

import pytest
from langchain.agents import create_agent
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import interrupt

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from orchestrator import ResumeError, SupervisionPolicy
from orchestrator.persistence import open_store
from tests.fakes.acting import list_effects
from tests.fakes.interruption import cut_off
from tests.fakes.runs import build, call, failure_kind

PROCESSES = multiprocessing.get_context("spawn")
APPROVE = {"answer": "approve", "answered_by": "Ada"}


def asked(state):
    return [(call["name"], call.get("outcome")) for call in state["question"]["tool_calls"]]


class Desk:
    """An executor that refunds and sends a mail, in the middle of which its process is killed at first.

    Args:
        folder: Has the log of what was done, and is where the death is noted.
        kind: "tools", or "agent" for an agent that calls them.
    """

    def __init__(self, folder, kind):
        self.folder = Path(folder)
        self.tools = [StructuredTool.from_function(each) for each in (self.refund, self.send)]
        self.execute_step = getattr(self, f"_{kind}")

    def note(self, done):
        with (self.folder / "log").open("a") as log:
            log.write(f"{done} ")

    def refund(self, order: str) -> str:
        """Refund an order."""
        self.note("refund")
        return f"refunded {order}"

    def send(self, order: str) -> str:
        """Send a mail about an order."""
        self.note("send")
        if not (death := self.folder / "death").exists():
            death.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return "sent"

    def _tools(self, step_description, context=""):
        for tool in self.tools:
            tool.invoke({"order": "7"})
        return "done"

    def _agent(self, step_description, context=""):
        replies = [call("refund", order="7"), call("send", order="7"), "done"]
        model = ScriptedChatModel(lambda messages: replies[sum(m.type == "tool" for m in messages)])
        agent, asked = create_agent(model, self.tools), {"messages": [("user", "x")]}
        # Without it, LangGraph may still write the answer of one call while the next one is made.
        return agent.invoke(asked, durability="sync")["messages"][-1].text


def run_and_die(where, folder, kind):
    with open_store(where) as store:
        build(Desk(folder, kind), plan=["one"], checkpointer=store).run("x", "thread")


@pytest.mark.parametrize(
    ("kind", "again"), [("tools", "refund send"), pytest.param("agent", "send", marks=pytest.mark.thorough)]
)
def test_a_step_whose_process_was_killed_in_a_tool_is_executed_again_only_if_a_person_says_so(
    backend, request, tmp_path, kind, again
):
    where = (
        request.getfixturevalue("postgres_url") if backend.kind == "postgres" else tmp_path / "runs.sqlite"
    )
    child = PROCESSES.Process(target=run_and_die, args=(where, tmp_path, kind))
    child.start()
    child.join(120)
    assert child.exitcode == -signal.SIGKILL

    known = [(0, "refund", "acted"), (0, "send", "unknown")]
    with backend.open() as store:
        orchestrator = build(Desk(tmp_path, kind), plan=["one"], checkpointer=store)
        assert list_effects(store.history.show("thread").state) == known
        waiting = orchestrator.resume("thread")
        assert (waiting["question"]["kind"], asked(waiting)) == ("tool", [each[1:] for each in known])
        assert (list_effects(waiting), (tmp_path / "log").read_text()) == (known, "refund send ")

        state = orchestrator.resume("thread", APPROVE)
    [record] = state["results"]
    assert (state["status"], record["attempt"]) == ("success", 1)
    assert (tmp_path / "log").read_text() == f"refund send {again} "
    assert list_effects(state)[:2] == known
    assert [each[1:] for each in list_effects(state)[2:]] == [(name, "acted") for name in again.split()]
    assert state["effects"][1]["approval"]["answered_by"] == "Ada"


class Office:
    """An executor that calls tools; the run is cut off while one of them hangs.

    Args:
        names: The tools in their order.
        hang: The tool that does not end.

    Attributes:
        done: The calls that were begun.
        hangs: How often it hangs.
    """

    def __init__(self, *names, hang="", hangs=1):
        self.names, self.hang, self.hangs = names, hang, hangs
        self.done: list[str] = []
        self.reached = asyncio.Semaphore(0)

    async def execute_step(self, step_description, context=""):
        for name in self.names:
            tool = StructuredTool.from_function(coroutine=self.act, name=name, description="Work.")
            await tool.ainvoke({"name": name, "step": step_description})
        return f"{step_description} done"

    async def act(self, name: str, step: str) -> str:
        self.done.append(f"{name} {step}")
        if name == self.hang and self.hangs:
            self.hangs -= 1
            self.reached.release()
            await asyncio.sleep(3600)
        if name == "ask_person":
            return f"heard {interrupt('Which one?')}"
        return "done"


async def interrupted(office, store=None, thread="thread", **options):
    options = {"plan": ["one"], "checkpointer": store or InMemorySaver(), **options}
    orchestrator = build(office, **options)
    await cut_off(orchestrator.arun("x", thread), office.reached.acquire())
    return orchestrator


async def test_an_agent_does_not_go_on_with_the_calls_of_another_kind_of_executor():
    saver = InMemorySaver()
    await interrupted(Office("send", hang="send"), saver)
    other = build(ExecutionAgent(ScriptedChatModel(["done"])), plan=["one"], checkpointer=saver)

    with pytest.raises(ResumeError, match="step 1 was interrupted after its executor called send, and this"):
        await other.aresume("thread")


async def test_a_second_start_that_is_cut_off_is_asked_about_again():
    office = Office("refund", "send", hang="send", hangs=2)
    orchestrator = await interrupted(office)
    first = (await orchestrator.aresume("thread"))["question"]
    await cut_off(orchestrator.aresume("thread", APPROVE), office.reached.acquire())
    second = (await orchestrator.aresume("thread"))["question"]
    state = await orchestrator.aresume("thread", APPROVE)

    assert first["id"] != second["id"]
    assert [call["name"] for call in second["tool_calls"]] == ["refund", "send"] * 2
    assert (state["status"], office.done) == ("success", ["refund one", "send one"] * 3)
    outcomes = [outcome for _, name, outcome in list_effects(state) if name == "send"]
    assert outcomes == ["unknown", "unknown", "acted"]


async def test_the_result_of_the_step_can_be_stated_or_its_second_start_denied(subtests):
    for word, end, result, known in [
        ("correct", None, "I have sent it.", "stated"),
        ("halt", "denied", "", "unknown"),
    ]:
        with subtests.test(word=word):
            office = Office("send", hang="send")
            orchestrator = await interrupted(office)
            await orchestrator.aresume("thread")
            answer = {"answer": word, "text": "I have sent it.", "answered_by": "Ada"}
            state = await orchestrator.aresume("thread", answer)

            assert (failure_kind(state), state["results"][0]["result"]) == (end, result)
            assert (office.done, list_effects(state)) == (["send one"], [(0, "send", known)])


async def test_where_nobody_can_be_asked_the_step_is_not_executed_again():
    office = Office("send", hang="send")
    orchestrator = await interrupted(office, supervision_policy=SupervisionPolicy(human=False))
    state = await orchestrator.aresume("thread")

    assert (failure_kind(state), office.done) == ("executor_error", ["send one"])
    assert "may have acted (send), and nobody can be asked" in state["failure"]["message"]
    assert list_effects(state) == [(0, "send", "unknown")]


@pytest.mark.parametrize("names", [("get_order", "find_page"), ("run_report", "find_page")])
async def test_a_step_with_an_open_call_that_reads_is_executed_again_without_a_question(names):
    office = Office(*names, hang="find_page")
    orchestrator = await interrupted(office)
    state = await orchestrator.aresume("thread")

    assert (state["status"], state["effects"]) == ("success", [])
    assert office.done == [f"{name} one" for name in names] * 2
    calls = [(call["name"], call["error"]) for call in state["results"][0]["tool_calls"]]
    assert calls == [(names[0], None), (names[1], "the call did not end"), *((name, None) for name in names)]


async def test_an_open_tool_that_did_not_end_is_asked_about_whatever_the_options():
    orchestrator = await interrupted(Office("run_report", hang="run_report"), acting_tools=[])
    state = await orchestrator.aresume("thread")

    assert asked(state) == [("run_report", None)]
    assert (await orchestrator.aresume("thread", APPROVE))["effects"] == []


async def test_calls_that_a_stopped_run_left_behind_are_known():
    started, free, ended, done = threading.Event(), threading.Event(), threading.Event(), []

    class Thread:
        def execute_step(self, step_description, context=""):
            for name in ("send", "post"):
                StructuredTool.from_function(self.act, name=name, description="Act.").invoke({"to": name})
            ended.set()
            return "done"

        def act(self, to: str) -> str:
            done.append(to)
            started.set()
            free.wait(30)
            return "done"

    orchestrator = build(Thread(), plan=["one"], checkpointer=InMemorySaver())
    await cut_off(orchestrator.arun("x", "thread"), asyncio.to_thread(started.wait, 30))
    free.set()
    await asyncio.to_thread(ended.wait, 30)

    assert done == ["send", "post"]
    assert asked(await orchestrator.aresume("thread")) == [("send", "acted"), ("post", "acted")]


async def test_the_question_of_a_tool_is_no_crash():
    office = Office("send", "ask_person", "post")
    orchestrator = build(office, plan=["one"], checkpointer=InMemorySaver())
    waiting = await orchestrator.arun("x", "thread")
    state = await orchestrator.aresume("thread", "this one")

    assert (waiting["question"]["kind"], list_effects(waiting)) == ("agent", [(0, "send", "acted")])
    assert state["status"] == "success"
    # The executor begins again, and each start of the call is an effect.
    assert list_effects(state) == [(0, "send", "acted"), (0, "send", "acted"), (0, "post", "acted")]


async def test_a_crash_after_the_answer_to_a_tool_is_asked_about():
    office = Office("ask_person", "send", hang="send")
    orchestrator = build(office, plan=["one"], checkpointer=InMemorySaver())
    await orchestrator.arun("x", "thread")
    await cut_off(orchestrator.aresume("thread", "this one"), office.reached.acquire())
    waiting = await orchestrator.aresume("thread")
    assert asked(waiting) == [("send", "unknown")]

    state = await orchestrator.aresume("thread", APPROVE)
    while state["question"] is not None:  # the tool asks again
        state = await orchestrator.aresume("thread", "this one")
    assert (state["status"], office.done[-1]) == ("success", "send one")


async def test_cancel_and_fork_know_the_calls(opened):
    orchestrator = await interrupted(Office("refund", "send", hang="send"), opened.saver)
    forked = await asyncio.to_thread(orchestrator.fork, "thread", 0, "new")
    await orchestrator.acancel("thread", "enough")
    state = (await asyncio.to_thread(opened.history.show, "thread")).state

    assert [each for each in forked["warnings"] if "was copied" in each] == [
        "the run that was copied called refund in step 1 (acted); this run may call it again",
        "the run that was copied called send in step 1 (unknown); this run may call it again",
    ]
    assert failure_kind(state) == "cancelled"
    assert list_effects(state) == [(0, "refund", "acted"), (0, "send", "unknown")]


class Blocking:
    async def execute_step(self, step_description, context=""):
        def send(to: str) -> str:
            """Send."""
            return "sent"

        return StructuredTool.from_function(send).invoke({"to": "Ada"})


class AsyncMemorySaver(InMemorySaver):
    put_writes = BaseCheckpointSaver.put_writes

    async def aput_writes(self, config, writes, task_id, task_path=""):
        InMemorySaver.put_writes(self, config, writes, task_id, task_path)


async def test_a_call_that_an_async_saver_cannot_store_is_not_made(tmp_path, subtests):
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "runs.sqlite")) as saver:
        state = await build(Blocking(), plan=["one"], checkpointer=saver).arun("x", "thread")
        assert "blocks the event loop of the AsyncSqliteSaver" in state["failure"]["message"]

        orchestrator = await interrupted(Office("send", hang="send"), saver, thread="other")
        assert asked(await orchestrator.aresume("other")) == [("send", "unknown")]

    for saver in (InMemorySaver(), AsyncMemorySaver()):
        with subtests.test(saver=type(saver).__name__):
            state = await build(Blocking(), plan=["one"], checkpointer=saver).arun("x", "thread")
            assert state["status"] == "success"


async def test_an_outage_after_a_call_leaves_the_run_to_be_resumed():
    class Away:
        starts = 0

        async def execute_step(self, step_description, context=""):
            self.starts += 1
            if self.starts > 1:
                return "done"
            await Office("send").execute_step("one")
            raise ConnectionError("away")

    orchestrator = build(Away(), plan=["one"], checkpointer=InMemorySaver())
    away = await orchestrator.arun("x", "thread")
    waiting = await orchestrator.aresume("thread")
    state = await orchestrator.aresume("thread", APPROVE)

    assert (away["status"], "ConnectionError: away" in away["failure"]["message"]) == ("executing", True)
    assert (asked(waiting), state["status"]) == ([("send", "acted")], "success")
