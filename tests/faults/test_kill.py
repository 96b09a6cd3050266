"""Whenever its process is killed, a run goes on to the end of one that was not disturbed."""

from __future__ import annotations

import pytest

from tests.faults.killing import killed_at_writes, killed_by_chance


@pytest.mark.parametrize("seed", range(4))
def test_runs_killed_at_random_moments_lose_nothing_and_do_nothing_twice(places, seed):
    tally = killed_by_chance("SIGKILL", places, "long", seed, 25)

    assert tally.harm == (0, 0, 0)


def test_a_run_killed_before_and_after_every_write_loses_nothing_and_does_nothing_twice(places):
    tally = killed_at_writes("SIGKILL", places, "short")

    assert (tally.tried > 150, tally.harm) == (True, (0, 0, 0))


def test_runs_in_postgres_killed_at_random_moments_lose_nothing_and_do_nothing_twice(postgres):
    tally = killed_by_chance("SIGKILL", postgres.place, "long", 0, 15)

    assert tally.harm == (0, 0, 0)


def test_a_run_in_postgres_killed_around_its_writes_loses_nothing_and_does_nothing_twice(postgres):
    tally = killed_at_writes("SIGKILL", postgres.place, "short", every=5)

    assert (tally.tried > 30, tally.harm) == (True, (0, 0, 0))
