"""Whenever its process is killed, a run goes on to the end of one that was not disturbed.

At every write of a run of fifty steps it takes minutes: set FAULTS=1, or see ``tests/faults/report.py``.
"""

from __future__ import annotations

import os

import pytest

from tests.faults.killing import killed_at_writes, killed_by_chance

LONG = bool(os.environ.get("FAULTS"))
LEFT_OUT = 1 if LONG else 16
"""Of so many writes of the longer run all but one are left out."""


@pytest.mark.parametrize("seed", range(4))
def test_runs_killed_at_random_moments_lose_nothing_and_do_nothing_twice(places, seed):
    tally = killed_by_chance("SIGKILL", places, "long", seed, 25)

    assert tally.harm == (0, 0, 0)


def test_a_run_killed_before_or_after_its_writes_loses_nothing_and_does_nothing_twice(places):
    tally = killed_at_writes("SIGKILL", places, "short", every=1 if LONG else 3)

    assert (tally.tried > 60, tally.harm) == (True, (0, 0, 0))


def test_a_run_of_fifty_steps_killed_around_its_writes_loses_nothing_and_does_nothing_twice(places):
    tally = killed_at_writes("SIGKILL", places, "long", LEFT_OUT)

    assert (tally.tried > 1000 / LEFT_OUT, tally.harm) == (True, (0, 0, 0))


def test_runs_in_postgres_killed_at_random_moments_lose_nothing_and_do_nothing_twice(postgres):
    tally = killed_by_chance("SIGKILL", postgres.place, "long", 0, 15)

    assert tally.harm == (0, 0, 0)


def test_a_run_in_postgres_killed_around_its_writes_loses_nothing_and_does_nothing_twice(postgres):
    tally = killed_at_writes("SIGKILL", postgres.place, "short", every=5)

    assert (tally.tried > 30, tally.harm) == (True, (0, 0, 0))


def test_a_run_of_fifty_steps_in_postgres_killed_around_its_writes_loses_nothing(postgres):
    tally = killed_at_writes("SIGKILL", postgres.place, "long", 3 * LEFT_OUT)

    assert (tally.tried > 300 / LEFT_OUT, tally.harm) == (True, (0, 0, 0))
