"""Calls without a name, broken calls, replies beyond any size, and keys in errors."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_openai import AzureChatOpenAI, ChatOpenAI

from agents import (
    EffectsMiddleware,
    ExecutionAgent,
    ModelRefusedError,
    ModelUnavailableError,
    TransportRetry,
    load_model,
)
from agents.models.openai_replies import BROKEN
from agents.models.whole_replies import check_replies
from tests.fakes.protocol_server import (
    ModelReply,
    Protocol,
    encode,
    serve_in_turn,
    serve_protocol,
    write_body,
    write_stream,
)

AT_ONCE = TransportRetry(max_attempts=2, initial_seconds=0)


def look(query: str = "") -> str:
    """Look something up."""
    return f"found {query}"


def run_bare(model: BaseChatModel) -> str:
    agent = create_agent(model, [look], middleware=[EffectsMiddleware()])
    return agent.invoke({"messages": [("user", "s")]})["messages"][-1].text


NAMELESS: Sequence[tuple[Protocol, bool]] = [
    ("openai", False), ("openai", True), ("ollama", True), ("anthropic", True),
]  # fmt: skip


@pytest.mark.parametrize("name", [None, ""])
def test_a_call_without_a_name_is_told_with_its_arguments(subtests, name):
    for protocol, streams in NAMELESS:
        for run in [run_bare, lambda model: ExecutionAgent(model, [look]).execute_step("s")]:
            write = write_stream if streams else write_body
            replies = [
                ModelReply(calls=[(name, {"query": "boots"})], reason="tool_calls"),
                ModelReply("done"),
            ]
            left = [encode(write(protocol, each)) for each in replies]
            with subtests.test(protocol=protocol, streams=streams), serve_in_turn(*left) as server:
                options = {} if protocol == "ollama" else {"streaming": streams}
                assert run(server.model(protocol, **options)) == "done"
                told = json.dumps(server.bodies[1]["messages"][-1]["content"])
                assert "names no tool" in told
                assert "boots" in told


ODD = [["boots"], "boots", 5, None, [], True]


def test_a_broken_call_of_ollama_keeps_its_name_and_its_arguments(subtests):
    for arguments in ODD:
        replies = [ModelReply(calls=[("look", arguments)], reason="tool_calls"), ModelReply("done")]
        left = [encode(write_stream("ollama", each)) for each in replies]
        with subtests.test(arguments=arguments), serve_in_turn(*left) as server:
            assert run_bare(server.model("ollama")) == "done"
            called, told = server.bodies[1]["messages"][-2:]
            assert called["tool_calls"][0]["function"]["name"] == "look"
            assert json.dumps(arguments) in told["content"]


@pytest.mark.parametrize("run", [run_bare, lambda model: ExecutionAgent(model, [look]).execute_step("s")])
def test_a_broken_call_of_anthropic_keeps_its_name_beside_a_whole_one(subtests, run):
    for arguments in ODD:
        calls = [("look", arguments), ("look", {"query": "hats"})]
        replies = [ModelReply("I look.", calls, "tool_calls"), ModelReply("done")]
        left = [encode(write_stream("anthropic", each)) for each in replies]
        with subtests.test(arguments=arguments), serve_in_turn(*left) as server:
            assert run(server.model("anthropic", streaming=True)) == "done"
            called, told = (message["content"] for message in server.bodies[1]["messages"][-2:])
            assert [each.get("name") for each in called] == [None, "look", "look"]
            assert all(isinstance(each["input"], dict) and BROKEN not in each["input"] for each in called[1:])
            assert [each["tool_use_id"] for each in told] == ["c0", "c1"]
            answers = json.dumps(told)
            assert ("not valid JSON" in answers, "found hats" in answers) == (True, True)


def write_huge(protocol: Protocol, field: str) -> bytes:
    """Writes a reply of which one part has more characters than any model writes."""
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
        answer = write_huge(protocol, field)
        with subtests.test(protocol=protocol, field=field), serve_protocol(lambda _, a=answer: a) as server:
            model = server.model(protocol, **({} if protocol == "ollama" else {"streaming": True}))
            with pytest.raises(ModelUnavailableError, match="more than 20,000,000 characters"):
                ExecutionAgent(model, [look], transport_retry=AT_ONCE).execute_step("s")


def test_a_turn_that_anthropic_paused_goes_on(subtests):
    for write in [write_body, write_stream]:
        paused, done = ModelReply("I look", reason="pause_turn"), ModelReply("done")
        left = [encode(write("anthropic", each)) for each in (paused, done)]
        with subtests.test(write=write.__name__), serve_in_turn(*left) as server:
            assert run_bare(server.model("anthropic", streaming=write is write_stream)) == "done"
            assert "I look" in json.dumps(server.bodies[1]["messages"])


KEYS = {"a known form": "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "the key of the model": "a1-own-key"}


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_no_key_stands_in_an_error_of_a_bare_agent(subtests, protocol):
    for label, key in KEYS.items():
        for status in [401, 400, 500]:
            answer = encode({"error": {"message": f"bad key {key}", "type": "x"}}, status)
            with subtests.test(label, status=status), serve_protocol(lambda _, a=answer: a) as server:
                base = server.url + ("/v1" if protocol == "openai" else "")
                model = load_model(f"{protocol}:m", base_url=base, api_key=KEYS["the key of the model"])
                with pytest.raises(Exception, match="bad key") as raised:
                    run_bare(model)
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
            with (
                subtests.test(answer=answer, streams=streams),
                serve_protocol(lambda _, sent=sent: sent) as server,
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("error")
                assert server.model("openai", streaming=streams).invoke("x").text == "done"


async def test_the_clients_of_a_user_are_asked_at_their_own_address(subtests):
    for streams in [False, True]:
        write = write_stream if streams else write_body
        with serve_protocol(lambda _, write=write: encode(write("openai", ModelReply("done")))) as server:
            own = ChatOpenAI(model="m", base_url=f"{server.url}/v1", api_key="none")
            azure = {"azure_endpoint": server.url, "api_version": "2024-10-21", "api_key": "none"}
            for model, path in [
                (
                    ChatOpenAI(model="m", client=own.client, async_client=own.async_client, api_key="none"),
                    "/v1/chat",
                ),
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
        left = [encode(events), encode(write_stream("openai", ModelReply("done")))]
        with subtests.test(label), serve_in_turn(*left) as server:
            assert run_bare(server.model("openai", streaming=True)) == "done"
            told = [each["content"] for each in server.bodies[1]["messages"] if each["role"] == "tool"]
            assert told == ["found boots", "found boots"]


def write_choices(*messages: dict[str, object], reasons: Sequence[str], indices: Sequence[int]) -> bytes:
    rows = zip(messages, reasons, indices, strict=True)
    choices = [
        {"index": index, "message": message, "finish_reason": reason} for message, reason, index in rows
    ]
    return encode({**write_body("openai", ModelReply()), "choices": choices})


def test_another_answer_is_not_read(subtests):
    said, called = {"content": "done"}, {"content": None, "tool_calls": [{**CALL, "id": "a"}]}
    refused = {"content": None, "refusal": "I cannot."}
    for label, messages, reasons, indices, found in [
        ("another answer first", ({"content": "late"}, said), ["stop"] * 2, [1, 0], []),
        ("a call of another answer", (said, called), ["stop", "tool_calls"], [0, 1], []),
        ("a refusal of another answer", (said, refused), ["stop"] * 2, [0, 1], []),
    ]:
        first = write_choices(*messages, reasons=reasons, indices=indices)
        left = [first, encode(write_body("openai", ModelReply("done")))]
        with subtests.test(label), serve_in_turn(*left) as server:
            assert run_bare(server.model("openai")) == "done"
            told = [each["content"] for each in server.bodies[-1]["messages"] if each["role"] == "tool"]
            assert [part in text for part, text in zip(found, told, strict=True)] == [True] * len(found)


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
@pytest.mark.parametrize("write", [write_body, write_stream])
def test_the_last_call_before_the_limit_of_tokens_is_not_made_though_a_server_completed_it(protocol, write):
    calls = [("look", {"query": "boots"}), ("look", {"query": "hats"})]
    left = [encode(write(protocol, each)) for each in (ModelReply("", calls, "length"), ModelReply("done"))]
    with serve_in_turn(*left) as server:
        assert run_bare(server.model(protocol, streaming=write is write_stream)) == "done"
    told = json.dumps(server.bodies[1]["messages"])
    assert ("found boots" in told, "found hats" in told) == (True, False)
    assert "under way at the limit of tokens" in told


REFUSED = {
    "code": "tool_use_failed",
    "type": "invalid_request_error",
    "message": "Failed to call it.",
}


def test_a_refusal_of_what_the_model_wrote_is_asked_for_again_and_told_with_it():
    refusal = encode({"error": {**REFUSED, "failed_generation": "<function=look>"}}, 400)
    left = [refusal, encode(write_body("openai", ModelReply("done")))]
    with serve_protocol(lambda _: left.pop(0) if len(left) > 1 else left[0]) as server:
        agent = ExecutionAgent(server.model("openai"), [look], transport_retry=AT_ONCE)
        assert agent.execute_step("s") == "done"
        left[:] = [refusal]
        with pytest.raises(ModelUnavailableError, match=r"Failed to call it.*<function=look>"):
            agent.execute_step("s")
        left[:] = [encode({"error": REFUSED}, 400)]
        with pytest.raises(ModelRefusedError, match="calls: 1"):
            agent.execute_step("s")
