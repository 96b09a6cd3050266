"""Whenever its process is killed, a run goes on to the end of one that was not disturbed.

``pytest -m faults`` kills it at every write, which takes minutes; ``pytest -m sample`` at some of them.
"""

import random

import pytest

from tests.faults.children import ended, killed_at, start
from tests.faults.tally import NONE, find_harm

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1800)]


def kill_at_writes(place, story, every):
    """Kill a run before and after every n-th write until it has ended; a node ends in two writes."""
    kills = 0
    while not ended(start(place, story, every), place):
        kills += 1
    return kills


@pytest.mark.parametrize("seed", range(4))
def test_runs_killed_at_random_moments_lose_nothing_and_do_nothing_twice(make_place, seed):
    chance, kills = random.Random(seed), 0
    while kills < 15:
        place, is_over = make_place(), False
        while not is_over:
            child = start(place, "long")
            killed_at(child, place.log, chance.randrange(30), chance.random() * 0.05)
            is_over = ended(child, place)
            kills += not is_over
        assert find_harm("long", place) == NONE


@pytest.mark.parametrize(
    ("story", "every", "writes"),
    [
        pytest.param("short", 30, 150, marks=pytest.mark.sample),
        ("short", 1, 150),
        pytest.param("answer", 9, 20, marks=pytest.mark.sample),
        ("answer", 1, 20),
        ("long", 3, 900),
    ],
)
def test_a_run_killed_before_or_after_its_writes_loses_nothing_and_does_nothing_twice(
    make_place, story, every, writes
):
    place = make_place()

    assert kill_at_writes(place, story, every) > writes / every
    assert find_harm(story, place) == NONE
