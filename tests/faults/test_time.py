"""Clocks that are set back, zones that turn to summer time, machines that sleep."""

from __future__ import annotations

import time
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone, tzinfo

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from orchestrator import Budget, LangGraphOrchestrator
from orchestrator.persistence import open_store
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner
from tests.fakes.supervision import FakeClock, SpeakingExecutor

HOUR_S = 3600.0
SUMMER = timezone(timedelta(hours=2))


@contextmanager
def set_back(seconds):
    """Set the wall clock of this process back; clocks for durations go on."""
    right, right_ns = time.time, time.time_ns
    time.time = lambda: right() - seconds
    time.time_ns = lambda: right_ns() - int(seconds * 1e9)
    try:
        yield
    finally:
        time.time, time.time_ns = right, right_ns


def after(what, then):
    """A planner, executor and monitor; something happens before a step is done."""

    def act(step, context=""):
        if step == what:
            then()
        return f"{step} done"

    return FakePlanner(["one", "two", "three"]), FakeExecutor(act), FakeMonitor()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def saver(request, tmp_path):
    if request.param == "memory":
        yield InMemorySaver()
        return
    sqlite = request.param == "sqlite"
    where = tmp_path / "runs" if sqlite else request.getfixturevalue("postgres").place().store
    with open_store(where) as store:
        yield store.saver


class TurningZone(tzinfo):
    """Central European time, which turns to summer time on 29 March 2026 at 01:00 UTC."""

    def utcoffset(self, moment):
        return timedelta(hours=1 if moment.replace(tzinfo=None) < datetime(2026, 3, 29, 3) else 2)

    def dst(self, moment):
        return self.utcoffset(moment) - timedelta(hours=1)

    def fromutc(self, moment):
        turned = moment.replace(tzinfo=None) >= datetime(2026, 3, 29, 1)
        return moment + timedelta(hours=2 if turned else 1)


def waiting(clock, **options):
    """A run that asks a person."""
    orchestrator = LangGraphOrchestrator(
        FakePlanner(["one"]),
        SpeakingExecutor(),
        FakeMonitor(),
        supervision="human",
        checkpointer=InMemorySaver(),
        clock=clock,
        **options,
    )
    return orchestrator, orchestrator.run("x", "thread")


def times(value):
    """Every time in a state."""
    if isinstance(value, dict):
        named = ("started_at", "time", "asked_at", "answered_at")
        own = [one for name, one in value.items() if name in named and one is not None]
        return own + [one for inner in value.values() for one in times(inner)]
    return [one for inner in value for one in times(inner)] if isinstance(value, list) else []


def test_every_time_is_stored_in_utc_whatever_zone_the_clock_has():
    _, state = waiting(lambda: datetime(2026, 7, 1, 12, tzinfo=SUMMER))

    assert {datetime.fromisoformat(one).utcoffset() for one in times(state)} == {timedelta(0)}
    assert len(times(state)) >= 4


def test_time_that_a_machine_sleeps_is_no_time_of_the_run():
    clock = FakeClock()
    agents = after("two", lambda: clock.pass_by(hours=8))
    budget = Budget(max_seconds=60)
    orchestrator = LangGraphOrchestrator(
        *agents, budget=budget, call_timeout=60, step_timeout=60, clock=clock
    )
    state = orchestrator.run("x")

    assert (state["status"], state["usage"]["latency_ms"] < 60_000) == ("success", True)
