"""Whatever happens to its store, a run says so, and goes on once the store is back."""

from __future__ import annotations

import pytest

from tests.faults import cases
from tests.faults.breaking import CORRUPTIONS

NONE = (0, 0, 0)
pytestmark = pytest.mark.faults


def at_moments(first, *others):
    """Strike at each moment; the first one belongs to the sample."""
    return pytest.mark.parametrize("at", [pytest.param(first, marks=pytest.mark.sample), *others])


@at_moments(*cases.MOMENTS)
def test_a_file_that_is_locked_for_a_while_is_waited_for(places, at):
    assert cases.locked_for_a_while(places, at).harm == NONE


@at_moments(*cases.MOMENTS)
def test_a_file_that_stays_locked_is_an_error_after_which_the_run_goes_on(places, at):
    assert cases.locked(places, at).harm == NONE


@at_moments(*cases.MOMENTS)
def test_a_full_disk_is_an_error_after_which_the_run_goes_on(disk, at):
    assert cases.full(disk, at).harm == NONE


def test_a_read_only_file_is_an_error_that_changes_nothing(disk):
    assert cases.read_only(disk).harm == NONE


@pytest.mark.parametrize("how", CORRUPTIONS)
def test_a_corrupt_file_is_an_error_that_changes_nothing(places, how):
    assert cases.corrupted(places, how).harm == NONE


@at_moments(*cases.MOMENTS[1:3])
def test_a_database_that_is_stopped_is_an_error_after_which_the_run_goes_on(postgres, at):
    assert cases.stopped(postgres, at).harm == NONE


def test_a_database_that_crashes_is_an_error_after_which_the_run_goes_on(postgres):
    assert cases.crashed(postgres, cases.MOMENTS[2]).harm == NONE


@at_moments(*cases.MOMENTS)
def test_a_connection_that_is_cut_is_an_error_after_which_the_run_goes_on(postgres, at):
    assert cases.cut(postgres, at).harm == NONE
