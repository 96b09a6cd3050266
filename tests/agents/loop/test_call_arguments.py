from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import StructuredTool
from langchain_ollama import ChatOllama
from pydantic import BaseModel, ConfigDict, Field

from agents import EffectsMiddleware, ModelRefusedError
from tests.agents.agent_runs import run_bare, run_executor
from tests.fakes.protocol_server import ModelReply, Protocol, serve_model

TEXT = {"type": "string"}
OBJECT = {"type": "object"}
STREAMED: Sequence[tuple[Protocol, bool]] = [
    ("openai", False),
    ("openai", True),
    ("ollama", True),
    ("anthropic", True),
]
"""The exchanges that show the arguments as the model wrote them; Ollama's client always streams."""


def describe(schema: Mapping[str, Any] | None, name: str = "content") -> dict[str, Any]:
    """The parameters of a tool that has one of this schema, or none."""
    fields = {} if schema is None else {name: schema}
    return {"type": "object", "properties": fields, "title": "t", "description": "d", "$defs": {"T": TEXT}}


def build_note(parameters: Any) -> tuple[StructuredTool, list[object]]:
    """A tool, and what it got."""
    made: list[object] = []

    def note(**args: object) -> str:
        made.append(args)
        return "noted"

    return StructuredTool(name="note", description="Note.", args_schema=parameters, func=note), made


def call_note(protocol: Protocol, streams: bool, arguments: object, parameters: Any, run: Any = run_executor):
    """Let a model call the tool; returns what the tool got, and what the model was sent at last."""
    note, made = build_note(parameters)
    call = ModelReply(calls=[("note", arguments)], reason="tool_calls")
    with serve_model(call, ModelReply("done"), protocol=protocol, streaming=streams) as (model, server):
        assert run(model, [note]) == "done"
    return made, json.dumps(server.bodies[-1])


TEXTS_TAKEN = [
    (TEXT, '{\n  "a": 1\n}'),
    (TEXT, "[1.10]"),
    (TEXT, '{"a": 1, "a": 2}'),
    (TEXT, "{'a': True}"),
    (TEXT, "[0x10, 1_000]"),
    (TEXT, '{"n": 1e400}'),
    ({"type": ["string", "null"]}, '{ "a":1 }'),
    ({"anyOf": [TEXT, {"type": "null"}]}, "[ ]"),
    ({"oneOf": [OBJECT, TEXT]}, '{ "a":1 }'),
    ({"$ref": "#/$defs/T"}, "[1.10]"),
    ({"type": "no such type"}, '{ "a":1 }'),
    ({}, '{ "a":1 }'),
]


def test_json_in_a_text_of_ollama_is_decoded_only_if_the_tool_takes_no_text(subtests):
    for schema, written, received in [
        *((schema, written, written) for schema, written in TEXTS_TAKEN),
        (OBJECT, '{"a": [1]}', {"a": [1]}),
        ({"type": "array", "items": {"type": "integer"}}, "[1, 2]", [1, 2]),
        ({"anyOf": [OBJECT, {"type": "null"}]}, "{}", {}),
        ({"type": "array", "items": {"type": "integer"}}, '["a"]', '["a"]'),
        (OBJECT, '{"a": 1, "a": 2}', '{"a": 1, "a": 2}'),
        (OBJECT, "{'a': 1}", "{'a': 1}"),
        ({"type": "integer"}, "7", "7"),
    ]:
        with subtests.test(f"{schema} {written}"):
            made, _ = call_note("ollama", True, {"content": written}, describe(schema))
            assert made == [{"content": received}]


async def test_an_agent_of_langchains_with_the_effects_middleware_gets_the_text_too(call_either):
    note, made = build_note(describe({"anyOf": [TEXT, {"type": "null"}]}))
    given = {"content": '{ "a":1.10 }', "functionName": "note"}
    call = ModelReply(calls=[("note", given)], reason="tool_calls")
    with serve_model(call, ModelReply("done"), protocol="ollama") as (_, server):
        model = ChatOllama(model="m", base_url=server.url)
        agent = create_agent(model, [note], middleware=[EffectsMiddleware()])
        state = await call_either(agent, "invoke", {"messages": "s"})
    assert (state["messages"][-1].text, made) == ("done", [given])


@pytest.mark.parametrize(("protocol", "streams"), STREAMED)
def test_an_argument_of_any_name_reaches_the_tool(protocol, streams, subtests):
    for name in ["functionName", "arguments", "type"]:
        with subtests.test(name):
            made, _ = call_note(protocol, streams, {name: "note"}, describe(TEXT, name))
            assert made == [{name: "note"}]


