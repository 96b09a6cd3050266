"""The private names of LangGraph still work as the project expects."""

from __future__ import annotations

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from agents.loop.langgraph_internals import (
    INTERRUPT_CHANNEL,
    NO_TASK,
    RESUME_CHANNEL,
    ask_person,
    copy_context_with,
    read_config,
    without_durability,
)

THREAD = {"configurable": {"thread_id": "thread"}}


def compile_graph(node, **options):
    graph = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    return graph.compile(**options)


inner = compile_graph(lambda state: {"messages": ["inner"]}, checkpointer=False)


def run_inner(state):
    return {"messages": inner.invoke(state)["messages"]}


def run_inner_without_durability(state):
    return copy_context_with(without_durability(read_config())).run(run_inner, state)


def test_a_nested_graph_without_checkpointer_runs_under_durability_sync():
    graph = compile_graph(run_inner_without_durability, checkpointer=InMemorySaver())
    state = graph.invoke({"messages": []}, THREAD, durability="sync")

    assert [message.text for message in state["messages"]] == ["inner"]


def test_langgraph_still_needs_the_workaround_for_durability():
    graph = compile_graph(run_inner, checkpointer=InMemorySaver())

    with pytest.raises(AttributeError, match="_put_checkpoint_fut"):
        graph.invoke({"messages": []}, THREAD, durability="sync")


def test_an_open_interrupt_is_a_pending_write():
    saver = InMemorySaver()
    compile_graph(lambda state: interrupt("why?"), checkpointer=saver).invoke({"messages": []}, THREAD)
    stored = saver.get_tuple(THREAD)

    assert [
        [each.value for each in value]
        for _, channel, value in stored.pending_writes
        if channel == INTERRUPT_CHANNEL
    ] == [["why?"]]


def test_a_new_question_takes_no_stored_answer_and_is_answered_by_its_id():
    new, saver = [1], InMemorySaver()

    def node(state):
        return {"messages": [f"{interrupt('one?')} {ask_person('two?', new.pop() if new else None)}"]}

    graph = compile_graph(node, checkpointer=saver)
    graph.invoke({"messages": []}, THREAD)
    [asked] = graph.invoke(Command(resume="x"), THREAD)["__interrupt__"]
    stored = [tuple(write) for write in saver.get_tuple(THREAD).pending_writes]
    state = graph.invoke(Command(resume={asked.id: "y"}), THREAD)

    assert (asked.value, [message.text for message in state["messages"]]) == ("two?", ["x y"])
    assert (NO_TASK, RESUME_CHANNEL, "x") in stored
