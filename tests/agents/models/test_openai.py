from __future__ import annotations

import json

import pytest
from langchain_openai import ChatOpenAI

from agents.errors import ModelSetupError
from agents.models.embedded import Endpoint
from agents.models.spec import load_model
from agents.parsing.end_reasons import find_message_cut_off
from tests.fakes.protocol_server import ModelReply, encode, serve_model, write_body, write_stream

HELLO = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"}}]}'


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def embedded(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", endpoint.api_key)
    return endpoint


def test_the_endpoint_and_the_key_come_from_the_environment(embedded: Endpoint) -> None:
    model = load_model("openai:any-name", max_tokens=4)
    assert isinstance(model, ChatOpenAI)
    assert model.invoke("Hi").text


@pytest.mark.parametrize("key", [None, ""])
def test_a_missing_key_is_one_sentence_that_names_the_variable(key: str | None, monkeypatch) -> None:
    if key is not None:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    told = "openai:gpt-4o-mini needs a key, and OPENAI_API_KEY is not set; run"
    with pytest.raises(ModelSetupError, match=told):
        load_model("openai:gpt-4o-mini")


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "OPENAI_API_BASE"])
def test_an_endpoint_of_ones_own_needs_no_key(variable: str, loopback, monkeypatch) -> None:
    server = loopback(200, HELLO, {"Content-Type": "application/json"})
    monkeypatch.setenv(variable, f"{server.url}/v1")
    assert load_model("openai:m").invoke("Hello").text == "Hi"
    assert server.paths == ["/v1/chat/completions"]


def write_event(reason: str | None, text: str = "") -> bytes:
    choice = {"index": 0, "delta": {"content": text} if text else {}, "finish_reason": reason}
    return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()


DONE = b"data: [DONE]\n\n"
BEGUN, STOP = write_event(None, "red"), write_event("stop")
CALLING = b"".join(write_stream("openai", ModelReply("red", [("remove", {"path": "/"})], "tool_calls")))
FILTERED = b'data: {"choices": [{"index": 0, "content_filter_offsets": {}, "finish_reason": null}]}\n\n'
STOPPED = b'data: {"choices": [{"index": 0, "delta": null, "finish_reason": "stop"}]}\n\n'
SECOND = b'data: {"choices": [{"index": 1, "delta": {"content": "green"}, "finish_reason": null}]}\n\n'
ODD_STREAMS = {
    "a limit, then another reason": (write_event("length", "red") + STOP + DONE, "length"),
    "a limit beside a call": (write_event("length") + CALLING, "length"),
    "a filter beside a call": (write_event("content_filter") + CALLING, "content_filter"),
    "a choice without a delta": (BEGUN + FILTERED + STOP + DONE, None),
    "a reason without a delta": (BEGUN + STOPPED + DONE, None),
    "a byte order mark": (b"\xef\xbb\xbf" + BEGUN + STOP + DONE, None),
    "two choices": (BEGUN + SECOND + STOP + DONE, None),
}


def test_a_stream_has_one_answer_and_the_first_reason_that_ends_no_whole_one(subtests):
    for label, (stream, reason) in ODD_STREAMS.items():
        with subtests.test(label), serve_model(encode([stream]), streaming=True) as (model, _):
            reply = model.invoke("x")
            assert (reply.text, find_message_cut_off(reply), reply.tool_calls) == ("red", reason, [])


def test_usage_without_one_of_its_counts_is_not_known(subtests):
    for counts in [{"completion_tokens": None}, {"prompt_tokens": None}, {}]:
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18, **counts}
        body = {**write_body("openai", ModelReply("red")), "usage": usage}
        event = f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n".encode()
        for answer in [body, [BEGUN, STOP, event, DONE]]:
            served = serve_model(encode(answer), streaming=answer is not body)
            with subtests.test(counts=counts, answer=answer), served as (model, _):
                assert (model.invoke("x").usage_metadata is None) is bool(counts)
