"""A step that is interrupted within a conversation with tools goes on where it was."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import nullcontext
from functools import partial

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import open_store
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


def test_an_interrupt_in_a_tool_gets_its_answer_and_nothing_is_repeated(subtests):
    for agent, tools in [
        (ExecutionAgent, ("note", "ask")),
        (PlainAgent, ("note", "ask")),
        (PlainAgent, ("note", "ask", "later")),
    ]:
        with subtests.test(agent=agent, tools=tools):
            desk = Desk()
            replies = [call(("note", "a")), call(("note", "b"), ("ask", "May I?"), ("note", "c")), "done"]
            orchestrator, model = build(desk, *replies, agent=agent, tools=tools)
            waiting = orchestrator.run("x", "thread")
            state = orchestrator.resume("thread", "yes")

            assert waiting["question"]["text"] == "May I?"
            assert (state["status"], state["results"][0]["result"]) == ("success", "done")
            assert sorted(desk.done) == ["heard yes", "note a", "note b", "note c"]
            assert len(model.prompts) == 3


def test_several_questions_of_a_round_and_of_a_tool_are_answered_one_after_the_other():
    desk = Desk()
    orchestrator, _ = build(desk, call(("ask", "A"), ("ask_twice", "B"), ("ask", "C")), "done")
    state, asked = orchestrator.run("x", "thread"), []
    while (question := state["question"]) is not None:
        asked.append(question["text"])
        state = orchestrator.resume("thread", f"<{question['text']}>")

    results = [each["result"] for each in state["results"][0]["tool_calls"]]
    assert sorted(asked) == ["A", "B", "B, really", "C"]
    assert asked.index("B") < asked.index("B, really")
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


def test_after_a_stop_between_two_tools_the_first_does_not_run_again():
    desk = Stuck()
    replies = call(("note", "a")), call(("hang", "b")), "done"
    orchestrator, model = build(desk, *replies, tools=("note", "hang"), agent=PlainAgent)

    def stop():
        desk.started.wait(20)
        orchestrator.interrupt("thread")

    threading.Thread(target=stop).start()
    stopped = orchestrator.run("x", "thread")
    # It may have acted before the stop, and neither its name nor an option says that it only reads.
    question = orchestrator.resume("thread")["question"]
    state = orchestrator.resume("thread", {"answer": "approve"})
    desk.free.set()

    assert (stopped["status"], state["status"], len(model.prompts)) == ("executing", "success", 3)
    assert [call["name"] for call in question["tool_calls"]] == ["hang"]
    assert desk.done == ["note a", "hang b"]


# ------------------------------------------------------------------- nothing is repeated after a crash


class Crash(KeyboardInterrupt):
    """Ends the process, as far as a test can."""


class Registry:
    """Tools that note their calls; the last one of ``names`` ends the process the first time."""

    def __init__(self, *names, is_async=False):
        self.done: list[str] = []
        self.names = names
        self.crashes = [Crash()]
        self.is_async = is_async

    def call(self, name, text):
        self.done.append(f"{name} {text}")
        if name == self.names[-1] and self.crashes:
            raise self.crashes.pop()
        return f"{name} wrote {text}"

    def build_tool(self, name):
        def write(text: str) -> str:
            return self.call(name, text)

        async def write_later(text: str) -> str:
            await asyncio.sleep(0)
            return self.call(name, text)

        function = {"coroutine": write_later} if self.is_async else {"func": write}
        return StructuredTool.from_function(name=name, description="Write.", **function)

    def tools(self):
        return {name: self.build_tool(name) for name in self.names}


@pytest.fixture(params=["memory", "SQLite"])
def stores(request, tmp_path):
    """A function that opens the same store again, as another process would."""
    if request.param == "memory":
        saver = InMemorySaver()
        return lambda: nullcontext(saver)
    return lambda: open_store(str(tmp_path / "runs.sqlite"))


def crash_and_resume(registry, stores, *replies, **options):
    """Runs until a tool ends the process, and resumes in another orchestrator with the replies left."""
    replies = list(replies)
    build_one = partial(build, registry, lambda _: replies.pop(0), tools=registry.names, **options)
    with stores() as store, pytest.raises(KeyboardInterrupt):
        build_one(checkpointer=store)[0].run("x", "thread")
    with stores() as store:
        orchestrator, model = build_one(checkpointer=store)
        state = orchestrator.resume("thread")
        if (asked := state["question"]) is not None:
            state = orchestrator.resume("thread", {"answer": "approve"})
    return state, asked, model


@pytest.mark.parametrize("is_async", [False, True], ids=["sync tools", "async tools"])
def test_answered_calls_and_replies_before_a_crash_are_not_repeated(stores, is_async):
    registry = Registry("note", "file", is_async=is_async)
    replies = call(("note", "a")), call(("file", "b")), "done"
    state, asked, model = crash_and_resume(registry, stores, *replies)

    [record] = state["results"]
    assert [each["args"] for each in asked["tool_calls"]] == [{"text": "b"}]
    assert (state["status"], registry.done) == ("success", ["note a", "file b", "file b"])
    assert len(model.prompts) == 1
    # The start in which the process died has a record of its own: it may have acted, too.
    assert [each["result"] for each in record["tool_calls"]] == ["note wrote a", "file wrote b", None]
    assert (record["usage"]["model_calls"], record["usage"]["total_tokens"]) == (3, 15)


def test_an_answered_call_beside_the_one_that_ended_the_process_is_not_made_again(stores):
    registry = Registry("note", "file")
    answered = threading.Event()
    write = registry.call

    def call_in_order(name, text):
        # The crash comes after the answer of the other call.
        if name == "file":
            answered.wait(20)
            time.sleep(0.3)
        try:
            return write(name, text)
        finally:
            answered.set()

    registry.call = call_in_order
    state, asked, _ = crash_and_resume(registry, stores, call(("note", "a"), ("file", "b")), "done")

    assert [each["name"] for each in asked["tool_calls"]] == ["file"]
    assert (state["status"], sorted(registry.done)) == ("success", ["file b", "file b", "note a"])
    results = {each["result"] for each in state["results"][0]["tool_calls"]}
    assert results == {"file wrote b", "note wrote a", None}


def test_a_tool_whose_name_says_that_it_reads_is_called_again_without_a_question(stores):
    registry = Registry("note", "find_page")
    state, asked, _ = crash_and_resume(
        registry, stores, call(("note", "a")), call(("find_page", "b")), "done"
    )

    assert (asked, state["status"]) == (None, "success")
    assert registry.done == ["note a", "find_page b", "find_page b"]


@pytest.mark.parametrize("acting_tools", [None, [], ["file"]], ids=["guessed", "no guesses", "stated"])
def test_a_call_that_the_process_left_without_an_answer_is_asked_about_whatever_the_options(
    acting_tools, stores
):
    registry = Registry("note", "file")
    replies = call(("note", "a")), call(("file", "b")), "done"
    _, asked, _ = crash_and_resume(registry, stores, *replies, acting_tools=acting_tools)

    assert (asked["kind"], asked["tool_calls"][0]["name"]) == ("tool", "file")
    [finding] = asked["findings"]
    assert finding == (
        "The same call was made before, and it is not known whether it had its effect: "
        "the run was interrupted while the call was under way"
    )


def test_parallel_steps_go_on_where_each_of_them_was(stores):
    registry = Registry("note", "file")
    plan = [{"step": "write one", "needs": []}, {"step": "write two", "needs": []}]

    def reply(messages):
        prompt = messages[1].text
        step = max("one", "two", key=prompt.rfind)
        done = sum(message.type == "tool" for message in messages)
        return [call(("note", step)), call(("file", step)), "done"][done]

    build_one = partial(build, registry, reply, tools=registry.names, plan=plan)
    with stores() as store, pytest.raises(KeyboardInterrupt):
        build_one(checkpointer=store)[0].run("x", "thread")
    with stores() as store:
        orchestrator, _ = build_one(checkpointer=store)
        state = orchestrator.resume("thread")
        while state["question"] is not None:
            state = orchestrator.resume("thread", {"answer": "approve"})

    assert state["status"] == "success"
    assert [registry.done.count(f"note {step}") for step in ("one", "two")] == [1, 1]
    for record in state["results"]:
        assert [each["name"] for each in record["tool_calls"] if each["result"]] == ["note", "file"]
        assert (record["usage"]["model_calls"], record["usage"]["total_tokens"]) == (3, 15)


def test_an_agent_in_a_tool_goes_on_with_its_stored_conversation(stores):
    registry = Registry("note", "file")
    tools = registry.tools()
    inner = ScriptedChatModel([call(("note", "a")), call(("file", "b")), "done"], usage=(3, 2))
    agent = ExecutionAgent(inner, list(tools.values()))

    def delegate(text: str) -> str:
        """Hand the work on."""
        return agent.execute_step(text)

    outer = ScriptedChatModel([call(("delegate", "write")), "done"], usage=(3, 2))
    executor = ExecutionAgent(outer, [delegate])
    with stores() as store:
        orchestrator = LangGraphOrchestrator(
            FakePlanner(["one"]), executor, FakeMonitor(), checkpointer=store, synthesis=False
        )
        with pytest.raises(KeyboardInterrupt):
            orchestrator.run("x", "thread")
        state, asked = orchestrator.resume("thread"), []
        while (question := state["question"]) is not None:
            asked.append(question["tool_calls"][0]["name"])
            state = orchestrator.resume("thread", {"answer": "approve"})

    assert (state["status"], asked) == ("success", ["delegate", "file"])
    assert registry.done == ["note a", "file b", "file b"]
    assert (len(inner.prompts), len(outer.prompts)) == (3, 2)
    assert state["results"][0]["usage"]["model_calls"] == 5
