from __future__ import annotations

import json

import pytest

from agents import BaseAgent, ModelRefusedError, ModelUnavailableError
from agents.models.whole_replies import check_replies
from tests.agents.agent_runs import run_bare
from tests.agents.models.test_odd_replies import AT_ONCE, look
from tests.fakes.protocol_server import encode, serve_model

RESPONSE: dict[str, object] = {
    "id": "r", "object": "response", "created_at": 1, "model": "m", "output": [], "status": "in_progress",
    "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
}  # fmt: skip


def write_events(*events: dict[str, object]) -> bytes:
    begun = {"type": "response.created", "response": RESPONSE}
    numbered = [{**each, "sequence_number": at} for at, each in enumerate([begun, *events])]
    return encode([f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode() for each in numbered])


def fail(code: str) -> dict[str, object]:
    return {**RESPONSE, "status": "failed", "error": {"code": code, "message": "the words"}}


def write_failures(code: str) -> dict[str, bytes]:
    error = {"type": "error", "code": code, "message": "the words", "param": None}
    return {
        "an event": write_events(error),
        "an event without its name": encode([f"data: {json.dumps(error)}\n\n".encode()]),
        "an error in an event": encode([b'data: {"error": {"code": "%s", "message": "the words"}}\n\n'
                                        % code.encode()]),
        "a failed response": write_events({"type": "response.failed", "response": fail(code)}),
        "a body": encode(fail(code)),
    }  # fmt: skip


@pytest.mark.parametrize("is_raw", [False, True])
async def test_an_error_of_the_responses_api_is_told_in_its_words(subtests, call_either, is_raw):
    for code, error, requests in [
        ("server_error", ModelUnavailableError, 2),
        ("rate_limit_exceeded", ModelUnavailableError, 2),
        ("invalid_prompt", ModelRefusedError, 1),
    ]:
        for form, answer in write_failures(code).items():
            options = {"streaming": form != "a body", "include_response_headers": is_raw}
            served = serve_model(answer, use_responses_api=True, **options)
            with subtests.test(code=code, form=form), served as (model, server):
                agent = BaseAgent(model, transport_retry=AT_ONCE)
                with pytest.raises(error, match="the words"):
                    await call_either(agent, "invoke", "x")
                assert len(server.bodies) == requests


def write_call_item(arguments: object, status: str = "completed", **more: object) -> dict[str, object]:
    call = {"type": "function_call", "id": "f", "call_id": "c", "name": "look", "arguments": arguments}
    return {**RESPONSE, "status": status, "output": [{**call, "status": status}], **more}


DONE = encode({**RESPONSE, "status": "completed", "output": [{
    "type": "message", "id": "m", "role": "assistant",
    "content": [{"type": "output_text", "text": "done", "annotations": []}],
}]})  # fmt: skip
AT_LIMIT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


def test_a_broken_call_of_the_responses_api_keeps_its_name(subtests):
    for arguments, more, told in [
        ('{"query": "a", "query": "b"}', {}, "each key once"),
        ('{"query": [NaN]}', {}, "each key once"),
        ('{"query": "bo', AT_LIMIT, "Unterminated string"),
        ('{"query": "boots"}', AT_LIMIT, "limit of tokens"),
    ]:
        called = encode(write_call_item(arguments, **more))
        served = serve_model(called, DONE, use_responses_api=True)
        with subtests.test(arguments=arguments), served as (model, server):
            assert run_bare(model, [look]) == "done"
            called, answer = server.bodies[1]["input"][-2:]
            assert (called["name"], answer["call_id"]) == ("look", "c")
            assert isinstance(json.loads(called["arguments"]), dict)
            assert told in answer["output"]


def test_a_seed_is_not_sent():
    with serve_model(DONE, use_responses_api=True, seed=7) as (model, server):
        assert check_replies(model).invoke("s").text == "done"
        assert "seed" not in server.bodies[0]
