from __future__ import annotations

import email.utils
import json
import time

import httpx
import httpx2
import openai
import pytest

from agents import BaseAgent, ModelRefusedError, ModelUnavailableError, PromptTooLongError, TransportRetry
from agents.models.server_answers import read_retry_after
from agents.models.server_errors import is_transient
from tests.fakes.protocol_server import (
    PROTOCOLS,
    ModelReply,
    Protocol,
    encode,
    serve_model,
    serve_protocol,
    write_body,
    write_stream,
)

AT_ONCE = TransportRetry(max_attempts=2, initial_seconds=0)
REASON = "model llama-9 is not loaded"


def refuse(protocol: str, status: int, body: object, headers: dict[str, str] | None = None) -> Exception:
    with (
        serve_model(encode(body, status, headers), protocol=protocol) as (model, server),
        pytest.raises((ModelRefusedError, ModelUnavailableError)) as caught,
    ):
        BaseAgent(model, transport_retry=AT_ONCE).invoke("x")
    assert server.url in str(caught.value) or isinstance(caught.value, PromptTooLongError)
    return caught.value


REASONS = {
    "an object": {"error": {"message": REASON, "type": "invalid_request_error"}},
    "a text": {"error": REASON},
    "a detail": {"detail": REASON},
    "a list of details": {"detail": [{"loc": ["body", "model"], "msg": REASON, "input": "the prompt"}]},
    "a list": [{"error": {"code": 400, "message": REASON}}],
    "a list of errors": {"errors": [{"code": 7, "message": REASON}], "success": False},
    "RFC 9457": {"type": "about:blank", "title": "Bad Request", "detail": REASON},
    "of an upstream": {"error": {"message": "Provider returned error", "metadata": {"raw": REASON}}},
    "plain text": REASON.encode(),
    "a page": f"<html><style>p {{}}</style><title>Error</title><p>{REASON}</p></html>".encode(),
}


def test_the_reason_of_a_refusal_is_told_whatever_its_form(subtests):
    for protocol in PROTOCOLS:
        for label, body in REASONS.items():
            with subtests.test(f"{protocol}: {label}"):
                error = refuse(protocol, 400, body)
                assert isinstance(error, ModelRefusedError)
                assert REASON in str(error)


TOO_LONG = [
    "prompt is too long: 210000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Input is too long for requested model.",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081",
    "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
    "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 and 200",
    "Invalid request: Your request exceeded model token limit: 8192",
    "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
    "Please reduce the length of the messages or completion.",
    "Trying to keep the first 6000 tokens when the context overflows.",
    "the input length exceeds the context length",
    "Prompt exceeds max length",
    "Range of input length should be [1, 30720]",
    "The number of tokens to keep from the initial prompt is greater than the context length",
]


def test_a_prompt_that_does_not_fit_is_told_in_any_wording(subtests):
    bodies = [({"error": {"message": words}}, 400) for words in TOO_LONG]
    bodies += [
        ({"error": {"message": "Shorten it.", "code": "context_length_exceeded"}}, 400),
        ({"error": TOO_LONG[0]}, 413),
        ({"error": '{"error": {"message": "request (2622 tokens) exceeds the available context"}}'}, 400),
        ({"detail": TOO_LONG[0]}, 422),
        ({"message": TOO_LONG[0]}, 500),
        ({"error": {"message": TOO_LONG[0], "code": 400}}, 200),
    ]
    for body, status in bodies:
        with subtests.test(f"{status} {body}"):
            error = refuse("openai", status, body)
            assert isinstance(error, PromptTooLongError)
            assert "raise the context (n_ctx, num_ctx)" in str(error)


OTHER_REFUSALS = [
    "max_tokens is too large: 5000. This model supports at most 4096 completion tokens",
    "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40",
    "messages.1.content.0.image.source.base64: image exceeds 5 MB maximum",
    "temperature must be at most 2",
    "Range of temperature should be [0, 2)",
    "messages must not be empty",
    "the model is not loaded",
]


def test_another_refusal_is_no_prompt_that_does_not_fit(subtests):
    for words in OTHER_REFUSALS:
        with subtests.test(words):
            error = refuse("openai", 400, {"error": {"message": words}})
            assert type(error) is ModelRefusedError


