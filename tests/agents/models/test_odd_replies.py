"""Errors of OpenAI's Responses API, calls without a name, replies beyond any size, and keys in errors."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from contextlib import nullcontext

import pytest
from langchain.agents import create_agent
from langchain_core.exceptions import ModelConnectionError
from langchain_core.language_models import BaseChatModel
from langchain_openai import AzureChatOpenAI, ChatOpenAI

from agents import (
    BaseAgent,
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
    serve_protocol,
    write_body,
    write_stream,
)

AT_ONCE = TransportRetry(max_attempts=2, initial_seconds=0)
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


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize("is_raw", [False, True])
async def test_an_error_of_the_responses_api_is_told_in_its_words(subtests, awaited, is_raw):
    for code, error, requests in [
        ("server_error", ModelUnavailableError, 2),
        ("rate_limit_exceeded", ModelUnavailableError, 2),
        ("invalid_prompt", ModelRefusedError, 1),
    ]:
        for form, answer in write_failures(code).items():
            with (
                subtests.test(code=code, form=form),
                serve_protocol(lambda _, answer=answer: answer) as server,
            ):
                model = server.model(
                    "openai", use_responses_api=True, streaming=form != "a body",
                    include_response_headers=is_raw,
                )  # fmt: skip
                agent = BaseAgent(model, transport_retry=AT_ONCE)
                with pytest.raises(error, match="the words"):
                    await agent.ainvoke("x") if awaited else agent.invoke("x")
                assert len(server.bodies) == requests


def look(query: str = "") -> str:
    """Look something up."""
    return f"found {query}"


def run_bare(model: BaseChatModel) -> str:
    agent = create_agent(model, [look], middleware=[EffectsMiddleware()])
    return agent.invoke({"messages": [("user", "s")]})["messages"][-1].text


NAMELESS: Sequence[tuple[Protocol, bool]] = [
    ("openai", False), ("openai", True), ("ollama", True), ("anthropic", False), ("anthropic", True),
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
            with (
                subtests.test(protocol=protocol, streams=streams),
                serve_protocol(lambda _, left=left: left.pop(0)) as server,
            ):
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
        with subtests.test(arguments=arguments), serve_protocol(lambda _, left=left: left.pop(0)) as server:
            assert run_bare(server.model("ollama")) == "done"
            called, told = server.bodies[1]["messages"][-2:]
            assert called["tool_calls"][0]["function"]["name"] == "look"
            assert json.dumps(arguments) in told["content"]


@pytest.mark.parametrize("run", [run_bare, lambda model: ExecutionAgent(model, [look]).execute_step("s")])
@pytest.mark.parametrize("write", [write_body, write_stream])
def test_a_broken_call_of_anthropic_keeps_its_name_beside_a_whole_one(subtests, run, write):
    for arguments in ODD:
        calls = [("look", arguments), ("look", {"query": "hats"})]
        replies = [ModelReply("I look.", calls, "tool_calls"), ModelReply("done")]
        left = [encode(write("anthropic", each)) for each in replies]
        with subtests.test(arguments=arguments), serve_protocol(lambda _, left=left: left.pop(0)) as server:
            assert run(server.model("anthropic", streaming=write is write_stream)) == "done"
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
        with subtests.test(write=write.__name__), serve_protocol(lambda _, left=left: left.pop(0)) as server:
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
        with subtests.test(label), serve_protocol(lambda _, left=left: left.pop(0)) as server:
            assert run_bare(server.model("openai", streaming=True)) == "done"
            told = [each["content"] for each in server.bodies[1]["messages"] if each["role"] == "tool"]
            assert told == ["found boots", "found boots"]


def write_choices(*messages: dict[str, object], reasons: Sequence[str], indices: Sequence[int]) -> bytes:
    rows = zip(messages, reasons, indices, strict=True)
    choices = [
        {"index": index, "message": message, "finish_reason": reason} for message, reason, index in rows
    ]
    return encode({**write_body("openai", ModelReply()), "choices": choices})


def test_an_answer_in_two_choices_is_read_as_one_and_another_answer_is_not_read(subtests):
    said, called = {"content": "done"}, {"content": None, "tool_calls": [{**CALL, "id": "a"}]}
    refused = {"content": None, "refusal": "I cannot."}
    for label, messages, reasons, indices, found in [
        ("a call behind its text", (said, called), ["tool_calls"] * 2, [0, 0], ["found boots"]),
        ("a call at its limit", (said, called), ["tool_calls", "length"], [0, 0], ["under way at the limit"]),
        ("another answer first", ({"content": "late"}, said), ["stop"] * 2, [1, 0], []),
        ("a call of another answer", (said, called), ["stop", "tool_calls"], [0, 1], []),
        ("a refusal of another answer", (said, refused), ["stop"] * 2, [0, 1], []),
    ]:
        first = write_choices(*messages, reasons=reasons, indices=indices)
        left = [first, encode(write_body("openai", ModelReply("done")))]
        with subtests.test(label), serve_protocol(lambda _, left=left: left.pop(0)) as server:
            assert run_bare(server.model("openai")) == "done"
            told = [each["content"] for each in server.bodies[-1]["messages"] if each["role"] == "tool"]
            assert [part in text for part, text in zip(found, told, strict=True)] == [True] * len(found)
    answer = write_choices(said, refused, reasons=["stop"] * 2, indices=[0, 0])
    with serve_protocol(lambda _: answer) as server, pytest.raises(ModelRefusedError, match="I cannot"):
        run_bare(server.model("openai"))


def write_call_item(arguments: object, status: str = "completed", **more: object) -> dict[str, object]:
    call = {"type": "function_call", "id": "f", "call_id": "c", "name": "look", "arguments": arguments}
    return {**RESPONSE, "status": status, "output": [{**call, "status": status}], **more}


AT_LIMIT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


def test_a_broken_call_of_the_responses_api_keeps_its_name(subtests):
    for arguments, more, told in [
        ('["boots"]', {}, '["boots"]'),
        ('"boots"', {}, "not valid JSON"),
        (["boots"], {}, '["boots"]'),
        ('{"query": "a", "query": "b"}', {}, "each key once"),
        ('{"query": "bo', AT_LIMIT, "not valid JSON"),
        ('{"query": "boots"}', AT_LIMIT, "limit of tokens"),
    ]:
        text = {"type": "output_text", "text": "done", "annotations": []}
        message = {"type": "message", "id": "m", "role": "assistant", "content": [text]}
        done = {**RESPONSE, "status": "completed", "output": [message]}
        left = [encode(write_call_item(arguments, **more)), encode(done)]
        with subtests.test(arguments=arguments), serve_protocol(lambda _, left=left: left.pop(0)) as server:
            assert run_bare(server.model("openai", use_responses_api=True)) == "done"
            called, answer = server.bodies[1]["input"][-2:]
            assert (called["name"], answer["call_id"]) == ("look", "c")
            assert isinstance(json.loads(called["arguments"]), dict)
            assert told in answer["output"]


TEXT = {"type": "output_text", "text": "half", "annotations": []}
ITEMS = {
    "a call": {"type": "function_call", "id": "f", "call_id": "c", "name": "look", "arguments": "{}"},
    "a text": {"type": "message", "id": "m", "role": "assistant", "content": [TEXT]},
}


def test_a_response_with_an_item_that_is_incomplete_is_asked_for_again(subtests):
    for label, item in ITEMS.items():
        for status, is_whole in [("incomplete", False), ("completed", True)]:
            response = {**RESPONSE, "status": "completed", "output": [{**item, "status": status}]}
            done = {"output_index": 0, "item": {**item, "status": status}}
            stream = write_events(
                {"type": "response.output_item.added", **done},
                {"type": "response.output_item.done", **done},
                {"type": "response.completed", "response": response},
            )
            for streams, answer in [(False, encode(response)), (True, stream)]:
                with (
                    subtests.test(label, status=status, streams=streams),
                    serve_protocol(lambda _, answer=answer: answer) as server,
                    nullcontext() if is_whole else pytest.raises(ModelConnectionError, match="incomplete"),
                ):
                    server.model("openai", use_responses_api=True, streaming=streams).invoke("x")


def call_item(query: str, call_id: str | None, item_id: str) -> dict[str, object]:
    arguments = json.dumps({"query": query})
    return {
        "type": "function_call",
        "id": item_id,
        "call_id": call_id,
        "name": "look",
        "arguments": arguments,
    }


DOUBTFUL = {
    "one call_id": [call_item("boots", "c", "f1"), call_item("hats", "c", "f2")],
    "one id": [call_item("boots", "c1", "f"), call_item("hats", "c2", "f")],
    "the same ids": [call_item("boots", "c", "f"), call_item("hats", "c", "f")],
    "no call_id": [call_item("boots", None, "f1"), call_item("hats", None, "f2")],
}


def write_response(items: Sequence[dict[str, object]], *events: dict[str, object]) -> bytes:
    """Writes the items as a stream with the events, or without events as a body."""
    response = {**RESPONSE, "status": "completed", "output": items}
    ending = {"type": "response.completed", "response": response}
    return write_events(*events, ending) if events else encode(response)


def write_interleaved(items: Sequence[dict[str, object]], *, with_deltas: bool = True) -> bytes:
    """Writes calls whose arguments come in turn, or in their last event alone."""
    places = [{"output_index": at, "item_id": item["id"]} for at, item in enumerate(items)]
    parts = [str(item["arguments"]) for item in items]
    return write_response(
        items,
        *(
            {**place, "type": "response.output_item.added", "item": {**item, "arguments": ""}}
            for place, item in zip(places, items, strict=True)
        ),
        *(
            {**place, "type": "response.function_call_arguments.delta", "delta": part[half]}
            for half in (slice(5), slice(5, None)) if with_deltas
            for place, part in zip(places, parts, strict=True)
        ),
        *(
            {**place, "type": "response.output_item.done", "item": item}
            for place, item in zip(places, items, strict=True)
        ),
    )  # fmt: skip


WAYS = [write_response, write_interleaved, lambda items: write_interleaved(items, with_deltas=False)]


@pytest.mark.parametrize("write", WAYS, ids=["body", "interleaved", "whole"])
@pytest.mark.parametrize("label", DOUBTFUL)
def test_calls_of_the_responses_api_with_doubtful_ids_are_made_and_sent_back_with_one_answer_each(
    label, write
):
    said = {"output_index": 0, "content_index": 0, "item_id": "m", "delta": "done", "logprobs": []}
    told = [{**ITEMS["a text"], "content": [{**TEXT, "text": "done"}]}]
    is_stream = write is not write_response
    deltas = [{"type": "response.output_text.delta", **said}] if is_stream else []
    # The server gives the same ids in its second reply.
    items = [ITEMS["a text"], *DOUBTFUL[label]] if write is write_response else DOUBTFUL[label]
    left = [*[write(items)] * 2, write_response(told, *deltas)]
    with serve_protocol(lambda _: left.pop(0)) as server:
        assert run_bare(server.model("openai", use_responses_api=True, streaming=is_stream)) == "done"
    sent = server.bodies[2]["input"]
    calls = {each["call_id"]: each["arguments"] for each in sent if each["type"] == "function_call"}
    answers = {each["call_id"]: each["output"] for each in sent if each["type"] == "function_call_output"}
    assert [each["type"] for each in sent].count("function_call") == 4
    # The request, and the text of each reply in its place.
    assert [each["type"] for each in sent].count("message") == (1 if is_stream else 3)
    assert {call: f"found {json.loads(given)['query']}" for call, given in calls.items()} == answers
    ids = [each["id"] for each in sent if each.get("id")]
    assert len(ids) == len({*ids})


@pytest.mark.parametrize("write", [write_body, write_stream])
def test_calls_of_anthropic_with_one_id_are_made_and_sent_back_with_one_answer_each(subtests, write):
    calls = ModelReply("I look.", [("look", {"query": "boots"}), ("look", {"query": "hats"})], "tool_calls")
    for given in [b'"c0"', b"null"]:
        # The server gives the same ids in its second reply.
        first = encode(write("anthropic", calls)).replace(b'"c1"', given).replace(b'"c0"', given)
        left = [first, first, encode(write("anthropic", ModelReply("done")))]
        with subtests.test(given=given), serve_protocol(lambda _, left=left: left.pop(0)) as server:
            assert run_bare(server.model("anthropic", streaming=write is write_stream)) == "done"
            parts = [part for message in server.bodies[2]["messages"][1:] for part in message["content"]]
            made = [(part["id"], part["input"]["query"]) for part in parts if part["type"] == "tool_use"]
            told = {part["tool_use_id"]: part["content"] for part in parts if part["type"] == "tool_result"}
            assert len(made) == 4
            assert {call: f"found {query}" for call, query in made} == told


def test_a_commentary_with_the_id_of_the_answer_is_no_part_of_it(subtests):
    items = [
        {**ITEMS["a text"], "phase": phase, "content": [{**TEXT, "text": text}]}
        for phase, text in [("commentary", "I look."), ("final_answer", "done")]
    ]
    events = [
        {"output_index": at, "content_index": 0, **event}
        for at, item in enumerate(items)
        for event in (
            {"type": "response.output_item.added", "item": {**item, "content": []}},
            {
                "type": "response.output_text.delta", "item_id": "m", "logprobs": [],
                "delta": item["content"][0]["text"],
            },
            {"type": "response.output_item.done", "item": item},
        )
    ]  # fmt: skip
    for given in [[], events]:
        answer = write_response(items, *given)
        with subtests.test(streams=bool(given)), serve_protocol(lambda _, a=answer: a) as server:
            model = server.model("openai", use_responses_api=True, streaming=bool(given))
            assert ExecutionAgent(model).execute_step("s") == "done"


def test_a_streamed_call_without_its_end_is_asked_for_again(subtests):
    call = call_item("boots", "c", "f")
    begun = {"type": "response.output_item.added", "output_index": 0, "item": {**call, "arguments": ""}}
    said = {"type": "response.output_text.delta", "item_id": "m", "output_index": 1, "content_index": 0}
    for label, items, events in [
        ("begun", [], [begun]),
        ("in the last event alone", [call], [{**said, "delta": "done", "logprobs": []}]),
    ]:
        answer = write_response(items, *events)
        with subtests.test(label), serve_protocol(lambda _, answer=answer: answer) as server:
            model = server.model("openai", use_responses_api=True, streaming=True)
            with pytest.raises(ModelUnavailableError, match="its call was done"):
                ExecutionAgent(model, [look], transport_retry=AT_ONCE).execute_step("s")
            assert len(server.bodies) == 2


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
@pytest.mark.parametrize("write", [write_body, write_stream])
def test_the_last_call_before_the_limit_of_tokens_is_not_made_though_a_server_completed_it(protocol, write):
    calls = [("look", {"query": "boots"}), ("look", {"query": "hats"})]
    left = [encode(write(protocol, each)) for each in (ModelReply("", calls, "length"), ModelReply("done"))]
    with serve_protocol(lambda _: left.pop(0)) as server:
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


def test_the_words_of_another_service_are_told(subtests):
    for protocol, field in [("openai", "message"), ("anthropic", "message"), ("anthropic", "detail")]:
        answer = encode({field: "Welcome to CouchDB"})
        with (
            subtests.test(protocol=protocol, field=field),
            serve_protocol(lambda _, a=answer: a) as server,
            pytest.raises(ModelUnavailableError, match=f"{server.url}.*Welcome to CouchDB"),
        ):
            BaseAgent(server.model(protocol), transport_retry=AT_ONCE).invoke("s")
