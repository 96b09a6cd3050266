"""The faults of stores that are tried."""

from __future__ import annotations

from tests.faults.breaking import CORRUPTIONS, Fault, Lock, corrupt, found, struck
from tests.faults.killing import Places
from tests.faults.servers import Disk, Postgres
from tests.faults.tally import Tally

_LOST = "postgres.* (?:was lost|failed)|\\A\\Z"
"""The sentence of a run whose connection was cut; between two accesses, nothing is said."""
MOMENTS = (1, 12, 25, 35)
"""Calls of agents, of forty: in the row, when it is planned again, side by side, at the end."""


def locked_for_a_while(places: Places, at: int) -> Tally:
    place = places()
    lock = Lock(place.store)
    return struck(Fault("file locked for half a second", lock.take_for_a_while, _nothing, None), place, at)


def locked(places: Places, at: int) -> Tally:
    place = places()
    lock = Lock(place.store)
    says = f"{place.store} failed \\(database is locked"
    fault = Fault("file locked for longer than is waited", lock.take, lock.let_go, says, patience_ms=300)
    return struck(fault, place, at)


def full(disk: Disk, at: int) -> Tally:
    place = disk.place()
    says = f"{place.store} failed \\(database or disk is full"
    return struck(Fault("disk full", disk.fill, disk.empty, says), place, at)


def read_only(disk: Disk) -> Tally:
    place = disk.place()
    says = f"{place.store} cannot be used as a store"
    return found(Fault("file system read-only", disk.protect, disk.unprotect, says), place)


def corrupted(places: Places, how: str) -> Tally:
    place = places()
    return found(corrupt(place, CORRUPTIONS[how]), place)


def stopped(postgres: Postgres, at: int) -> Tally:
    fault = Fault("PostgreSQL stopped", postgres.stop, postgres.start, "postgres.* failed")
    return struck(fault, postgres.place(), at)


def crashed(postgres: Postgres, at: int) -> Tally:
    fault = Fault("PostgreSQL crashed", postgres.crash, postgres.start, "postgres.* failed")
    return struck(fault, postgres.place(), at)


def cut(postgres: Postgres, at: int) -> Tally:
    return struck(Fault("connection cut", postgres.cut, _nothing, _LOST), postgres.place(), at)


def _nothing() -> None:
    return
