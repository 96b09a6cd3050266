"""SIGKILL of the web server loses no run and no answer, and no call has its effect twice."""

import json
from collections import Counter

import pytest

from tests.faults.served import STEPS, kill_servers

pytestmark = pytest.mark.faults


@pytest.mark.parametrize(
    ("seed", "kills", "runs"),
    [pytest.param(0, 2, 2, marks=pytest.mark.sample), (1, 6, 4), (2, 6, 4), (3, 6, 4)],
)
def test_servers_killed_with_open_questions_and_runs_under_way_lose_nothing(places, seed, kills, runs):
    place = places()

    person, states = kill_servers(place, seed, kills=kills, runs=runs)

    calls = Counter(json.loads(line)["guest"] for line in place.log.lines())
    guests = {f"guest{run}-{step}" for run in range(runs) for step in range(STEPS)}
    assert calls == dict.fromkeys(guests, 1)
    assert person.lost.total() == 0
    assert len(states) == runs
    records = [call for state in states.values() for one in state["results"] for call in one["tool_calls"]]
    # A start in which the process died has a record without an answer: a person is asked before the next one.
    assert {call["answer"]["answered_by"] for call in records if "answer" in call} == {"Ada"}
