from __future__ import annotations

import json
from contextlib import nullcontext

import pytest
from pydantic import BaseModel, RootModel

from agents import ExecutionAgent, ModelRefusedError, MonitoringAgent, PlanningAgent, TransportRetry
from tests.fakes.protocol_server import ModelReply, Protocol, ProtocolServer, refuse, serve_model

ONCE = TransportRetry(max_attempts=1)
NO_SCHEMA = "This response_format type is unavailable now"
MET = 'Here you go:\n```json\n{"success": true, "feedback": "met"}\n```'
REFUSALS = [
    ("openai", 400, NO_SCHEMA),
    ("openai", 400, "This model does not support response format `json_schema`. See the documentation."),
    ("openai", 422, "[{'loc': ['body', 'response_format'], 'msg': 'Extra inputs are not permitted'}]"),
    ("openai", 501, "guided_json is not implemented"),
    ("ollama", 422, "format: Input should be 'json'"),
    ("ollama", 400, "json: cannot unmarshal object into Go struct field ChatRequest.format of type string"),
    ("ollama", 501, "not implemented"),
]
OTHERS = [
    ("openai", 400, "The response was filtered by the content management policy"),
    ("openai", 401, "the key is not supported for response_format"),
    ("openai", 404, "no model that supports response_format"),
]
REFUSED_ALIKE = [("openai", 400, "the model is not loaded"), ("openai", 400, "messages must not be empty")]
"""Refused with the schema and without it."""


def list_constrained(server: ProtocolServer) -> list[bool]:
    return ["response_format" in body or "format" in body for body in server.bodies]


async def test_a_server_that_refuses_the_schema_is_asked_once_more_without_it(subtests, call_either):
    for (protocol, status, message), answers, constrained in [
        *((each, [ModelReply(MET)], [True, False]) for each in REFUSALS),
        *((each, [], [True]) for each in OTHERS),
        *((each, [], [True, False]) for each in REFUSED_ALIKE),
    ]:
        served = serve_model(refuse(message, status), *answers, protocol=protocol)
        with subtests.test(message), served as (model, server):
            agent = MonitoringAgent(model, transport_retry=ONCE)
            with nullcontext() if answers else pytest.raises(ModelRefusedError):
                verdict = await call_either(agent, "evaluate", "objective", "output")
                assert verdict == {"success": True, "feedback": "met"}
            assert list_constrained(server) == constrained


@pytest.mark.parametrize("protocol", ["openai", "ollama"])
async def test_it_is_not_asked_with_the_schema_again_by_any_agent(protocol):
    with serve_model(refuse(NO_SCHEMA), ModelReply(MET), protocol=protocol) as (model, server):
        MonitoringAgent(model).evaluate("objective", "output")
        await MonitoringAgent(model).aevaluate("objective", "output")
        PlanningAgent(model).generate_plan("task")
    assert list_constrained(server) == [True, False, False, False]


class Part(BaseModel):
    """A part of a machine, with its own parts."""

    name: str
    parts: list[Part] = []


class Machine(BaseModel):
    """A type with a recursive one within."""

    whole: Part


def list_sent(protocol: Protocol, kind: type[BaseModel]) -> list[object]:
    with serve_model(ModelReply("{}"), protocol=protocol, streaming=True) as (model, server):
        ExecutionAgent(model).execute_step("x", schema=kind.model_json_schema())
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
