"""Clocks that are set back, and zones that turn to summer time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.faults.children import PROCESSES, Place, ended, killed_at, tell
from tests.faults.killing import Places
from tests.faults.tally import Tally, tallied

HOUR_S = 3600.0


@contextmanager
def set_back(seconds: float) -> Iterator[None]:
    """Let the wall clock of this process go so much behind; what counts durations goes on as it did."""
    right, right_ns = time.time, time.time_ns
    time.time = lambda: right() - seconds  # type: ignore[assignment]
    time.time_ns = lambda: right_ns() - int(seconds * 1e9)  # type: ignore[assignment]
    try:
        yield
    finally:
        time.time, time.time_ns = right, right_ns  # type: ignore[assignment]


def crashed_before(places: Places, story: str, at: int) -> Tally:
    """Kill a run at a call, and go on with it in a process whose clock is an hour behind; and once more."""
    place = places()
    for hours in (0, 1, 2):
        child = PROCESSES.Process(target=_tell_late, args=(place, story, hours * HOUR_S), daemon=True)
        child.start()
        killed_at(child, place.log, at if hours < 2 else 10_000, 0)
        if ended(child, place):
            break
    return tallied("clock set back an hour before each of two resumes", 1, story, place)


def _tell_late(place: Place, story: str, seconds: float) -> None:
    with set_back(seconds):
        tell(place, story, None)
