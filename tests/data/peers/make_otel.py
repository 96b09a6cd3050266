"""Writes traces in OTLP JSON: spans of pydantic-ai and of instrumentations of OpenAI, Anthropic and LangChain.

With the argument ``old``, it writes those of an older instrumentation; see README.md.
"""

import os
import sys

os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "span_only"

from opentelemetry.exporter.otlp.json.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.messages import (
    ModelResponse, TextPart, ThinkingPart, ToolCallPart,
)  # fmt: skip
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings
from scripted import ANSWER, BOTH, EMMA, MOBY, PNG, QUESTION, write

KIND = "otel"
SPANS = InMemorySpanExporter()
PROVIDER = TracerProvider(resource=Resource({"service.name": "shop"}))
PROVIDER.add_span_processor(SimpleSpanProcessor(SPANS))
PRICES = {"Moby Dick": 12.5, "Emma": 8}


def save(name):
    write(KIND, name, encode_spans(SPANS.get_finished_spans()).to_dict())
    SPANS.clear()


def price_of(title: str) -> float:
    return PRICES[title]


def fragile(title: str) -> float:
    raise ValueError("the shop is closed")


def call(number, args, name="price_of"):
    return ToolCallPart(name, args, f"call_{number}")


def agent(*replies, name="shop", tools=(price_of,), **options):
    waiting = iter(replies)
    said = FunctionModel(lambda *_: next(waiting), model_name="scripted")
    return Agent(said, name=name, tools=list(tools), **options)


def says(*parts, **fields):
    return ModelResponse([TextPart(each) if isinstance(each, str) else each for each in parts], **fields)


def record(name, root, *questions, version=6):
    Agent.instrument_all(InstrumentationSettings(tracer_provider=PROVIDER, version=version))
    history = []
    try:
        for question in questions:
            history = root.run_sync(question, message_history=history).all_messages()
    except ValueError as error:
        assert str(error) == "the shop is closed"
    save(name)


ONE = (says(call(1, MOBY)), says(ANSWER))
record("one-call", agent(*ONE, instructions="You know prices."), QUESTION)
record("version-2", agent(*ONE), QUESTION, version=2)
record("parallel-calls", agent(says(call(1, MOBY), call(2, EMMA)), says("12.5 and 8.")), BOTH)
record("error-result", agent(says(call(1, MOBY, "fragile")), tools=(fragile,)), QUESTION)
record("reasoning", agent(says(ThinkingPart("Look it up."), call(1, MOBY)), says(ANSWER)), QUESTION)
record("image", agent(says("A pixel.")), ["What is it?", BinaryContent(PNG.encode(), media_type="image/png")])
record("multi-turn", agent(*ONE, says("8 euros.")), QUESTION, "And Emma?")
clerk = agent(*ONE, name="clerk")


async def ask_clerk(question: str) -> str:
    return (await clerk.run(question)).output


record("nested-agent", agent(says(call(1, {"question": QUESTION}, "ask_clerk")), says(ANSWER), tools=(ask_clerk,)),
       QUESTION)
record("cut-off", agent(says("Moby Dick costs", finish_reason="length")), QUESTION)
record("structured-output", agent(says(call(1, {"response": 12.5}, "final_result")), output_type=float), QUESTION)


def instrument(kind, library):
    module = __import__(f"opentelemetry.instrumentation.{library}", fromlist=[kind])
    return getattr(module, f"{kind}Instrumentor")()


import anthropic
import httpx2
import openai
from scripted import client

chosen = {"id": "call_1", "type": "function", "function": {"name": "price_of", "arguments": '{"title": "Moby Dick"}'}}
HEAD = {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-x",
        "usage": {"prompt_tokens": 40, "completion_tokens": 8, "total_tokens": 48}}  # fmt: skip


def completion(finish, **message):
    return {**HEAD, "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}]}


def talk_to_openai():
    replies = [completion("tool_calls", content=None, tool_calls=[chosen]), completion("stop", content=ANSWER)]
    api = openai.OpenAI(api_key="k", http_client=client(replies))
    messages = [{"role": "user", "content": QUESTION}]
    with PROVIDER.get_tracer("app").start_as_current_span("ask"):
        api.chat.completions.create(model="gpt-x", messages=messages)
        messages += [{"role": "assistant", "content": None, "tool_calls": [chosen]},
                     {"role": "tool", "tool_call_id": "call_1", "content": "12.5"}]  # fmt: skip
        api.chat.completions.create(model="gpt-x", messages=messages)


def with_instrumentor(name, kind, library, work):
    instrumentor = instrument(kind, library)
    instrumentor.instrument(tracer_provider=PROVIDER, skip_dep_check=True)
    try:
        work()
    finally:
        instrumentor.uninstrument()
    save(name)


old = sys.argv[2:] == ["old"]
if not old:
    with_instrumentor("genai-openai", "OpenAI", "genai.openai", talk_to_openai)
with_instrumentor("traceloop-openai" + "-old" * old, "OpenAI", "openai", talk_to_openai)


def talk_to_anthropic():
    body = {"id": "m", "type": "message", "role": "assistant", "model": "claude-x", "stop_reason": "max_tokens",
            "stop_sequence": None, "content": [{"type": "text", "text": "Moby Dick costs"}],
            "usage": {"input_tokens": 40, "output_tokens": 8}}  # fmt: skip
    api = anthropic.Anthropic(api_key="k", http_client=client([body], httpx2))
    api.messages.create(model="claude-x", max_tokens=8, messages=[{"role": "user", "content": QUESTION}])


def run_langchain():
    from langchain.agents import create_agent
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    class FakeModel(GenericFakeChatModel):
        def bind_tools(self, *_, **__):
            return self

    def lookup(title: str) -> float:
        """Return the price of a book."""
        return PRICES[title]

    asks = AIMessage("", tool_calls=[{"name": "lookup", "args": MOBY, "id": "call_1", "type": "tool_call"}])
    create_agent(FakeModel(messages=iter([asks, AIMessage(ANSWER)])), [lookup]).invoke(
        {"messages": [("user", QUESTION)]})


if not old:
    with_instrumentor("traceloop-anthropic", "Anthropic", "anthropic", talk_to_anthropic)
    with_instrumentor("genai-langchain", "LangChain", "genai.langchain", run_langchain)
with_instrumentor("traceloop-langchain" + "-old" * old, "Langchain", "langchain", run_langchain)
