import json
from enum import Enum
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.messages.base import TextAccessor
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent
from agents.testing import ScriptedChatModel
from orchestrator import Budget
from orchestrator.persistence import open_store
from orchestrator.state.plain_values import plain_json, plain_text
from tests.fakes.compressor import FakeCompressor
from tests.fakes.executor import FakeExecutor, ModelExecutor, WaitingExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.planner import FakePlanner
from tests.fakes.runs import build, stored_state
from tests.fakes.runs import run as run_agents

LONE = "a\ud800b\udfff"
MENDED = "a�b�"


class Colour(str, Enum):  # noqa: UP042 - its str() is not its value, unlike that of a StrEnum
    RED = "red"


class Mute:
    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


run = partial(run_agents, checkpointer=InMemorySaver())


def texts(value):
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in texts(part)]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []


ODD = [(LONE, MENDED), (TextAccessor("text"), "text"), (Colour.RED, "red")]


@pytest.mark.parametrize(("given_text", "kept"), ODD)
def test_odd_texts_of_every_agent_are_kept_as_plain_ones(given_text, kept):
    state = run(
        planner=FakePlanner([given_text, given_text]),
        executor=FakeExecutor(lambda *_: given_text),
        monitor=FakeMonitor(accept(given_text)),
        compressor=FakeCompressor(lambda _: given_text),
    )

    assert state["plan"] == [kept, kept]
    assert [record["result"] for record in state["results"]] == [kept, kept]
    assert [record["verdict"]["feedback"] for record in state["results"]] == [kept, kept]
    assert state["context"].startswith(f"{kept}\n\nStep 2")
    assert {type(text) for text in texts(state)} == {str}


@given(st.text(st.characters(categories=["Cs", "Lu"])))
def test_plain_text_can_always_be_stored(text):
    assert plain_text(text).encode().decode("utf-8") == plain_text(text)


@pytest.mark.parametrize("levels", [100, 190, 260, 900])
def test_arguments_however_deep_are_stored_as_they_are_returned(levels, tmp_path):
    @tool
    def look(at: list) -> str:
        """Look."""
        return "seen"

    deep = json.loads("[" * levels + "]" * levels)

    def execute(step, context):
        look.invoke({"at": deep})
        return "out"

    with open_store(tmp_path / "runs") as store:
        state = build(FakeExecutor(execute), plan=["one"], checkpointer=store.saver).run("x", "thread")
        kept = store.history.show("thread").state
    [call] = state["results"][0]["tool_calls"]

    assert (kept, state["status"]) == (state, "success")
    assert call["args"] == ({"at": deep} if levels < 200 else json.dumps({"at": deep}))


def circle():
    items = []
    items.append(items)
    return items


def test_what_cannot_be_stored_becomes_what_can(subtests):
    for value, kept in [
        ({"a": Mute()}, {"a": "<Mute whose text cannot be made>"}),
        (circle(), "[[...]]"),
        ({LONE: LONE}, {MENDED: MENDED}),
        ("\ud83d\ude00", "😀"),
    ]:
        with subtests.test(value=value):
            assert plain_json(value) == kept


def answered(output):
    @tool
    def act(n: int) -> object:
        """Act."""
        return output

    def execute(step, context):
        act.invoke({"name": "act", "args": {"n": 1}, "id": "1", "type": "tool_call"})
        return "out"

    call = run(executor=FakeExecutor(execute))["results"][0]["tool_calls"][0]
    return call["result"], call["error"]


def said(text, **options):
    return ToolMessage(text, tool_call_id="1", **options)


def test_a_tool_that_answers_by_a_command_is_recorded_by_its_message(subtests):
    for output in [
        Command(update={"messages": [said("done")]}),
        Command(update={"messages": [said("earlier"), AIMessage("and then"), said("done")]}, goto="other"),
    ]:
        with subtests.test(output=output):
            assert answered(output) == ("done", None)


# With a checkpointer: what is stored is what is returned, and a thread can be used again


UNREADABLE = {"success": False, "feedback": "Failed to parse monitoring response: hmm"}


PLANS = ScriptedChatModel(['{"plan": ["one"]}'], usage=(1, 1))
OUT = ScriptedChatModel(lambda messages: "out", usage=(1, 1))
YES = ScriptedChatModel(['{"success": true, "feedback": "ok"}'], usage=(1, 1))


def build_stored(**options):
    return build(checkpointer=InMemorySaver(), **options)


def test_the_stored_state_equals_the_returned_one_and_is_plain_json(subtests):
    agents = {"executor": ExecutionAgent(OUT), "monitor": MonitoringAgent(YES)}
    agents["planner"] = PlanningAgent(PLANS)
    for kind, options in [
        (None, {}),
        (None, {"monitor": FakeMonitor(refuse(), accept())}),
        (None, agents),
        ("attempts_exhausted", {"monitor": FakeMonitor(accept(), refuse())}),
        ("needs_review", {"monitor": FakeMonitor(UNREADABLE)}),
        ("planner_error", {"planner": FakePlanner(ValueError("no"))}),
        ("plan_invalid", {"planner": FakePlanner([])}),
        ("executor_error", {"executor": FakeExecutor("out", ValueError("no"))}),
        ("monitor_error", {"monitor": FakeMonitor(accept(), ValueError("no"))}),
        ("budget_exceeded", {"executor": ModelExecutor(OUT), "budget": Budget(max_model_calls=1)}),
        ("budget_exceeded", {"executor": WaitingExecutor(), "budget": Budget(max_seconds=0.3)}),
        ("timeout", {"executor": WaitingExecutor(), "call_timeout": 0.2}),
    ]:
        with subtests.test(kind=kind, options=options):
            orchestrator = build_stored(**options)
            state = orchestrator.run("x", "thread")

            assert (state["failure"] and state["failure"]["kind"]) == kind
            assert stored_state(orchestrator) == state == json.loads(json.dumps(state))


def test_a_second_run_after_a_failed_one_starts_clean(subtests):
    for first in [
        {"monitor": FakeMonitor(refuse(), refuse(), refuse(), accept())},
        {"executor": FakeExecutor("a", ValueError("no"), "b")},
        {"planner": FakePlanner(ValueError("no"), ["one", "two"])},
        {"monitor": FakeMonitor(UNREADABLE, UNREADABLE, accept())},
    ]:
        with subtests.test(first=first):
            orchestrator = build_stored(**first)
            failed = orchestrator.run("x", "thread")
            state = orchestrator.run("x", "thread", replace=True)

            assert (failed["status"], state["status"], state["failure"]) == ("failed", "success", None)
            assert [item["attempt"] for item in state["results"]] == [1, 1]
            assert (state["attempts"], state["current_step_index"]) == (0, 2)
