"""Whenever its process is killed, a run goes on to the end of one that was not disturbed.

``pytest -m faults`` kills it at every write, which takes minutes; ``pytest -m sample`` at some of them.
"""

from __future__ import annotations

import pytest

from tests.faults.killing import killed_at_writes, killed_by_chance

pytestmark = pytest.mark.faults


def every_nth_write(sample: int) -> pytest.MarkDecorator:
    """Kill at each write, and in the sample at one of ``sample`` writes."""
    return pytest.mark.parametrize("every", [1, pytest.param(sample, marks=pytest.mark.sample)])


@pytest.mark.parametrize(("seed", "kills"), [(0, 25), (1, 25), (2, 25), (3, 25)])
def test_runs_killed_at_random_moments_lose_nothing_and_do_nothing_twice(places, seed, kills):
    tally = killed_by_chance("SIGKILL", places, "long", seed, kills)

    assert tally.harm == (0, 0, 0)


@every_nth_write(sample=30)
def test_a_run_killed_before_or_after_its_writes_loses_nothing_and_does_nothing_twice(places, every):
    tally = killed_at_writes("SIGKILL", places, "short", every)

    assert (tally.tried > 180 / every, tally.harm) == (True, (0, 0, 0))


@pytest.mark.timeout(1800)
def test_a_run_of_fifty_steps_killed_around_its_writes_loses_nothing_and_does_nothing_twice(places):
    tally = killed_at_writes("SIGKILL", places, "long", every=1)

    assert (tally.tried > 1000, tally.harm) == (True, (0, 0, 0))


@every_nth_write(sample=9)
def test_a_run_killed_around_the_writes_of_its_answer_loses_nothing(places, every):
    tally = killed_at_writes("SIGKILL", places, "answer", every)

    assert (tally.tried > 20 / every, tally.harm) == (True, (0, 0, 0))


@every_nth_write(sample=9)
def test_a_run_in_postgres_killed_around_the_writes_of_its_answer_loses_nothing(postgres, every):
    tally = killed_at_writes("SIGKILL", postgres.place, "answer", every)

    assert (tally.tried > 20 / every, tally.harm) == (True, (0, 0, 0))


def test_runs_in_postgres_killed_at_random_moments_lose_nothing_and_do_nothing_twice(postgres):
    tally = killed_by_chance("SIGKILL", postgres.place, "long", 0, 15)

    assert tally.harm == (0, 0, 0)


@pytest.mark.timeout(900)
@every_nth_write(sample=30)
def test_a_run_in_postgres_killed_around_its_writes_loses_nothing_and_does_nothing_twice(postgres, every):
    tally = killed_at_writes("SIGKILL", postgres.place, "short", every)

    assert (tally.tried > 150 / every, tally.harm) == (True, (0, 0, 0))


@pytest.mark.timeout(1800)
def test_a_run_of_fifty_steps_in_postgres_killed_around_its_writes_loses_nothing(postgres):
    tally = killed_at_writes("SIGKILL", postgres.place, "long", every=3)

    assert (tally.tried > 300, tally.harm) == (True, (0, 0, 0))
