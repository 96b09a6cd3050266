"""The private names of LangGraph still work as the project expects."""

from typing import Annotated

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from agents import EffectsMiddleware
from agents.loop.langgraph_internals import (
    INTERRUPT_CHANNEL,
    NO_TASK,
    RESUME_CHANNEL,
    ask_person,
    build_nested_config,
    copy_context_with,
    list_graphs,
    list_running_nodes,
    read_config,
)
from agents.testing import ScriptedChatModel

THREAD = {"configurable": {"thread_id": "thread"}}


def compile_graph(node, **options):
    graph = StateGraph(MessagesState).add_node("node", node).add_edge(START, "node").add_edge("node", END)
    return graph.compile(**options)


inner = compile_graph(lambda state: {"messages": ["inner"]}, checkpointer=False)


def run_inner(state):
    return {"messages": inner.invoke(state)["messages"]}


def run_inner_nested(state):
    return copy_context_with(build_nested_config(read_config(), type(None))).run(run_inner, state)


def test_a_nested_graph_without_checkpointer_runs_under_durability_sync():
    graph = compile_graph(run_inner_nested, checkpointer=InMemorySaver())
    state = graph.invoke({"messages": []}, THREAD, durability="sync")

    assert [message.text for message in state["messages"]] == ["inner"]


def test_langgraph_still_needs_the_workaround_for_durability():
    graph = compile_graph(run_inner, checkpointer=InMemorySaver())

    with pytest.raises(AttributeError, match="_put_checkpoint_fut"):
        graph.invoke({"messages": []}, THREAD, durability="sync")


def test_all_graphs_of_a_graph_are_listed_but_not_those_of_its_tools():
    @tool
    def ask_agent() -> str:
        """Ask an agent."""
        return str(inner.invoke({"messages": []}))

    agent, other = create_agent(ScriptedChatModel(["a"]), [ask_agent]), compile_graph(lambda _: {})
    by_function = compile_graph(lambda state: {} if agent.invoke(state) else other.invoke(state))
    outer = compile_graph(by_function | RunnableLambda(run_inner))

    expected = (outer, by_function, inner, agent, other)
    assert [*map(id, list_graphs(outer))] == [*map(id, expected)]


def test_a_node_knows_all_nodes_of_its_graph_in_their_order():
    seen = []

    class Second(AgentMiddleware):
        def before_model(self, state, runtime):
            seen.extend(list_running_nodes())

        def after_model(self, state, runtime):
            return None

    agent = create_agent(ScriptedChatModel(["a"]), middleware=[EffectsMiddleware(), Second()])
    agent.invoke({"messages": []})

    assert seen == [name for name in agent.nodes if name != START]
    assert seen.index("EffectsMiddleware.after_model") < seen.index("Second.after_model")


def test_an_open_interrupt_is_a_pending_write():
    saver = InMemorySaver()
    compile_graph(lambda state: interrupt("why?"), checkpointer=saver).invoke({"messages": []}, THREAD)
    stored = saver.get_tuple(THREAD)

    asked = [value for _, channel, value in stored.pending_writes if channel == INTERRUPT_CHANNEL]
    assert [[each.value for each in value] for value in asked] == [["why?"]]


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


@tool
def send(to: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command:
    """Send a letter."""
    return Command(update={"messages": [ToolMessage(f"sent to {to}", tool_call_id=tool_call_id)]})


class Strict(AgentMiddleware):
    def wrap_tool_call(self, request, handler):
        output = handler(request)
        assert isinstance(output, ToolMessage | Command)
        return output

    async def awrap_tool_call(self, request, handler):
        output = await handler(request)
        return self.wrap_tool_call(request, lambda _: output)


async def test_a_command_of_a_tool_stays_one_command_with_the_effect(call_either):
    call = {"name": "send", "args": {"to": "Ada"}, "id": "1"}
    model = ScriptedChatModel([AIMessage("", tool_calls=[call]), "It is sent."])
    agent = create_agent(model, [send], middleware=[Strict(), EffectsMiddleware(["send"])])
    state = await call_either(agent, "invoke", {"messages": []})

    assert [each.text for each in state["messages"]][1:] == ["sent to Ada", "It is sent."]
    effect = state["effects"]["1"]
    assert (effect["outcome"], effect["answer"]) == ("acted", "sent to Ada")
