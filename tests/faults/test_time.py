"""Clocks that are set back, zones that turn to summer time, machines that sleep."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta, timezone, tzinfo

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from orchestrator import Budget, LangGraphOrchestrator, StoreError, SupervisionPolicy
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


def test_a_clock_set_back_between_two_steps_loses_neither(saver):
    with ExitStack() as stack:
        agents = after("two", lambda: stack.enter_context(set_back(HOUR_S)))
        orchestrator = LangGraphOrchestrator(*agents, checkpointer=saver)
        state = orchestrator.run("x", "thread")
    kept = orchestrator.graph.get_state({"configurable": {"thread_id": "thread"}}).values

    assert (kept["results"], len(state["results"])) == (state["results"], 3)


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
    """A run that asks a person, who has an hour."""
    orchestrator = LangGraphOrchestrator(
        FakePlanner(["one"]),
        SpeakingExecutor(),
        FakeMonitor(),
        supervision="human",
        supervision_policy=SupervisionPolicy(answer_deadline_s=HOUR_S),
        checkpointer=InMemorySaver(),
        clock=clock,
        **options,
    )
    return orchestrator, orchestrator.run("x", "thread")


def times(value):
    """Every time in a state."""
    if isinstance(value, dict):
        named = ("started_at", "time", "asked_at", "deadline", "answered_at")
        own = [one for name, one in value.items() if name in named and one is not None]
        return own + [one for inner in value.values() for one in times(inner)]
    return [one for inner in value for one in times(inner)] if isinstance(value, list) else []


def test_a_person_has_as_long_as_was_said_where_a_zone_turns_to_summer_time():
    _, state = waiting(lambda: datetime(2026, 3, 29, 1, 30, tzinfo=TurningZone()))

    assert state["question"]["deadline"] == "2026-03-29T01:30:00+00:00"


def test_every_time_is_stored_in_utc_whatever_zone_the_clock_has():
    _, state = waiting(lambda: datetime(2026, 7, 1, 12, tzinfo=SUMMER))

    assert {datetime.fromisoformat(one).utcoffset() for one in times(state)} == {timedelta(0)}
    assert len(times(state)) >= 5


@pytest.mark.parametrize("zone", ["UTC-14", "UTC+11"])
def test_an_answer_is_in_time_whatever_zone_its_process_is_in(zone, request):
    def in_zone(name):
        os.environ["TZ"] = name
        time.tzset()

    before = os.environ.get("TZ")
    request.addfinalizer(time.tzset)
    request.addfinalizer(lambda: os.environ.pop("TZ") if before is None else os.environ.update(TZ=before))
    orchestrator, _ = waiting(lambda: datetime.now().astimezone())
    in_zone(zone)
    state = orchestrator.resume("thread", {"answer": "approve"})

    assert state["results"][0]["supervision"]["answer"]["answered_by"] == "a person"


def test_time_that_a_machine_sleeps_is_no_time_of_the_run():
    clock = FakeClock()
    agents = after("two", lambda: clock.pass_by(hours=8))
    budget = Budget(max_seconds=60)
    orchestrator = LangGraphOrchestrator(
        *agents, budget=budget, call_timeout=60, step_timeout=60, clock=clock
    )
    state = orchestrator.run("x")

    assert (state["status"], state["usage"]["latency_ms"] < 60_000) == ("success", True)


def test_time_that_a_machine_sleeps_counts_for_an_answer():
    clock = FakeClock()
    orchestrator, _ = waiting(clock)
    clock.pass_by(hours=8)
    state = orchestrator.resume("thread", {"answer": "approve"})

    assert state["failure"]["kind"] == "denied"


def test_a_clock_set_back_gives_a_person_longer_and_no_duration_below_zero():
    clock = FakeClock()
    orchestrator, _ = waiting(clock)
    clock.pass_by(hours=-3)
    state = orchestrator.resume("thread", {"answer": "approve"})

    assert (state["status"], state["usage"]["latency_ms"] >= 0) == ("success", True)


def test_a_checkpoint_of_a_time_that_no_clock_shows_stops_its_own_thread_alone(tmp_path):
    forged = "UPDATE checkpoints SET checkpoint_id = ? WHERE thread_id = ? AND parent_checkpoint_id IS NULL"
    with open_store(tmp_path / "runs") as store:
        orchestrator = LangGraphOrchestrator(*after("", lambda: None), checkpointer=store.saver)
        orchestrator.run("x", "thread")
        orchestrator.run("x", "earlier")
        store.saver.conn.execute(forged, ["ffffffff-ffff-6fff-bfff-ffffffffffff", "thread"])
        store.saver.conn.commit()
        with pytest.raises(StoreError, match="was stored at a later time than the clock"):
            orchestrator.run("x", "thread", replace=True)
        orchestrator.run("x", "later")

        assert [run.thread_id for run in store.history.runs()] == ["later", "earlier", "thread"]