REPEATED = [
    '{"content": "/a", "content": "/b"}',
    '{"content": "/a", "content": "/a"}',
    '{"content": "/a", "\\u0063ontent": "/b"}',
    '{"content": {"x": 1, "x": 2}}',
    '{"content": [{"x": 1, "x": 1}]}',
]
NO_NUMBERS = [
    '{"content": NaN}',
    '{"content": [-Infinity]}',
    '{"content": {"x": Infinity}}',
    '{"content": 1e999}',
]


@pytest.mark.parametrize(("protocol", "streams"), [each for each in STREAMED if each[0] != "ollama"])
def test_a_key_that_stands_twice_is_told_and_the_call_is_not_made(protocol, streams, subtests):
    for written in [*REPEATED, *NO_NUMBERS]:
        with subtests.test(written):
            made, told = call_note(protocol, streams, written, describe({}))
            assert (made, "each key once" in told) == ([], True)


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_an_agent_of_langchains_is_told_of_a_call_that_cannot_be_read(protocol, subtests):
    for written in [REPEATED[0], '{"content": "/a', "[]"]:
        with subtests.test(written):
            made, told = call_note(protocol, True, written, describe({}), run_bare)
            assert (made, "not valid JSON" in told) == ([], True)


@pytest.mark.parametrize(("protocol", "is_told"), [("openai", True), ("anthropic", False)])
def test_a_streamed_call_without_arguments_is_made_if_its_protocol_writes_an_empty_object_so(
    protocol, is_told, subtests
):
    rows = [(None, "", True), (None, "{}", True), (TEXT, "{}", True), (TEXT, "", not is_told)]
    for schema, written, is_made in rows:
        with subtests.test(f"{schema} {written!r}"):
            made, told = call_note(protocol, True, written, describe(schema))
            assert (made, "there are none" in told) == ([{}] if is_made else [], not is_made)


@pytest.mark.parametrize("protocol", ["ollama", "anthropic"])
def test_a_number_that_json_lacks_is_told_where_the_client_reads_the_arguments(protocol, subtests):
    for written in NO_NUMBERS:
        with subtests.test(written):
            made, told = call_note(protocol, False, json.loads(written), describe({}))
            assert (made, "not valid JSON" in told) == ([], True)


class Plain(BaseModel):
    path: str = "/"
    dry_run: bool = False


class Forbidding(Plain):
    model_config = ConfigDict(extra="forbid")


class Open(Plain):
    model_config = ConfigDict(extra="allow")


class Aliased(BaseModel):
    dry_run: bool = Field(False, alias="dryRun")


class ByEither(Aliased):
    model_config = ConfigDict(populate_by_name=True)


CLOSED = {"title": "t", "description": "d", "type": "object", "properties": {"dry_run": {"type": "boolean"}}}
NAMES: Sequence[tuple[Any, str, bool]] = [
    (Plain, "dry_run", True),
    (Plain, "dryRun", False),
    (Plain, "Path", False),
    (Forbidding, "dryRun", False),
    (Open, "dryRun", True),
    (Aliased, "dryRun", True),
    (Aliased, "dry_run", False),
    (ByEither, "dryRun", True),
    (ByEither, "dry_run", True),
    (ByEither, "dry", False),
    (CLOSED, "dryRun", True),
    ({**CLOSED, "additionalProperties": False}, "dryRun", False),
    ({**CLOSED, "additionalProperties": False}, "dry_run", True),
]


@pytest.mark.parametrize("protocol", ["openai", "ollama", "anthropic"])
@pytest.mark.parametrize("run", [run_executor, run_bare])
def test_a_call_with_an_argument_that_its_tool_does_not_have_is_told_and_not_made(protocol, run, subtests):
    for schema, name, is_made in NAMES:
        with subtests.test(f"{schema} {name}"):
            given = {name: "/data" if name == "Path" else True}
            made, told = call_note(protocol, False, given, schema, run)
            assert (len(made), f"has no argument '{name}'; it takes" in told) == (is_made, not is_made)


BLOCKED: Sequence[tuple[Protocol, str]] = [
    ("openai", "content_filter"), ("openai", "safety"), ("anthropic", "refusal"), ("ollama", "refusal"),
    ("ollama", "content_filter"),
]  # fmt: skip


def test_the_calls_of_a_reply_that_its_provider_blocked_are_not_made(subtests):
    for protocol, reason in BLOCKED:
        for streams in [True] if protocol == "ollama" else [False, True]:
            blocked = ModelReply("I note", [("note", {"content": "a"})], reason=reason)
            served = serve_model(blocked, protocol=protocol, streaming=streams)
            with subtests.test(f"{protocol} {reason} {streams}"), served as (model, server):
                note, made = build_note(describe(TEXT))
                with pytest.raises(ModelRefusedError, match=reason):
                    run_bare(model, [note])
                assert (made, len(server.bodies)) == ([], 1)
