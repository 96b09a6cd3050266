"""A step that is interrupted within a conversation with tools goes on where it was."""

from __future__ import annotations

import asyncio
import threading

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner


class Desk:
    """Tools that note each effect; ``ask`` wants an answer from a person."""

    def __init__(self):
        self.done: list[str] = []

    def tools(self):
        def note(text: str) -> str:
            """Write a note."""
            self.done.append(f"note {text}")
            return f"noted {text}"

        async def later(text: str) -> str:
            """Write a note in a while."""
            await asyncio.sleep(0)
            self.done.append(f"later {text}")
            return f"noted {text}"

        def ask(text: str) -> str:
            """Ask a person."""
            answer = interrupt(text)
            self.done.append(f"heard {answer}")
            return f"said {answer}"

        def ask_twice(text: str) -> str:
            """Ask a person two questions."""
            return f"{interrupt(text)} and {interrupt(f'{text}, really')}"

        return {"note": note, "later": later, "ask": ask, "ask_twice": ask_twice}


class PlainAgent(ExecutionAgent):
    """An executor that is called in a thread."""

    def execute_step(self, step_description, context="", **options):
        return super().execute_step(step_description, context, **options)


def call(*calls):
    """A reply that calls tools, each by its name and its text."""
    made = [{"name": name, "args": {"text": text}, "id": f"{name} {text}"} for name, text in calls]
    return AIMessage("", tool_calls=made)


def build(desk, *replies, tools=("note", "ask", "ask_twice"), agent=ExecutionAgent, plan=("one",), **options):
    model = ScriptedChatModel(list(replies) if len(replies) != 1 else replies[0], usage=(3, 2))
    executor = agent(model, [desk.tools()[name] for name in tools])
    defaults = {"checkpointer": InMemorySaver(), "synthesis": False}
    agents = FakePlanner(list(plan)), executor, FakeMonitor()
    return LangGraphOrchestrator(*agents, **{**defaults, **options}), model


@pytest.mark.parametrize(
    ("agent", "tools"),
    [
        (ExecutionAgent, ("note", "ask")),
        (PlainAgent, ("note", "ask")),
        (PlainAgent, ("note", "ask", "later")),
    ],
    ids=["awaited", "in a thread", "in a thread with an async tool"],
)
def test_an_interrupt_in_a_tool_gets_its_answer_and_nothing_is_repeated(agent, tools):
    desk = Desk()
    replies = [call(("note", "a")), call(("note", "b"), ("ask", "May I?"), ("note", "c")), "done"]
    orchestrator, model = build(desk, *replies, agent=agent, tools=tools)
    waiting = orchestrator.run("x", "thread")
    state = orchestrator.resume("thread", "yes")

    assert waiting["question"]["text"] == "May I?"
    assert (state["status"], state["results"][0]["result"]) == ("success", "done")
    assert sorted(desk.done) == ["heard yes", "note a", "note b", "note c"]
    assert len(model.prompts) == 3


def test_a_resumed_step_records_all_its_calls_and_their_usage():
    orchestrator, _ = build(Desk(), call(("note", "a")), call(("ask", "May I?")), "done")
    orchestrator.run("x", "thread")
    [record] = orchestrator.resume("thread", "yes")["results"]

    calls = [(each["name"], each["args"], each["result"], each["error"]) for each in record["tool_calls"]]
    assert calls == [
        ("note", {"text": "a"}, "noted a", None),
        ("ask", {"text": "May I?"}, "said yes", None),
    ]
    assert (record["usage"]["model_calls"], record["usage"]["total_tokens"]) == (3, 15)


def test_several_questions_of_a_round_and_of_a_tool_are_answered_one_after_the_other():
    desk = Desk()
    orchestrator, _ = build(desk, call(("ask", "A"), ("ask_twice", "B"), ("ask", "C")), "done")
    state, asked = orchestrator.run("x", "thread"), []
    while (question := state["question"]) is not None:
        asked.append(question["text"])
        state = orchestrator.resume("thread", f"<{question['text']}>")

    results = [each["result"] for each in state["results"][0]["tool_calls"]]
    assert asked == ["A", "B", "B, really", "C"]
    assert sorted(results) == ["<B> and <B, really>", "said <A>", "said <C>"]
    assert sorted(desk.done) == ["heard <A>", "heard <C>"]


class Stuck(Desk):
    """Has a tool that does not return the first time, until ``free`` is set."""

    def __init__(self):
        super().__init__()
        self.started, self.free = threading.Event(), threading.Event()

    def tools(self):
        def hang(text: str) -> str:
            """Hang the first time."""
            if not self.started.is_set():
                self.started.set()
                self.free.wait(20)
            self.done.append(f"hang {text}")
            return "hung"

        return {**super().tools(), "hang": hang}


@pytest.mark.parametrize("agent", [ExecutionAgent, PlainAgent])
def test_a_tool_that_takes_too_long_ends_the_run_in_time(agent):
    desk = Stuck()
    replies = call(("note", "a")), call(("hang", "b")), "done"
    orchestrator, _ = build(desk, *replies, tools=("note", "hang"), agent=agent, call_timeout=0.2)
    state = orchestrator.run("x", "thread")
    desk.free.set()

    assert (state["status"], state["failure"]["kind"]) == ("failed", "timeout")


def test_after_a_stop_between_two_tools_the_first_does_not_run_again():
    desk = Stuck()
    replies = call(("note", "a")), call(("hang", "b")), "done"
    orchestrator, model = build(desk, *replies, tools=("note", "hang"), agent=PlainAgent)

    def stop():
        desk.started.wait(20)
        orchestrator.interrupt("thread")

    threading.Thread(target=stop).start()
    stopped = orchestrator.run("x", "thread")
    state = orchestrator.resume("thread")
    desk.free.set()

    assert (stopped["status"], state["status"], len(model.prompts)) == ("executing", "success", 3)
    assert desk.done == ["note a", "hang b"]
