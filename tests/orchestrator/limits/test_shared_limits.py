"""Processes on one database keep a limit together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents import BaseAgent, ModelSpecError, ModelUnavailableError, TransportRetry
from agents.testing import ScriptedChatModel
from orchestrator import ConfigurationError, LangGraphOrchestrator, StoreLostError
from orchestrator.limits import SharedRateLimiter, share_limits
from orchestrator.persistence import open_store

MODEL = "agents:ScriptedChatModel"
LIMIT = f"{MODEL}=20/s"
SLOW = f"{MODEL}=5/min"


@contextmanager
def opened(url: str, limit: str = LIMIT, lost_s: float = 30.0) -> Iterator[SharedRateLimiter]:
    """A worker of its own, in this process."""
    with open_store(url) as store, share_limits(store, [limit], lost_s=lost_s) as limits:
        yield limits.limiters[0]


def take(limiter: SharedRateLimiter) -> bool:
    return limiter.acquire(blocking=False)


def take_many(limiter: SharedRateLimiter, seconds: float) -> int:
    until, calls = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        calls += limiter.acquire()
    return calls


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_the_time_zone_of_a_session_does_not_matter(postgres_url: str, zone: str) -> None:
    elsewhere = f"{postgres_url}{'&' if '?' in postgres_url else '?'}options=-c%20TimeZone%3D{zone}"
    with opened(postgres_url, SLOW) as here, opened(elsewhere, SLOW) as there:
        assert [take(here), take(there), take(here), take(there), take(here)] == [True] * 5
        assert not take(here)
        assert not take(there)


def test_two_workers_are_granted_no_more_than_one(postgres_url: str) -> None:
    with opened(postgres_url) as busy, opened(postgres_url) as idle:
        assert take(idle)
        assert 30 <= take_many(busy, 3) <= 80


@pytest.mark.thorough
def test_all_workers_pause_if_a_server_says_when_it_has_capacity_again(postgres_url: str) -> None:
    request = httpx.Request("POST", "http://127.0.0.1:1")
    response = httpx.Response(429, headers={"Retry-After": "4"}, request=request)
    busy = httpx.HTTPStatusError("busy", request=request, response=response)
    agent = BaseAgent(ScriptedChatModel([busy]), transport_retry=TransportRetry(max_attempts=1))
    with opened(postgres_url) as other:
        with opened(postgres_url), pytest.raises(ModelUnavailableError):
            agent.invoke("call")
        assert not take(other)
        began = time.monotonic()
        assert other.acquire()
        assert time.monotonic() - began > 0.5


def test_a_pause_has_an_upper_bound(postgres_url: str) -> None:
    with opened(postgres_url) as limiter:
        limiter.pause(10**9)
    with open_store(postgres_url) as store:
        ends = store.saver.select(
            "SELECT paused_until < now() + interval '5 min' FROM orchestrator_limits", ()
        )
    assert ends == [(True,)]


def test_awaited_calls_do_not_block_the_event_loop(postgres_url: str) -> None:
    async def call() -> list[bool]:
        waiting = asyncio.create_task(limiter.aacquire())
        await asyncio.sleep(0.3)
        pending = waiting.done()
        waiting.cancel()
        return [pending, await limiter.aacquire(blocking=False)]

    with opened(postgres_url, SLOW) as limiter:
        assert [take(limiter) for _ in range(5)] == [True] * 5
        assert asyncio.run(call()) == [False, False]


def test_without_the_database_no_call_is_granted(postgres_url: str) -> None:
    model = ScriptedChatModel(["done"])
    with ExitStack() as stack:
        with open_store(postgres_url) as lost:
            stack.enter_context(share_limits(lost, [LIMIT], lost_s=1))
        with pytest.raises(
            StoreLostError, match=r"postgresql:///\S+ failed \(.*\); fix that, then try again"
        ):
            BaseAgent(model).invoke("call")
    assert model.prompts == []


def test_a_run_whose_limits_are_lost_can_be_resumed(postgres_url: str) -> None:
    replies = ['{"plan": ["write"]}', "done", '{"feedback": "good", "success": true}']
    saver = InMemorySaver()
    orchestrator = LangGraphOrchestrator.from_model(
        ScriptedChatModel(replies), checkpointer=saver, contract=None, planning="always"
    )
    with ExitStack() as stack:
        with open_store(postgres_url) as lost:
            stack.enter_context(share_limits(lost, [LIMIT], lost_s=0.5))
        with pytest.raises(StoreLostError):
            orchestrator.run("write", "thread")
    assert orchestrator.resume("thread")["status"] == "success"


def test_a_model_without_limit_is_reported_once(postgres_url: str, caplog: pytest.LogCaptureFixture) -> None:
    with open_store(postgres_url) as store, share_limits(store, ["ollama:qwen3=1/s"]):
        agent = BaseAgent(ScriptedChatModel(["one", "two"]))
        agent.invoke("call")
        agent.invoke("call")
    assert [each.message for each in caplog.records if "no limit" in each.message] == [
        f"no limit covers {MODEL}"
    ]


def test_bad_limits_are_refused_before_anything_is_limited(postgres_url: str, tmp_path: Path) -> None:
    with open_store(postgres_url) as store:
        with pytest.raises(ModelSpecError, match="the limit 'x' is not accepted"), share_limits(store, ["x"]):
            pass
        with pytest.raises(ConfigurationError, match="is given 2 limits"), share_limits(store, [LIMIT, SLOW]):
            pass
    with open_store(tmp_path / "runs.sqlite") as store:
        with pytest.raises(ConfigurationError, match="give a database as"), share_limits(store, [LIMIT]):
            pass
        with share_limits(store, []) as limits:
            assert limits.limiters == ()