LOGIN = b"<html><head><title>Sign in</title></head><body>to go on</body></html>"
FOREIGN = {
    "a page": (200, LOGIN, {"Content-Type": "text/html"}, "Sign in to go on"),
    "another service": (404, {"detail": "Not Found"}, {}, "Not Found"),
    "a text": (200, b"SSH gateway", {}, "SSH gateway"),
    "a text on its inputs": (200, b"The maximum input is one line", {}, "The maximum input is one line"),
    "a service without the method": (405, b"405 method not allowed", {}, "method not allowed"),
}


def test_a_server_of_another_kind_is_told_in_one_sentence_with_its_first_words(subtests):
    for protocol in PROTOCOLS:
        for label, (status, body, headers, words) in FOREIGN.items():
            with subtests.test(f"{protocol}: {label}"):
                message = str(refuse(protocol, status, body, headers))
                assert words in message
                assert "sent no reply of a chat model" in message


def _choose(message: object, **more: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], **more}


def _say(content: object) -> dict[str, object]:
    return {"role": "assistant", "content": content}


BODIES: dict[Protocol, list[object]] = {
    "openai": [
        None, 5, "a text", [1, 2], {"choices": [None]}, {"choices": {"a": 1}}, _choose("a text"),
        _choose(_say({"a": 1})), _choose(_say(5)), _choose(_say([1])), _choose(_say("Hi."), usage="x"),
        _choose(_say("Hi."), usage=[1]), b"\xff\xfe\x00",
    ],
    "ollama": [
        None, 5, "a text", [1, 2], {"model": "m", "done": True}, {"message": None, "done": True},
        {"message": "a text"}, {"message": _say({"a": 1})}, b"\xff\xfe\x00",
    ],
    "anthropic": [
        None, 5, "a text", [1, 2], {"content": None}, {"content": [None]}, {"content": "a text"},
        {"content": [{"type": "text", "text": 5}], "usage": "x"}, b"\xff\xfe\x00",
    ],
}  # fmt: skip
DELTAS: list[object] = [
    {"content": 5}, {"content": {"a": 1}}, {"tool_calls": [None]}, {"tool_calls": "x"},
    {"tool_calls": [{"index": 0, "function": None}]}, "a text",
]  # fmt: skip
EVENTS = [
    None, 5, [1, 2], {"choices": [None]}, {"choices": {"a": 1}}, {"choices": 5},
    {"choices": [], "usage": "x"}, *({"choices": [{"index": 0, "delta": delta}]} for delta in DELTAS),
]  # fmt: skip


@pytest.fixture
def fail(call_either):
    async def fail(model):
        with pytest.raises(ModelUnavailableError) as caught:
            await call_either(BaseAgent(model, transport_retry=AT_ONCE), "invoke", "x")
        return str(caught.value)

    return fail


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # of the clients
async def test_an_answer_that_the_client_cannot_read_is_one_sentence(subtests, fail):
    answers = [
        (protocol, body, encode(body), False) for protocol, bodies in BODIES.items() for body in bodies
    ]
    events = [*(json.dumps(event).encode() for event in EVENTS), b"\xff\xfe\x00"]
    answers += [("openai", event, encode([b"data: " + event + b"\n\n"]), True) for event in events]
    for protocol, body, answer, streaming in answers:
        served = serve_model(answer, protocol=protocol, streaming=streaming)
        with subtests.test(protocol, body=body), served as (model, server):
            message = await fail(model)
            assert f"at {server.url}" in message
            assert "'m'" in message
            assert "\n" not in message


WORDS = "the quota of the team is used up"
FAILED = {
    "a body": encode({"error": {"message": WORDS}}),
    "no choice": encode({"id": WORDS, "choices": []}),
    "a greeting": encode({"message": WORDS}),
    "a choice": encode({"choices": [{"error": {"message": WORDS, "code": 502}, "message": _say("Hal")}]}),
    "an event": encode([b'data: {"error": {"message": "%s"}}\n\n' % WORDS.encode()]),
    "the type of an event": encode([b'event: error\ndata: {"message": "%s"}\n\n' % WORDS.encode()]),
    "a text of that type of an event": encode([b"event: error\ndata: %s\n\n" % WORDS.encode()]),
    "an event behind a piece": encode([
        write_stream("openai", ModelReply("Hal"))[0],
        b'data: {"object": "error", "message": "%s", "code": 500}\n\n' % WORDS.encode(),
    ]),
    "an event with a detail": encode([b'data: {"detail": "%s"}\n\n' % WORDS.encode()]),
    "a list in an event": encode([b'data: {"errors": ["%s"]}\n\n' % WORDS.encode()]),
    "a choice of an event": encode([
        b'data: {"choices": [{"delta": {"content": ""}, "error": {"message": "%s"}}]}\n\n' % WORDS.encode()
    ]),
    "a text in Latin-1": encode(b"D\xe9sol\xe9: " + WORDS.encode()),
    "a page": encode(b"<title>Sign in</title>" + WORDS.encode(), 200, {"Content-Type": "text/html"}),
}  # fmt: skip


