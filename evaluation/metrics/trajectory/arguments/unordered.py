"""Pairs the items of lists that may come in any order, alone or with the items of parallel lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias

from evaluation.metrics.trajectory.arguments.equality import hashable_key
from evaluation.metrics.trajectory.assignment import assign_actions
from evaluation.values import JsonObject

ParallelLists: TypeAlias = Mapping[str, tuple[Sequence[object], Sequence[object]]]
"""The expected and the observed list by name; all of one length."""


def find_parallel_lists(group: Iterable[str], expected: JsonObject, observed: JsonObject) -> ParallelLists:
    """Return the lists of a group that both sides have.

    Returns nothing if they are not lists of one length: then no items belong together.
    """
    names = [name for name in group if name in expected and name in observed]
    lists = {
        name: (value, other)
        for name in names
        if isinstance(value := expected[name], list) and isinstance(other := observed[name], list)
    }
    lengths = {len(side) for sides in lists.values() for side in sides}
    return lists if len(lists) == len(names) and len(lengths) == 1 else {}


def find_unpaired_items(
    lists: ParallelLists, fits: Callable[[int, int], bool], spend: Callable[[int], None]
) -> list[tuple[int, int]]:
    """Pair as many items as possible, and return the positions of those that stay without a partner.

    Args:
        lists: the expected and the observed lists.
        fits: returns whether the expected items at one position agree with the observed ones at another.
        spend: is called with the number of comparisons before they are made.
    """
    size = min((len(expected) for expected, _ in lists.values()), default=0)
    if _count_items(lists, 0, size) == _count_items(lists, 1, size):
        return []
    spend(size * size)
    places = range(size)
    masks = [sum(1 << place for place in places if fits(index, place)) for index in places]
    assigned = assign_actions(masks, places, size)
    free = sorted(set(places).difference(assigned))
    lonely = [index for index, place in enumerate(assigned) if place < 0]
    return list(zip(lonely, free, strict=True))


def _count_items(lists: ParallelLists, side: int, size: int) -> Counter[Hashable]:
    return Counter(
        tuple([hashable_key(sides[side][index]) for sides in lists.values()]) for index in range(size)
    )
