"""Pairs the items of lists that may come in any order, alone or with the items of parallel lists."""

from __future__ import annotations

from collections import Counter, defaultdict
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
    lists: ParallelLists,
    fits: Callable[[int, int], bool],
    spend: Callable[[int], None],
    *,
    is_transitive: bool,
) -> list[tuple[int, int]]:
    """Pair as many items as possible, and return the positions of those that stay without a partner.

    Args:
        lists: the expected and the observed lists.
        fits: returns whether the expected items at one position agree with the observed ones at another.
        spend: is called with the number of comparisons before they are made.
        is_transitive: whether fitting is transitive. Then equal items can be paired before all others without
            losing a pair: if their partners in another pairing are swapped, both pairs fit.
    """
    size = min((len(expected) for expected, _ in lists.values()), default=0)
    left, right = list(range(size)), list(range(size))
    if is_transitive:
        left, right = _without_equal_items(lists, size)
    spend(len(left) * len(right))
    masks = [sum(1 << place for place, other in enumerate(right) if fits(index, other)) for index in left]
    assigned = assign_actions(masks, range(len(left)), len(right))
    free = sorted(set(range(len(right))).difference(assigned))
    lonely = [index for index, place in zip(left, assigned, strict=True) if place < 0]
    return [(index, right[place]) for index, place in zip(lonely, free, strict=True)]


def _without_equal_items(lists: ParallelLists, size: int) -> tuple[list[int], list[int]]:
    """Return the positions that are left if each expected item takes an equal observed one."""
    keys: list[list[Hashable]] = [
        [tuple([hashable_key(sides[side][index]) for sides in lists.values()]) for index in range(size)]
        for side in (0, 1)
    ]
    equal = Counter(keys[0]) & Counter(keys[1])
    return _skip_counted(keys[0], equal), _skip_counted(keys[1], equal)


def _skip_counted(keys: Sequence[Hashable], counts: Counter[Hashable]) -> list[int]:
    remaining: defaultdict[Hashable, int] = defaultdict(int, counts)
    left = []
    for index, key in enumerate(keys):
        remaining[key] -= 1
        if remaining[key] < 0:
            left.append(index)
    return left
