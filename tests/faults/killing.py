"""Runs whose processes are killed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Protocol

from tests.faults.children import Place, ended, killed_at, start
from tests.faults.tally import Tally, tallied


class Places(Protocol):
    """Makes empty places."""

    def __call__(self) -> Place: ...


def killed_by_chance(fault: str, places: Places, story: str, seed: int, kills: int) -> Tally:
    """Kill runs by chance, each again and again until it has ended, at least so many times in all."""
    chance, tally = random.Random(seed), Tally(fault)
    while tally.tried < kills:
        place = places()
        times = _until_ended(place, story, chance)
        tally += tallied(fault, times, story, place)
    return tally


def _until_ended(place: Place, story: str, chance: random.Random) -> int:
    for kills in count():
        child = start(place, story)
        killed_at(child, place.log, chance.randrange(30), chance.random() * 0.05)
        if ended(child, place):
            return kills
    raise AssertionError("unreachable")


def killed_at_writes(fault: str, places: Places, story: str, every: int = 1) -> Tally:
    """Kill a run before and after every n-th write to its store; a node ends in two of them."""
    place, kills = places(), 0
    while not ended(start(place, story, every), place):
        kills += 1
    return tallied(fault, kills, story, place)


def sqlite_places(folder: Path) -> Places:
    """Places in SQLite."""
    numbers: Iterator[int] = count()

    def place() -> Place:
        own = folder / f"run{next(numbers)}"
        own.mkdir()
        return Place(str(own / "runs.sqlite"), own)

    return place
