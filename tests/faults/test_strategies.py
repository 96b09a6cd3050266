"""A kill in the middle of any strategy of a retry policy loses no execution and repeats none that is kept."""

from __future__ import annotations

import json
from itertools import groupby

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tests.faults.strategies import (
    STRATEGIES,
    build_strategy,
    finish,
    read_state,
    run_killed,
)

pytestmark = pytest.mark.faults
SAMPLE = {"feedback", "custom"}


def describe(state):
    """Describes what a kill may not change."""
    keys = ("step", "step_index", "attempt", "result", "status", "decision", "sampling", "usage")
    records = [[record[key] for key in keys] for record in state["results"]]
    for record in records:
        record[-1] = record[-1]["total_tokens"]
    return records, state["status"], state["retries"], state["usage"]["total_tokens"]


def list_keys(log):
    """Lists the executions in the order of their calls, each once for each time in a row."""
    calls = [line["key"] for line in map(json.loads, log.lines()) if line["what"] == "execute"]
    return [key for key, _ in groupby(calls)]


def count_repeated(log):
    """Counts the calls of executions that the store had when their process began."""
    order, kept, repeated = list_keys(log), 0, 0
    for line in map(json.loads, log.lines()):
        if line["what"] == "kept":
            kept = line["executions"]
        elif line["what"] == "execute":
            repeated += order.index(line["key"]) < kept
    return repeated


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("use", "every"),
    [
        *((use, 1) for use in STRATEGIES),
        *(pytest.param(use, 11, marks=pytest.mark.sample) for use in sorted(SAMPLE)),
    ],
)
def test_a_kill_in_any_strategy_loses_nothing_and_repeats_nothing(places, use, every):
    place = places()
    whole = finish(build_strategy(use, places().log, InMemorySaver()))
    kills = run_killed(place, use, every)

    keys = list_keys(place.log)
    assert kills > 10 / every
    assert describe(read_state(place, use)) == describe(whole)
    assert len(keys) == len(set(keys)) == len(whole["results"])
    assert count_repeated(place.log) == 0
