"""Writes messages, dumps and traces with LangChain, and state histories with LangGraph."""

import json

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage, message_to_dict, messages_to_dict
from langchain_core.tracers import BaseTracer
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from pydantic import BaseModel
from pydantic_core import to_jsonable_python
from scripted import ANSWER, BOTH, EMMA, MOBY, PNG, QUESTION, write

PRICES = {"Moby Dick": 12.5, "Emma": 8}


def price_of(title: str) -> float:
    """Return the price of a book."""
    return PRICES[title]


def fragile(title: str) -> float:
    """Return the price of a book, from a shop that is closed."""
    raise ValueError("the shop is closed")


class FakeModel(GenericFakeChatModel):
    def bind_tools(self, *_, **__):
        return self


class Tracer(BaseTracer):
    """Keeps the finished traces, as LangSmith's client would send them."""

    traces: list = []

    def _persist_run(self, run):
        self.traces.append(dump_run(run))


def dump_run(run):
    fields = json.loads(run.model_dump_json(exclude={"child_runs", "serialized", "events"}, fallback=str))
    return {**fields, "child_runs": [dump_run(child) for child in run.child_runs]}


def call(number, args, name="price_of"):
    return {"name": name, "args": args, "id": f"call_{number}", "type": "tool_call"}


def agent(*replies, tools=(price_of,), **options):
    return create_agent(FakeModel(messages=iter(replies)), list(tools), **options)


def asks(*calls, content=""):
    return AIMessage(content, tool_calls=list(calls), usage_metadata=dict(input_tokens=40, output_tokens=8, total_tokens=48))


def ids(messages):
    for number, message in enumerate(messages):
        message.id = f"m{number}"
    return messages


def run(question, *replies, **options):
    given = question if isinstance(question, HumanMessage) else HumanMessage(question)
    return ids(agent(*replies, **options).invoke({"messages": [given]})["messages"])


def ask_shop(question: str) -> str:
    """Ask the agent of the shop."""
    inner = agent(asks(call(9, MOBY)), AIMessage("It costs 12.5."))
    return inner.invoke({"messages": [("user", question)]})["messages"][-1].content


KIND = "langchain"
ONE = [asks(call(1, MOBY)), AIMessage(ANSWER)]
write(KIND, "one-call", messages_to_dict(run(QUESTION, *ONE)))
write(KIND, "dumpd", dumpd(run(QUESTION, *ONE)))
write(KIND, "dumpd-state", dumpd({"messages": run(QUESTION, *ONE)}))
write(KIND, "model-dump", [each.model_dump(mode="json") for each in run(
    BOTH, asks(call(1, MOBY), call(2, EMMA), content="I look."), AIMessage("12.5 and 8."))])
failed = ToolMessage("the shop is closed", tool_call_id="call_1", status="error", name="fragile")
write(KIND, "error-result", messages_to_dict([HumanMessage(QUESTION), asks(call(1, MOBY, "fragile")), failed,
                                              AIMessage("It is closed.")]))
write(KIND, "missing-answer", [message_to_dict(each) for each in (HumanMessage(QUESTION), asks(call(1, MOBY)))])
invalid = {"name": "price_of", "args": '{"title": ', "id": "call_1", "error": "no JSON", "type": "invalid_tool_call"}
write(KIND, "invalid-call", messages_to_dict([HumanMessage(QUESTION), AIMessage("", invalid_tool_calls=[invalid]),
                                              AIMessage("I could not look it up.")]))
parts = [{"type": "text", "text": "What is it?"}, {"type": "image", "base64": PNG, "mime_type": "image/png"}]
write(KIND, "image", messages_to_dict(run(HumanMessage(parts), AIMessage("A pixel."))))
thought = [{"type": "reasoning", "reasoning": "Look it up."}, {"type": "text", "text": ANSWER}]
write(KIND, "reasoning", messages_to_dict([HumanMessage(QUESTION), AIMessage(thought)]))
chunks = [AIMessageChunk("Moby Dick "), AIMessageChunk("costs 12.5 euros."),
          AIMessageChunk("", response_metadata={"finish_reason": "stop"}, chunk_position="last")]  # fmt: skip
