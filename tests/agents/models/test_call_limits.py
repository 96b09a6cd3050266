"""Limits on model calls: their specification, the models that they cover, and the agents that keep them."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from agents import BaseAgent, ModelSpecError, ModelUnavailableError, TransportRetry, load_model
from agents.models.model_call import (
    PausingRateLimiter,
    ServedModel,
    limit_calls,
    read_served_model,
)
from agents.testing import ScriptedChatModel
from orchestrator.limits import read_limit

SCRIPTED = ServedModel("agents", "", "ScriptedChatModel")


class Recorder(PausingRateLimiter):
    """Grants every call, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str | float] = []

    def acquire(self, *, blocking: bool = True) -> bool:
        self.asked.append("blocking" if blocking else "not blocking")
        return True

    async def aacquire(self, *, blocking: bool = True) -> bool:
        self.asked.append("awaited" if blocking else "not blocking")
        return True

    def pause(self, seconds: float) -> None:
        self.asked.append(seconds)

    def find(self, model: ServedModel) -> PausingRateLimiter | None:
        return self if model == SCRIPTED else None


def test_a_limit_names_an_endpoint_a_model_and_a_rate(subtests: pytest.Subtests) -> None:
    for text, endpoint, model, calls, period_s in [
        ("ollama:qwen3=20/s", "ollama", "qwen3", 20, 1),
        ("ollama:qwen3:8b=1/min", "ollama", "qwen3:8b", 1, 60),
        ("openai:*=500/h", "openai", "*", 500, 3600),
        ("http://gpu1:8000/v1:llama=9/s", "http://gpu1:8000/v1", "llama", 9, 1),
        ("http://gpu1:8000/:llama:8b=9/s", "http://gpu1:8000", "llama:8b", 9, 1),
        ("https://[::1]:8000/v1:*=9/s", "https://[::1]:8000/v1", "*", 9, 1),
        ("https://api.example.com:gpt=9/s", "https://api.example.com", "gpt", 9, 1),
    ]:
        with subtests.test(text=text):
            limit = read_limit(text)
            assert (limit.endpoint, limit.model, limit.calls, limit.period_s) == (
                endpoint,
                model,
                calls,
                period_s,
            )


def test_another_text_is_refused_in_one_sentence(subtests: pytest.Subtests) -> None:
    for text in [
        "",
        "qwen3=20/s",
        "ollama:qwen3",
        "ollama:qwen3=20",
        "ollama:=20/s",
        ":qwen3=20/s",
        "ollama:qwen3=0/s",
        "ollama:qwen3=-1/s",
        "ollama:qwen3=0.5/s",
        "ollama:qwen3=20/day",
        "http://gpu1:8000=20/s",
        "ollama:qwen3=9999999/s",
        "ollama:qwen3=20/s\n",
        "Ollama:qwen3=20/s",
    ]:
        with (
            subtests.test(text=text),
            pytest.raises(
                ModelSpecError, match=r"the limit .* is not accepted; give ENDPOINT:MODEL=CALLS/UNIT"
            ),
        ):
            read_limit(text)


def test_a_limit_covers_models_by_provider_or_address_and_by_name(subtests: pytest.Subtests) -> None:
    for limit, covers in [
        ("openai:gpt-5=1/s", True),
        ("openai:gpt-*=1/s", True),
        ("openai:*=1/s", True),
        ("http://gpu1:8000/v1:*=1/s", True),
        ("openai:gpt=1/s", False),
        ("ollama:gpt-5=1/s", False),
        ("http://gpu2:8000/v1:*=1/s", False),
    ]:
        with subtests.test(limit=limit):
            assert read_limit(limit).covers(ServedModel("openai", "http://gpu1:8000/v1", "gpt-5")) is covers


def test_a_model_is_known_by_its_provider_its_address_without_password_and_its_name(
    subtests: pytest.Subtests,
) -> None:
    for spec, options, served in [
        (
            "openai:gpt-5",
            {"base_url": "http://me:secret@gpu1:8000/v1/", "api_key": "none"},
            ServedModel("openai", "http://gpu1:8000/v1", "gpt-5"),
        ),
        (
            "ollama:qwen3:8b",
            {"base_url": "http://gpu1:11434"},
            ServedModel("ollama", "http://gpu1:11434", "qwen3:8b"),
        ),
    ]:
        with subtests.test(spec=spec):
            model = load_model(spec, **options)
            assert read_served_model(model) == served
            assert read_served_model(model.bind_tools([])) == served


def invoke(agent: BaseAgent) -> None:
    agent.invoke("call")


def await_reply(agent: BaseAgent) -> None:
    asyncio.run(agent.ainvoke("call"))


def test_every_call_of_an_agent_is_asked_for(subtests: pytest.Subtests) -> None:
    for call, asked in [(invoke, "blocking"), (await_reply, "awaited")]:
        with subtests.test(call=call):
            agent, limiter = BaseAgent(ScriptedChatModel(["one", "two", "three"])), Recorder()
            with limit_calls(limiter.find):
                call(agent)
                call(agent)
            call(agent)
            assert limiter.asked == [asked, asked]


def test_a_server_without_capacity_pauses_the_calls_for_as_long_as_it_says(subtests: pytest.Subtests) -> None:
    for status, header, asked in [
        (429, "7", ["blocking", 7.0, "blocking", 7.0]),
        (503, "7", ["blocking", 7.0, "blocking", 7.0]),
        (429, "soon", ["blocking", "blocking"]),
        (500, "7", ["blocking", "blocking"]),
    ]:
        with subtests.test(status=status, header=header):
            request = httpx.Request("POST", "http://127.0.0.1:1")
            response = httpx.Response(status, headers={"Retry-After": header}, request=request)
            error, limiter = httpx.HTTPStatusError("busy", request=request, response=response), Recorder()
            retry = TransportRetry(max_attempts=2, initial_seconds=0, max_seconds=0)
            with limit_calls(limiter.find), pytest.raises(ModelUnavailableError):
                invoke(BaseAgent(ScriptedChatModel([error, error]), transport_retry=retry))
            assert limiter.asked == asked
