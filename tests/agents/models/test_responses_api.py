"""The Responses API of OpenAI: its errors, broken calls, doubtful ids, and items that did not end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext

import pytest
from langchain_core.exceptions import ModelConnectionError

from agents import BaseAgent, ExecutionAgent, ModelRefusedError, ModelUnavailableError
from agents.models.whole_replies import check_replies
from tests.agents.models.test_odd_replies import AT_ONCE, look, run_bare
from tests.fakes.protocol_server import encode, serve_in_turn, serve_protocol

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
        ('{"query": [NaN]}', {}, "each key once"),
        ('{"query": "bo', AT_LIMIT, "not valid JSON"),
        ('{"query": "boots"}', AT_LIMIT, "limit of tokens"),
    ]:
        text = {"type": "output_text", "text": "done", "annotations": []}
        message = {"type": "message", "id": "m", "role": "assistant", "content": [text]}
        done = {**RESPONSE, "status": "completed", "output": [message]}
        left = [encode(write_call_item(arguments, **more)), encode(done)]
        with subtests.test(arguments=arguments), serve_in_turn(*left) as server:
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
    with serve_in_turn(*left) as server:
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


def test_a_seed_is_not_sent():
    with serve_protocol(
        lambda _: encode({**RESPONSE, "status": "completed", "output": [ITEMS["a text"]]})
    ) as server:
        model = check_replies(server.model("openai", use_responses_api=True, seed=7))
        assert model.invoke("s").text == "half"
        assert "seed" not in server.bodies[0]
