"""The events of a stream while an agent works: pieces of text, and tool calls."""

from collections.abc import Iterator

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent, load_model
from agents.testing import ScriptedChatModel
from orchestrator import Budget, LangGraphOrchestrator
from orchestrator.events import TextStreamed, ToolEnded, ToolStarted
from tests.fakes.chat_server import answers, plan, serving
from tests.fakes.runs import build


@pytest.fixture
def streaming(monkeypatch: pytest.MonkeyPatch) -> Iterator[LangGraphOrchestrator]:
    """An orchestrator whose model is a server that streams."""
    with serving(answers(plans=[plan("one")], steps=["three short words"])) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        llm = load_model("openai:scripted")
        agents = PlanningAgent(llm), ExecutionAgent(llm), MonitoringAgent(llm)
        yield LangGraphOrchestrator(*agents, budget=Budget(max_total_tokens=10_000))


def test_the_text_of_the_models_streams_piece_by_piece(streaming):
    pieces = [event for event in streaming.stream("x", tokens=True) if isinstance(event, TextStreamed)]
    written = [event.text for event in pieces if event.agent == "executor"]

    assert len(written) > 1
    assert "".join(written) == "three short words"
    assert "".join(event.text for event in pieces if event.agent == "planner") == plan("one")
    assert {event.step_index for event in pieces if event.agent == "executor"} == {0}


class UnaskedStream(ScriptedChatModel):
    """Streams whether or not anybody asks, as ``ChatOllama`` does."""

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        result = super()._generate(messages, stop, run_manager, **kwargs)
        if run_manager is not None:
            run_manager.on_llm_new_token(result.generations[0].text)
        return result


def test_text_streams_only_if_it_is_asked_for(subtests):
    for tokens in [False, True]:
        with subtests.test(tokens=tokens):
            heard = []
            executor = ExecutionAgent(UnaskedStream(["three words"]))
            orchestrator = build(executor, plan=["one"], hooks=[heard.append])
            events = list(orchestrator.stream("x", tokens=tokens))

            for listed in (events, heard):
                assert any(isinstance(event, TextStreamed) for event in listed) is tokens


@tool
def look_up(word: str) -> str:
    """Look a word up."""
    if not word:
        raise ValueError("no word")
    return f"{word}: a large body of water"


def test_tool_calls_are_events():
    calls = [
        AIMessage("", tool_calls=[{"name": "look_up", "args": {"word": "sea"}, "id": "1"}]),
        AIMessage("", tool_calls=[{"name": "look_up", "args": {"word": ""}, "id": "2"}]),
        "a large body of water",
    ]
    executor = ExecutionAgent(ScriptedChatModel(calls), [look_up])
    events = list(build(executor, plan=["one"]).stream("x"))
    started = [event.call for event in events if isinstance(event, ToolStarted)]
    ended = [event.call for event in events if isinstance(event, ToolEnded)]

    assert [(call["name"], call["args"], call["result"]) for call in started] == [
        ("look_up", {"word": "sea"}, None),
        ("look_up", {"word": ""}, None),
    ]
    assert [call["result"] for call in ended] == ["sea: a large body of water", None]
    assert ended == events[-1].state["results"][0]["tool_calls"]
