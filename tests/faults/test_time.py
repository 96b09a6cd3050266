"""Clocks in other zones, and machines that sleep."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta, timezone

from langgraph.checkpoint.memory import InMemorySaver

from orchestrator import Budget, LangGraphOrchestrator
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner
from tests.fakes.supervision import FakeClock, SpeakingExecutor

SUMMER = timezone(timedelta(hours=2))


def test_every_time_is_stored_in_utc_whatever_zone_the_clock_has():
    agents = FakePlanner(["one"]), SpeakingExecutor(), FakeMonitor()
    options = {"supervision": "human", "checkpointer": InMemorySaver()}
    noon = lambda: datetime(2026, 7, 1, 12, tzinfo=SUMMER)  # noqa: E731
    state = LangGraphOrchestrator(*agents, clock=noon, **options).run("x")

    times = re.findall(r'"(20\d\d-\d\d-\d\dT[^"]*)"', json.dumps(state))
    assert {datetime.fromisoformat(each).utcoffset() for each in times} == {timedelta(0)}
    assert len(times) >= 4


def test_time_that_a_machine_sleeps_is_no_time_of_the_run():
    clock = FakeClock()
    executor = FakeExecutor(lambda step, context: clock.pass_by(hours=8) or "done")
    bounds = {"budget": Budget(max_seconds=60), "call_timeout": 60, "step_timeout": 60}
    agents = FakePlanner(["one", "two"]), executor, FakeMonitor()
    state = LangGraphOrchestrator(*agents, clock=clock, **bounds).run("x")

    assert (state["status"], state["usage"]["latency_ms"] < 60_000) == ("success", True)
