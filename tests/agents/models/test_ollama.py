import asyncio
import json
from collections.abc import Callable

import httpx
import pytest
from langchain_core.language_models import BaseChatModel
from ollama import ResponseError

from agents import TransportRetry
from agents.errors import AgentError, ModelSpecError
from agents.models.ollama import installed_models
from agents.models.server_errors import convert_errors
from agents.models.spec import load_model
from tests.fakes.protocol_server import ollama_reply

SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


async def _astream(llm: BaseChatModel) -> list[object]:
    return [chunk async for chunk in llm.astream("Hi")]


# Each in an event loop of its own, as a user's script has it.
CALLS = {
    "invoke": lambda llm: llm.invoke("Hi"),
    "ainvoke": lambda llm: asyncio.run(llm.ainvoke("Hi")),
    "stream": lambda llm: list(llm.stream("Hi")),
    "astream": lambda llm: asyncio.run(_astream(llm)),
}


@pytest.fixture(params=CALLS)
def call(request: pytest.FixtureRequest) -> Callable[[BaseChatModel], object]:
    return CALLS[request.param]


def error_of(call: Callable[[BaseChatModel], object], llm: BaseChatModel) -> Exception:
    with pytest.raises((httpx.HTTPError, ResponseError, ConnectionError)) as caught:
        call(llm)
    return caught.value


@pytest.mark.sample
def test_a_json_schema_constrains_the_reply(ollama_llm: BaseChatModel) -> None:
    reply = ollama_llm.bind(format=SCHEMA).invoke("Is the sky blue?")
    assert type(json.loads(reply.text)["ok"]) is bool


def test_the_settings_behind_the_name_and_the_defaults_are_sent(loopback, subtests) -> None:
    server = loopback(answer=lambda _: ollama_reply())
    for settings, options, sent in [
        ("", {}, {"options": {"num_ctx": 8192, "temperature": 0.0}}),
        (",num_ctx=16384", {"num_ctx": 100}, {"options": {"num_ctx": 16384, "temperature": 0.0}}),
        (",keep_alive=30m, reasoning=false", {}, {"keep_alive": "30m", "think": False}),
        (",keep_alive=-1,reasoning=high", {}, {"keep_alive": -1, "think": "high"}),
    ]:
        with subtests.test(settings=settings):
            load_model(f"ollama:m:8b{settings}", base_url=server.url, **options).invoke("Hi")
            assert {**server.bodies[-1], **sent, "model": "m:8b"} == server.bodies[-1]


def test_the_server_is_told_to_refuse_what_it_would_cut(loopback, call) -> None:
    server = loopback(answer=lambda _: ollama_reply())
    call(load_model("ollama:m", base_url=server.url))
    assert (server.bodies[0]["truncate"], server.bodies[0]["shift"]) == (False, False)


def test_other_settings_are_answered_with_those_that_are_accepted(subtests: pytest.Subtests) -> None:
    for settings in ["api_key=k", "num_ctx", "num_ctx=", ""]:
        told = "give NAME=VALUE with a name of num_ctx, keep_alive, reasoning"
        with subtests.test(settings=settings), pytest.raises(ModelSpecError, match=told):
            load_model(f"ollama:m,{settings}")


def test_the_host_comes_from_the_environment(loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    server = loopback(answer=lambda _: ollama_reply())
    monkeypatch.setenv("OLLAMA_HOST", server.url.removeprefix("http://"))
    assert load_model("ollama:m").invoke("Hi").text == "Hi"


def explain_error(llm, error: BaseException) -> str:
    with pytest.raises(AgentError) as raised, convert_errors(llm, TransportRetry(max_attempts=1)):
        raise error
    return str(raised.value)


def test_a_missing_server_is_one_sentence_with_the_command(call, closed_url: str) -> None:
    llm = load_model("ollama:m", base_url=closed_url)
    assert explain_error(llm, error_of(call, llm)) == (
        f"no Ollama server answers at {closed_url}; start it with `ollama serve`, "
        "or set OLLAMA_HOST to where it runs"
    )


def test_a_password_in_the_address_is_not_shown(closed_url: str) -> None:
    llm = load_model("ollama:m", base_url=closed_url.replace("http://", "http://user:hunter2@"))
    for error in (error_of(CALLS["invoke"], llm), httpx.ConnectError("refused")):
        assert "hunter2" not in explain_error(llm, error)


def test_a_missing_model_is_one_sentence_with_the_command(call, loopback) -> None:
    server = loopback(404, b'{"error":"model \\"llama3:8b\\" not found, try pulling it first"}')
    llm = load_model("ollama:llama3:8b", base_url=server.url)
    assert explain_error(llm, error_of(call, llm)) == (
        f"the model's server at {server.url} has no model 'llama3:8b'; get it with `ollama pull llama3:8b`"
    )


def test_other_answers_are_not_taken_for_a_missing_model(call, loopback, subtests) -> None:
    for status, body in [(404, b"404 page not found"), (500, b'{"error":"model \'m\' not found"}')]:
        with subtests.test(status=status):
            llm = load_model("ollama:m", base_url=loopback(status, body).url)
            assert "has no model" not in explain_error(llm, error_of(call, llm))


def test_the_installed_models_are_listed(ollama_url: str) -> None:
    assert "embedded/smol" in (installed_models(ollama_url) or [])
