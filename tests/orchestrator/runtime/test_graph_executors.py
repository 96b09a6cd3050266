"""A compiled graph as the executor."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from typing_extensions import TypedDict

from agents import EffectsMiddleware
from agents.testing import ScriptedChatModel
from orchestrator import ConfigurationError, ResumeError
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.runs import build as build_run

done: list[str] = []
NEEDS = r"whose tool \"settle\" may act, .* EffectsMiddleware\(\) first"
STATED = {"acting_tools": ["settle"]}


def settle(to: str) -> str:
    """Settle."""
    done.append(to)
    return f"settled with {to}"


def reply(messages):
    if isinstance(messages[-1], ToolMessage):
        return f"Done: {messages[-1].text}"
    return AIMessage("", tool_calls=[{"name": "settle", "args": {"to": "Ada"}, "id": "1"}])


def build(*middleware, **options):
    done.clear()
    graph = create_agent(ScriptedChatModel(reply, usage=(3, 2)), [settle], middleware=middleware)
    defaults = {"checkpointer": InMemorySaver(), "synthesis": False}
    return build_run(graph, plan=["one"], **{**defaults, **options})


def test_a_graph_carries_out_a_step_and_its_calls_are_recorded():
    state = build(EffectsMiddleware()).run("x", "thread")

    [call] = state["results"][0]["tool_calls"]
    assert (state["output"], done, call["result"]) == ("Done: settled with Ada", ["Ada"], "settled with Ada")
    assert state["results"][0]["usage"]["total_tokens"] == 10


def test_a_graph_whose_tool_may_act_needs_the_middleware(subtests):
    for options in [{}, STATED, {**STATED, "checkpointer": None}]:
        with subtests.test(options=options), pytest.raises(ConfigurationError, match=NEEDS):
            build(**options)


def test_a_graph_without_the_middleware_is_taken_if_nothing_can_be_repeated(subtests):
    for options in [{"acting_tools": []}, {"checkpointer": None}]:
        with subtests.test(options=options):
            assert build(**options).run("x")["status"] == "success"


def test_the_questions_of_langchains_middleware_take_our_answers_and_stay_open_after_others():
    orchestrator = build(EffectsMiddleware(), HumanInTheLoopMiddleware({"settle": True}))
    question = orchestrator.run("x", "thread")["question"]
    with pytest.raises(ResumeError, match="the question is still open"):
        orchestrator.resume("thread", {"answer": "yes please"})
    state = orchestrator.resume("thread", {"answer": "approve"})

    assert question["text"] == "May these tools run: settle?"
    assert (state["status"], done) == ("success", ["Ada"])


def test_a_call_that_a_person_rejected_is_denied_and_may_be_made_in_a_retry():
    graph = create_agent(
        ScriptedChatModel(lambda messages: reply(messages[-1:])),
        [settle],
        middleware=[EffectsMiddleware(), HumanInTheLoopMiddleware({"settle": True})],
    )
    done.clear()
    options = {**STATED, "checkpointer": InMemorySaver(), "synthesis": False}
    monitor = FakeMonitor(refuse(), accept())
    orchestrator = build_run(graph, monitor, ["one"], **options)
    orchestrator.run("x", "thread")
    asked = orchestrator.resume("thread", {"answer": "deny", "text": "not yet"})
    state = orchestrator.resume("thread", {"answer": "approve"})

    assert [each["outcome"] for each in asked["effects"]] == ["denied"]
    assert [each["outcome"] for each in state["effects"]] == ["denied", "acted"]
    assert (state["status"], done) == ("success", ["Ada"])


class Other(TypedDict):
    text: str


def compile_graph(state, **options):
    graph = StateGraph(state).add_node("node", lambda _: {}).add_edge(START, "node").add_edge("node", END)
    return graph.compile(**options)


def test_a_graph_that_cannot_be_a_part_of_a_run_is_refused(subtests):
    for graph, problem in [
        (compile_graph(Other), "executor is a graph without messages"),
        (
            compile_graph(MessagesState, checkpointer=InMemorySaver()),
            "executor is a graph with checkpointer=",
        ),
        (compile_graph(MessagesState, checkpointer=False), "executor is a graph with checkpointer=False"),
    ]:
        with subtests.test(graph=graph), pytest.raises(ConfigurationError, match=problem):
            build_run(graph)
