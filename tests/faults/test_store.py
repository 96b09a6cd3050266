"""Whatever happens to its store, a run says so, and goes on once the store is back."""

import pytest

from tests.faults.breaking import CORRUPTIONS, Fault, Lock, corrupt, found, struck
from tests.faults.tally import NONE

pytestmark = pytest.mark.faults
LOST = "postgres.* (?:was lost|failed)|\\A\\Z"
"""The sentence of a run whose connection was cut; between two accesses, nothing is said."""
# Calls of agents, of forty: in the first plan, when it is planned again, in the second plan, at the end.
at_moments = pytest.mark.parametrize("at", [pytest.param(1, marks=pytest.mark.sample), 12, 25, 35])


def do_nothing():
    """Mends what mends itself."""


@at_moments
def test_a_full_disk_is_an_error_after_which_the_run_goes_on(disk, at):
    place = disk.place()
    says = f"{place.store} failed \\(database or disk is full"

    assert struck(Fault(disk.fill, disk.empty, says), place, at) == NONE


def test_a_read_only_file_is_an_error_that_changes_nothing(disk):
    place = disk.place()
    says = f"{place.store} cannot be used as a store"

    assert found(Fault(disk.protect, disk.unprotect, says), place) == NONE


@pytest.mark.parametrize("how", CORRUPTIONS)
def test_a_corrupt_file_is_an_error_that_changes_nothing(places, how):
    place = places()

    assert found(corrupt(place, CORRUPTIONS[how]), place) == NONE


@at_moments
@pytest.mark.parametrize("how", ["stop", "crash", "cut"])
def test_a_database_that_is_gone_is_an_error_after_which_the_run_goes_on(postgres, how, at):
    is_cut = how == "cut"
    mend, says = (do_nothing, LOST) if is_cut else (postgres.start, "postgres.* failed")

    assert struck(Fault(getattr(postgres, how), mend, says), postgres.place(), at) == NONE


@at_moments
@pytest.mark.parametrize("is_short", [True, False])
def test_a_locked_file_is_waited_for_or_an_error_after_which_the_run_goes_on(places, is_short, at):
    place = places()
    lock, says = Lock(place.store), f"{place.store} failed \\(database is locked"
    short = Fault(lock.take_for_a_while, do_nothing, None)

    assert struck(short if is_short else Fault(lock.take, lock.let_go, says, 300), place, at) == NONE
