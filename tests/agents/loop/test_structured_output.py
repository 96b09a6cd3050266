"""A server that accepts no JSON schema is asked without one, and only once with it."""

from __future__ import annotations

import asyncio
import json

import pytest
from pydantic import BaseModel, RootModel

from agents import ExecutionAgent, ModelRefusedError, MonitoringAgent, PlanningAgent, TransportRetry
from tests.fakes.protocol_server import ModelReply, Protocol, encode, serve_protocol, write_stream

ONCE = TransportRetry(max_attempts=1)
NO_SCHEMA = "This response_format type is unavailable now"
MET = 'Here you go:\n```json\n{"success": true, "feedback": "met"}\n```'
REFUSALS = [
    (400, NO_SCHEMA),
    (400, "This model does not support response format `json_schema`. See the documentation."),
    (422, "[{'loc': ['body', 'response_format'], 'msg': 'Extra inputs are not permitted'}]"),
    (501, "guided_json is not implemented"),
]
OTHERS = [
    (400, "The response was filtered by the content management policy"),
    (401, "the key is not supported for response_format"),
    (404, "no model that supports response_format"),
]


async def judge(agent: MonitoringAgent, awaited: bool = True) -> dict[str, object]:
    if awaited:
        return dict(await agent.aevaluate("objective", "output"))
    return dict(await asyncio.to_thread(agent.evaluate, "objective", "output"))


def constrained(chat_server) -> list[bool]:
    return ["response_format" in request for request in chat_server.requests]


both_entries = pytest.mark.parametrize("awaited", [False, True], ids=["evaluate", "aevaluate"])


@both_entries
@pytest.mark.parametrize(("status", "message"), REFUSALS)
async def test_a_server_that_refuses_the_schema_is_asked_again_without_it(
    chat_server, awaited, status, message
):
    chat_server.will_refuse(message, status)
    chat_server.will_say(MET)
    verdict = await judge(MonitoringAgent(chat_server.model(), transport_retry=ONCE), awaited)
    assert verdict == {"success": True, "feedback": "met"}
    assert constrained(chat_server) == [True, False]


@both_entries
async def test_it_is_not_asked_with_the_schema_again_by_any_agent(chat_server, awaited):
    chat_server.will_refuse(NO_SCHEMA)
    chat_server.will_say(MET)
    model = chat_server.model()
    for _ in range(2):
        await judge(MonitoringAgent(model), awaited)
    PlanningAgent(model).generate_plan("task")
    assert constrained(chat_server) == [True, False, False, False]


@both_entries
@pytest.mark.parametrize(("status", "message"), OTHERS)
async def test_another_refusal_is_final(chat_server, awaited, status, message):
    chat_server.will_refuse(message, status)
    with pytest.raises(ModelRefusedError):
        await judge(MonitoringAgent(chat_server.model()), awaited)
    assert constrained(chat_server) == [True]


@both_entries
@pytest.mark.parametrize("message", ["the model is not loaded", "messages must not be empty"])
async def test_a_request_that_is_refused_without_the_schema_too_is_not_sent_again(
    chat_server, awaited, message
):
    chat_server.will_refuse(message)
    with pytest.raises(ModelRefusedError, match=message):
        await judge(MonitoringAgent(chat_server.model()), awaited)
    assert constrained(chat_server) == [True, False]


class Part(BaseModel):
    """A part of a machine, with its own parts."""

    name: str
    parts: list[Part] = []


class Machine(BaseModel):
    """A type with a recursive one within."""

    whole: Part


def list_sent(protocol: Protocol, kind: type[BaseModel]) -> list[object]:
    with serve_protocol(lambda _: encode(write_stream(protocol, ModelReply("{}")))) as server:
        options = {"streaming": True} if protocol == "openai" else {}
        agent = ExecutionAgent(server.model(protocol, **options))
        agent.execute_step("x", schema=kind.model_json_schema())
    body = server.bodies[0]
    return [body[name] for name in ("response_format", "format") if name in body]


def test_the_schema_of_a_recursive_type_is_sent(subtests):
    for protocol in ["openai", "ollama"]:
        for kind in [Part, Machine]:
            with subtests.test(protocol=protocol, kind=kind):
                assert '{"$ref": "#/$defs/Part"}' in json.dumps(list_sent(protocol, kind))


def test_a_schema_that_langchain_cannot_send_stays_in_the_prompt():
    assert list_sent("openai", RootModel[list[int]]) == []
    assert len(list_sent("ollama", RootModel[list[int]])) == 1
