from __future__ import annotations

import asyncio
import json
import logging

import httpx
import ollama
import openai
import pytest

from agents import BaseAgent, ModelRefusedError, ModelUnavailableError, TransportRetry
from agents.models.server_errors import is_transient
from agents.testing import ScriptedChatModel
from tests.fakes.protocol_server import ModelReply, encode, serve_model

REQUEST = httpx.Request("POST", "http://127.0.0.1:1/v1/chat/completions")
AT_ONCE = TransportRetry(max_attempts=3, initial_seconds=0)


def response(status: int, headers: dict[str, str] | None = None) -> httpx.Response:
    return httpx.Response(status, headers=headers, request=REQUEST)


def http_error(status: int) -> httpx.HTTPStatusError:
    return httpx.HTTPStatusError("refused", request=REQUEST, response=response(status))


def openai_error(status: int, headers: dict[str, str] | None = None) -> openai.APIStatusError:
    kind = {429: openai.RateLimitError, 404: openai.NotFoundError, 401: openai.AuthenticationError}
    return kind.get(status, openai.APIStatusError)("refused", response=response(status, headers), body=None)


def undecodable(body: str, response: httpx.Response | None = None) -> json.JSONDecodeError:
    """The error of a client for a body that is not JSON; some clients set its response."""
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads(body)
    if response is not None:
        caught.value.response = response
    return caught.value


def chain(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


def test_a_fault_is_passing_or_lasting(subtests):
    for error, transient in [
        (ConnectionError("refused"), True),
        (TimeoutError(), True),
        (httpx.ReadTimeout("x"), True),
        (httpx.RemoteProtocolError("x"), True),
        (chain(openai.APIConnectionError(request=REQUEST), httpx.ConnectError("x")), True),
        (chain(openai.APITimeoutError(REQUEST), httpx.ReadTimeout("x")), True),
        (chain(RuntimeError("twice"), chain(RuntimeError("once"), ConnectionError())), True),
        *[(openai_error(status), True) for status in (408, 425, 429, 500, 502, 503, 504)],
        *[(openai_error(status), False) for status in (400, 401, 403, 404, 409, 422)],
        (http_error(503), True),
        (chain(openai_error(401), ConnectionError()), False),
        (ollama.ResponseError("gone", 404), False),
        (ollama.ResponseError("failed", 500), True),
        (ollama.ResponseError("odd", -1), True),
        (chain(ollama.ResponseError("odd", -1), ConnectionError()), True),
        (ValueError("bad"), False),
        (undecodable('{"choices": [{"mess'), True),
        (undecodable('{"choices": tr'), True),
        (undecodable("", response(200)), True),
        (undecodable("<html>It works!</html>", response(200)), False),
        (undecodable('{"choices": no}', response(200)), False),
        (undecodable('{"error": "not fou', response(404)), False),
        (UnicodeDecodeError("utf-8", b"\xc3", 0, 1, "unexpected end of data"), True),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), False),
        (httpx.DecodingError("incorrect header check"), True),
        (chain(http_error(302), ConnectionError()), True),
        (http_error(302), False),
        (asyncio.CancelledError(), False),
    ]:
        with subtests.test(error=error, transient=transient):
            assert is_transient(error) is transient


def test_what_is_no_time_is_refused(subtests):
    for times in [{"initial_seconds": -1}, {"max_seconds": float("nan")}]:
        with subtests.test(times=times), pytest.raises(ValueError, match=next(iter(times))):
            TransportRetry(**times)


def slept(retry: TransportRetry, error: Exception) -> list[float]:
    waits: list[float] = []
    controller = retry.sync().copy(sleep=waits.append)

    def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        controller(fail)
    return waits


def test_no_wait_is_longer_than_the_cap():
    busy = openai_error(429, {"retry-after": "3600"})
    assert slept(TransportRetry(max_attempts=2, max_seconds=5), busy) == [5]


def test_the_waits_grow_and_stay_below_the_cap():
    waits = slept(TransportRetry(max_attempts=12, initial_seconds=1, max_seconds=8), ConnectionError())
    assert len(waits) == 11
    assert all(0 <= wait <= min(8, 2**at) for at, wait in enumerate(waits))
    assert len(set(waits)) > 1


def test_a_try_again_is_logged_as_a_warning(caplog):
    model = ScriptedChatModel([ConnectionError("refused"), "hello"])
    with caplog.at_level(logging.WARNING, "agents"):
        BaseAgent(model, transport_retry=AT_ONCE).invoke("hi")
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert "ConnectionError" in record.getMessage()


async def test_an_error_that_stays_has_its_kind_and_its_cause(call_either, subtests):
    for error, kind, is_cause, calls in [
        (ConnectionError("refused"), ModelUnavailableError, True, 3),
        *((error, ModelRefusedError, True, 1) for error in map(openai_error, (400, 401, 403, 404))),
        (ZeroDivisionError("a bug"), ZeroDivisionError, False, 1),
        (ModelRefusedError("an error of this package"), ModelRefusedError, False, 1),
    ]:
        with subtests.test(error=repr(error)):
            model = ScriptedChatModel(lambda _, error=error: error)
            with pytest.raises(kind, match=str(error)) as caught:
                await call_either(BaseAgent(model, transport_retry=AT_ONCE), "invoke", "hi")
            assert caught.value.__cause__ is (error if is_cause else None)
            assert (caught.value is error) is not is_cause
            assert len(model.prompts) == calls


async def test_a_real_server_that_is_busy_or_breaks_off_is_asked_again(call_either):
    busy, away = encode({}, 429, {"retry-after": "0"}), encode({}, 503)
    cut = encode(b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": "hel',
                 headers={"Content-Type": "application/json"})  # fmt: skip
    with serve_model(busy, away, cut, ModelReply("hello")) as (model, server):
        patient = BaseAgent(model, transport_retry=TransportRetry(max_attempts=4, initial_seconds=0))
        assert await call_either(patient, "invoke", "hi") == "hello"
    assert len(server.bodies) == 4


def test_retry_after_is_found_where_a_client_library_hides_the_response():
    try:
        response(429, {"retry-after": "7"}).raise_for_status()
    except httpx.HTTPStatusError:
        with pytest.raises(ollama.ResponseError) as hidden:
            raise ollama.ResponseError("too many requests", 429) from None
    assert slept(TransportRetry(max_attempts=2), hidden.value) == [7.0]