async def test_the_words_of_an_error_in_a_success_are_told(subtests, fail):
    for label, answer in FAILED.items():
        for streaming in [False, True]:
            if not streaming and "event" in label:
                continue
            served = serve_model(answer, streaming=streaming)
            with subtests.test(label, streaming=streaming), served as (model, _):
                assert WORDS in await fail(model)


def test_a_server_that_cannot_stream_is_asked_without_a_stream():
    with serve_model(encode(write_body("openai", ModelReply("Hello."))), streaming=True) as (model, server):
        assert BaseAgent(model, transport_retry=AT_ONCE).invoke("x") == "Hello."
    assert [body.get("stream") for body in server.bodies] == [True, True, False]


def test_a_redirect_to_a_login_is_told():
    redirect = encode(b"", 302, {"Location": "/login"})
    login = encode(LOGIN, 200, {"Content-Type": "text/html"})
    with serve_protocol(lambda _: login if server.paths[-1] == "/login" else redirect) as server:
        model = server.model("openai")
        with pytest.raises(ModelUnavailableError, match=f"{server.url}.* but: .*Sign in"):
            BaseAgent(model, transport_retry=AT_ONCE).invoke("x")


def test_why_a_server_cannot_be_reached_is_told():
    with serve_model(b"") as (model, _):
        agent = BaseAgent(model, transport_retry=AT_ONCE)
        with pytest.raises(ModelUnavailableError, match="disconnected"):
            agent.invoke("x")
    with pytest.raises(ModelUnavailableError, match="refused"):
        agent.invoke("x")


def test_a_model_that_an_ollama_server_does_not_have_is_told_with_those_that_it_has():
    listed = encode({"models": [{"model": "llama3"}, {"model": "qwen3"}]})
    missing = encode({"error": "model 'm' not found"}, 404)
    with serve_protocol(lambda body: missing if body else listed) as server:
        agent = BaseAgent(server.model("ollama"), transport_retry=AT_ONCE)
        with pytest.raises(ModelRefusedError, match=r"has no model 'm'.* has:? llama3, qwen3"):
            agent.invoke("x")


@pytest.mark.parametrize("package", [httpx, httpx2], ids=["httpx", "httpx2"])
def test_faults_of_both_families_of_clients_may_pass(subtests, package):
    request = package.Request("POST", "http://127.0.0.1:1")
    for kind in ("ConnectError", "PoolTimeout", "DecodingError", "TooManyRedirects"):
        with subtests.test(kind):
            assert is_transient(getattr(package, kind)("a fault", request=request))
    assert not is_transient(package.InvalidURL("x"))
    unread = package.Response(503, content=iter([b"x"]))
    assert is_transient(package.HTTPStatusError("a fault", request=request, response=unread))


def test_an_error_of_a_stream_that_a_client_read_by_itself_may_pass():
    request = httpx2.Request("POST", "http://127.0.0.1:1")
    for body in ("the upstream is gone", {"message": "the upstream is gone"}):
        assert is_transient(openai.APIError("gone", request, body=body))


def waiting(headers: dict[str, str]) -> httpx2.HTTPStatusError:
    request = httpx2.Request("POST", "http://127.0.0.1:1")
    return httpx2.HTTPStatusError("busy", request=request, response=httpx2.Response(429, headers=headers))


def test_the_wait_that_a_server_asks_for_is_read_in_each_form(subtests):
    for headers, seconds in [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": " 2 "}, 2.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "2"}, 2.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ]:
        with subtests.test(headers=headers):
            assert read_retry_after(waiting(headers)) == seconds


def test_a_date_to_come_is_a_wait():
    later = email.utils.formatdate(time.time() + 3600, usegmt=True)
    assert 3000 < (read_retry_after(waiting({"retry-after": later})) or 0) <= 3600