merged = chunks[0]
for chunk in chunks[1:]:
    merged = merged + chunk
write(KIND, "streamed", messages_to_dict([HumanMessage(QUESTION), merged]))


def trace(question, *replies, **options):
    tracer = Tracer()
    tracer.traces.clear()
    agent(*replies, **options).invoke({"messages": [("user", question)]}, {"callbacks": [tracer]})
    return tracer.traces[0]


KIND = "langchain-trace"
write(KIND, "one-call", trace(QUESTION, *ONE))
write(KIND, "nested-agent", trace(QUESTION, asks(call(1, {"question": QUESTION}, "ask_shop")), AIMessage(ANSWER),
                                  tools=(ask_shop,)))
tracer = Tracer()
tracer.traces.clear()
try:
    agent(asks(call(1, MOBY, "fragile")), tools=(fragile,)).invoke({"messages": [("user", QUESTION)]},
                                                                   {"callbacks": [tracer]})
except ValueError:
    write(KIND, "error-in-tool", tracer.traces[0])
tracer.traces.clear()
try:
    agent(*(asks(call(number, MOBY)) for number in range(9))).invoke(
        {"messages": [("user", QUESTION)]}, {"callbacks": [tracer], "recursion_limit": 5})
except GraphRecursionError:
    write(KIND, "loop", tracer.traces[0])
tracer.traces.clear()
FakeModel(messages=iter([AIMessage(ANSWER)])).invoke(QUESTION, {"callbacks": [tracer]})
write(KIND, "model-alone", tracer.traces[0])
tracer.traces.clear()
list(FakeModel(messages=iter([AIMessage(ANSWER)])).stream(QUESTION, {"callbacks": [tracer]}))
write(KIND, "streamed", tracer.traces[0])
write(KIND, "parallel-calls", trace(BOTH, asks(call(1, MOBY), call(2, EMMA)), AIMessage("12.5 and 8.")))


class Price(BaseModel):
    """A price."""

    euros: float


write(KIND, "structured-output", trace(QUESTION, asks(call(1, {"euros": 12.5}, "Price")), response_format=Price))


def history(graph, *questions, thread="t", **options):
    config = {"configurable": {"thread_id": thread}}
    for question in questions:
        graph.invoke({"messages": [("user", question)]}, config, **options)
    return [each._asdict() for each in graph.get_state_history(config)]


def save(name, snapshots, dump=lambda value: to_jsonable_python(value, fallback=str)):
    write("langgraph", name, dump(snapshots))


memory = {"checkpointer": InMemorySaver()}
save("one-call", history(agent(*ONE, **memory), QUESTION))
save("multi-turn", history(agent(*ONE, asks(call(2, EMMA)), AIMessage("8 euros."), **memory), QUESTION, "And Emma?",
                           thread="two"))
save("waiting", history(agent(asks(call(1, MOBY)), interrupt_before=["tools"], **memory), QUESTION, thread="wait"))
save("parallel-calls", history(agent(asks(call(1, MOBY), call(2, EMMA)), AIMessage("12.5 and 8."), **memory), BOTH,
                               thread="both"))
save("nested-agent", history(agent(asks(call(1, {"question": QUESTION}, "ask_shop")), AIMessage(ANSWER),
                                   tools=(ask_shop,), **memory), QUESTION, thread="nest"))
save("structured-output", history(agent(asks(call(1, {"euros": 12.5}, "Price")), response_format=Price, **memory),
                                  QUESTION, thread="form"))
save("dumpd", history(agent(*ONE, **memory), QUESTION, thread="dump"), dumpd)
closed = agent(asks(call(1, MOBY, "fragile")), tools=(fragile,), **memory)
try:
    history(closed, QUESTION, thread="error")
except ValueError:
    save("error", [each._asdict() for each in closed.get_state_history({"configurable": {"thread_id": "error"}})])
save("last-snapshot", history(agent(*ONE, **memory), QUESTION, thread="last")[0])
