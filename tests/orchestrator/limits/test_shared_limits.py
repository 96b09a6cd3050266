"""Processes on one database keep a limit together, and share it."""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents import BaseAgent, ModelSpecError, ModelUnavailableError, TransportRetry
from agents.testing import ScriptedChatModel
from benchmarks.queue_fairness import MODEL, Fairness, measure_fairness
from orchestrator import ConfigurationError, LangGraphOrchestrator, StoreLostError
from orchestrator.limits import SharedRateLimiter, share_limits
from orchestrator.persistence import open_store

LIMIT = f"{MODEL}=20/s"
SLOW = f"{MODEL}=5/min"
CALLS = "orchestrator_limited_calls"
WAITS = "orchestrator_limit_waits"
FAKETIME = ("env", "FAKETIME_DONT_FAKE_MONOTONIC=1", "faketime", "-f")


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


def wait_in_vain(limiter: SharedRateLimiter) -> None:
    with pytest.raises(RuntimeError, match="were closed"):
        limiter.acquire()


def in_background(call: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    return thread


def keep_calls(url: str, limit: str) -> None:
    """Keep the rows of the calls, which the limiters delete when they are no longer counted."""
    with open_store(url) as store, share_limits(store, [limit]):
        store.saver.change("UPDATE orchestrator_limits SET longest = interval '1 hour'", [()])


def read_calls(url: str) -> Fairness:
    with open_store(url) as store:
        rows = store.saver.select(f"SELECT worker, extract(epoch FROM called)::float FROM {CALLS}", ())
    workers = dict.fromkeys(worker for worker, _ in rows)
    return Fairness([[called for worker, called in rows if worker == each] for each in workers])


@pytest.mark.soak
def test_three_processes_never_pass_the_limit_and_get_the_same_shares(postgres_url: str) -> None:
    keep_calls(postgres_url, LIMIT)
    begun = measure_fairness(postgres_url, LIMIT, [3, 6, 12], 8)
    granted = read_calls(postgres_url)
    assert granted.count_peak(1) <= 20
    assert begun.count_peak(0.5) <= 20  # with room for a busy machine
    assert sum(map(len, begun.calls)) <= sum(map(len, granted.calls))
    # Shares by the number of waiting calls would differ by 0.75. The benchmark measures the exact figures.
    assert begun.spread <= 0.5
    assert begun.rate >= 5


@pytest.mark.skipif(shutil.which("faketime") is None, reason="needs the program faketime")
def test_the_clocks_of_the_workers_do_not_matter(postgres_url: str) -> None:
    keep_calls(postgres_url, LIMIT)
    clocks = [(), (*FAKETIME, "+2h"), (*FAKETIME, "+3d")]
    begun = measure_fairness(postgres_url, LIMIT, [4, 4, 4], 6, clocks)
    assert read_calls(postgres_url).count_peak(1) <= 20
    # The program slows the threads of Python, so the shares say nothing.
    assert all(begun.calls)


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_the_time_zone_of_a_session_does_not_matter(postgres_url: str, zone: str) -> None:
    elsewhere = f"{postgres_url}{'&' if '?' in postgres_url else '?'}options=-c%20TimeZone%3D{zone}"
    with opened(postgres_url, SLOW) as here, opened(elsewhere, SLOW) as there:
        assert [take(here), take(there), take(here), take(there), take(here)] == [True] * 5
        assert not take(here)
        assert not take(there)


def test_a_worker_that_asks_for_little_leaves_its_share_to_the_others(postgres_url: str) -> None:
    with opened(postgres_url) as busy, opened(postgres_url) as idle:
        assert take(idle)
        assert take_many(busy, 3) >= 30


@pytest.mark.thorough
def test_a_worker_that_dies_while_it_waits_gives_its_share_back(postgres_url: str) -> None:
    with opened(postgres_url, SLOW) as busy, opened(postgres_url, SLOW) as dying:
        assert [take(busy) for _ in range(6)] == [True] * 5 + [False]
        waiting = in_background(lambda: wait_in_vain(dying))
        time.sleep(0.5)
        dying.close()  # as if it were killed: its row stays
        waiting.join()
        with open_store(postgres_url) as store:  # time passes
            store.saver.change(f"DELETE FROM {CALLS} WHERE called > (SELECT min(called) FROM {CALLS})", [()])
            store.saver.change(f"UPDATE {WAITS} SET asked = now() + interval '5 seconds'", [()])
        assert not take(busy), "the other one has made fewer calls"
        assert busy.acquire()


@pytest.mark.thorough
def test_a_new_worker_gets_its_share_from_one_that_has_all(postgres_url: str) -> None:
    with opened(postgres_url) as first, opened(postgres_url) as second:
        running = in_background(lambda: take_many(first, 4))
        time.sleep(1)
        assert take_many(second, 3) >= 15
        running.join()


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
