from __future__ import annotations

import json

import pytest
from langchain_openai import AzureChatOpenAI, ChatOpenAI

from agents import ExecutionAgent, ModelRefusedError, ModelUnavailableError, TransportRetry
from agents.models.openai_replies import BROKEN
from agents.models.whole_replies import check_replies
from tests.agents.agent_runs import run_bare, run_executor
from tests.fakes.protocol_server import (
    PROTOCOLS,
    ModelReply,
    Protocol,
    encode,
    serve_model,
    write_body,
    write_stream,
)

AT_ONCE = TransportRetry(max_attempts=2, initial_seconds=0)


def look(query: str = "") -> str:
    """Look something up."""
    return f"found {query}"


@pytest.mark.parametrize("name", [None, ""])
def test_a_call_without_a_name_is_told_with_its_arguments(subtests, name):
    nameless = ModelReply(calls=[(name, {"query": "boots"})], reason="tool_calls")
    for protocol, streams in [("openai", False), *((each, True) for each in PROTOCOLS)]:
        for run in [run_bare, run_executor]:
            served = serve_model(nameless, DONE, protocol=protocol, streaming=streams)
            with subtests.test(protocol=protocol, streams=streams), served as (model, server):
                assert run(model, [look]) == "done"
                told = json.dumps(server.bodies[1]["messages"][-1]["content"])
                assert "names no tool" in told
                assert "boots" in told


DONE = ModelReply("done")
ODD = [["boots"], "boots", 5, None, [], True]


def test_a_broken_call_of_ollama_keeps_its_name_and_its_arguments(subtests):
    for arguments in ODD:
        broken = ModelReply(calls=[("look", arguments)], reason="tool_calls")
        served = serve_model(broken, DONE, protocol="ollama")
        with subtests.test(arguments=arguments), served as (model, server):
            assert run_bare(model, [look]) == "done"
            called, told = server.bodies[1]["messages"][-2:]
            assert called["tool_calls"][0]["function"]["name"] == "look"
            assert json.dumps(arguments) in told["content"]


@pytest.mark.parametrize("run", [run_bare, run_executor])
def test_a_broken_call_of_anthropic_keeps_its_name_beside_a_whole_one(subtests, run):
    for arguments in ODD:
        calling = ModelReply("I look.", [("look", arguments), ("look", {"query": "hats"})], "tool_calls")
        served = serve_model(calling, DONE, protocol="anthropic", streaming=True)
        with subtests.test(arguments=arguments), served as (model, server):
            assert run(model, [look]) == "done"
            called, told = (message["content"] for message in server.bodies[1]["messages"][-2:])
            assert [each.get("name") for each in called] == [None, "look", "look"]
            assert all(isinstance(each["input"], dict) and BROKEN not in each["input"] for each in called[1:])
            assert [each["tool_use_id"] for each in told] == ["c0", "c1"]
            answers = json.dumps(told)
            assert ("not valid JSON" in answers, "found hats" in answers) == (True, True)


def write_huge(protocol: Protocol, field: str) -> bytes:
    huge, marker = "x" * 20_000_001, "HUGE"
    replies = {
        "text": ModelReply(marker),
        "arguments": ModelReply(calls=[("look", {"query": marker})], reason="tool_calls"),
        "thoughts": ModelReply("done", more={"reasoning_content": marker}),
    }
    parts = b"".join(write_stream(protocol, replies[field]))
    return encode(parts.replace(marker.encode(), huge.encode()))


def test_a_reply_without_an_end_is_an_error_whatever_it_has(subtests):
    for protocol, field in [("openai", "text"), ("openai", "thoughts"), ("ollama", "arguments")]:
        served = serve_model(write_huge(protocol, field), protocol=protocol, streaming=True)
        told = pytest.raises(ModelUnavailableError, match="more than 20,000,000 characters")
        with subtests.test(protocol=protocol, field=field), served as (model, _), told:
            ExecutionAgent(model, [look], transport_retry=AT_ONCE).execute_step("s")


def test_a_turn_that_anthropic_paused_goes_on(subtests):
    for streaming in [False, True]:
        paused = ModelReply("I look", reason="pause_turn")
        served = serve_model(paused, DONE, protocol="anthropic", streaming=streaming)
        with subtests.test(streaming=streaming), served as (model, server):
            assert run_bare(model, [look]) == "done"
            assert "I look" in json.dumps(server.bodies[1]["messages"])


