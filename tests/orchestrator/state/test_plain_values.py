"""Values that agents and tools return are stored as plain JSON, and never end a run."""

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

from orchestrator.persistence import open_store
from orchestrator.state.plain_values import plain_json, plain_text
from tests.fakes.compressor import FakeCompressor
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept
from tests.fakes.planner import FakePlanner
from tests.fakes.runs import build
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