KEYS = {"a known form": "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "the key of the model": "a1-own-key"}


@pytest.mark.parametrize("run", [run_bare, run_executor])
@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_no_key_stands_in_an_error_of_an_agent_with_tools(subtests, protocol, run):
    for label, key in KEYS.items():
        for status in [401, 400, 500]:
            answer = encode({"error": {"message": f"bad key {key}", "type": "x"}}, status)
            served = serve_model(answer, protocol=protocol, api_key=KEYS["the key of the model"])
            with subtests.test(label, status=status), served as (model, _):
                with pytest.raises(Exception, match="bad key") as raised:
                    run(model, [look])
                assert key not in f"{raised.value} {raised.value!r}"


def test_odd_answers_write_no_warning(subtests):
    body = write_body("openai", ModelReply("done"))
    odd = [
        {**body, "created": "today", "usage": None},
        {**body, "object": 5, "model": None},
        {**body, "choices": [{**body["choices"][0], "finish_reason": "eos", "index": "0"}]},
    ]
    for answer in odd:
        event = json.loads(json.dumps(answer).replace('"message"', '"delta"'))
        stream = encode([f"data: {json.dumps(event)}\n\n".encode(), b"data: [DONE]\n\n"])
        for streams, sent in [(False, encode(answer)), (True, stream)]:
            served = serve_model(sent, streaming=streams)
            with subtests.test(answer=answer, streams=streams), served as (model, _):
                # A warning fails each test.
                assert model.invoke("x").text == "done"


async def test_the_clients_of_a_user_are_asked_at_their_own_address(subtests):
    for streams in [False, True]:
        with serve_model(DONE, streaming=streams) as (_, server):
            own = ChatOpenAI(model="m", base_url=f"{server.url}/v1", api_key="none")
            clients = {"client": own.client, "async_client": own.async_client}
            azure = {"azure_endpoint": server.url, "api_version": "2024-10-21", "api_key": "none"}
            for model, path in [
                (ChatOpenAI(model="m", api_key="none", **clients), "/v1/chat"),
                (AzureChatOpenAI(azure_deployment="d", **azure), "/openai/deployments/d/chat"),
                (AzureChatOpenAI(model="m", **azure), "/openai/deployments/m/chat"),
            ]:
                with subtests.test(path=path, streams=streams):
                    model.streaming = streams
                    checked = check_replies(model)
                    assert (checked.invoke("x").text, (await checked.ainvoke("x")).text) == ("done", "done")
                    assert [each.startswith(path) for each in server.paths[-2:]] == [True, True]


CALL = {"type": "function", "function": {"name": "look", "arguments": '{"query": "boots"}'}}
ODD_CALLS = {
    "without an index": [[{**CALL, "id": "a"}], [{**CALL, "id": "b"}]],
    "two without an index in a piece": [[{**CALL, "id": "a"}, {**CALL, "id": "b"}]],
    "two with one index": [[{**CALL, "id": "a", "index": 0}], [{**CALL, "id": "b", "index": 0}]],
    "arguments as an object": [[{
        "id": each, "index": 0, "function": {"name": "look", "arguments": {"query": "boots"}}
    }] for each in "ab"],
}  # fmt: skip


def test_streamed_calls_in_an_odd_form_are_made(subtests):
    for label, pieces in ODD_CALLS.items():
        deltas = [({"tool_calls": calls}, None) for calls in pieces] + [({}, "tool_calls")]
        chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": end}]} for delta, end in deltas]
        events = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks] + [b"data: [DONE]\n\n"]
        with subtests.test(label), serve_model(encode(events), DONE, streaming=True) as (model, server):
            assert run_bare(model, [look]) == "done"
            told = [each["content"] for each in server.bodies[1]["messages"] if each["role"] == "tool"]
            assert told == ["found boots", "found boots"]


def test_another_answer_is_not_read(subtests):
    said, called = {"content": "done"}, {"content": None, "tool_calls": [{**CALL, "id": "a"}]}
    for label, messages, indices in [
        ("another answer first", [{"content": "late"}, said], [1, 0]),
        ("a call of another answer", [said, called], [0, 1]),
        ("a refusal of another answer", [said, {"content": None, "refusal": "I cannot."}], [0, 1]),
    ]:
        choices = [
            {
                "index": index,
                "message": message,
                "finish_reason": "tool_calls" if message is called else "stop",
            }
            for message, index in zip(messages, indices, strict=True)
        ]
        first = encode({**write_body("openai", ModelReply()), "choices": choices})
        with subtests.test(label), serve_model(first, DONE) as (model, server):
            assert run_bare(model, [look]) == "done"
            assert "tool" not in [each["role"] for each in server.bodies[-1]["messages"]]


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
@pytest.mark.parametrize("streaming", [False, True])
def test_the_last_call_before_the_limit_of_tokens_is_not_made_though_the_server_ended_it(protocol, streaming):
    calls = [("look", {"query": "boots"}), ("look", {"query": "hats"})]
    cut = ModelReply("", calls, "length")
    with serve_model(cut, DONE, protocol=protocol, streaming=streaming) as (model, server):
        assert run_bare(model, [look]) == "done"
    told = json.dumps(server.bodies[1]["messages"])
    assert ("found boots" in told, "found hats" in told) == (True, False)
    assert "under way at the limit of tokens" in told


REFUSED = {"code": "tool_use_failed", "type": "invalid_request_error", "message": "Failed to call it."}


def test_a_refusal_of_what_the_model_wrote_is_asked_for_again_and_told_with_it():
    refusal = encode({"error": {**REFUSED, "failed_generation": "<function=look>"}}, 400)
    answers = refusal, DONE, refusal, refusal, encode({"error": REFUSED}, 400)
    with serve_model(*answers) as (model, _):
        agent = ExecutionAgent(model, [look], transport_retry=AT_ONCE)
        assert agent.execute_step("s") == "done"
        with pytest.raises(ModelUnavailableError, match=r"Failed to call it.*<function=look>"):
            agent.execute_step("s")
        with pytest.raises(ModelRefusedError, match="calls: 1"):
            agent.execute_step("s")
