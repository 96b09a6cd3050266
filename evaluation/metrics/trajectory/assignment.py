"""Assignment of observed actions to expected steps, each used once: a maximum bipartite matching."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from evaluation.metrics.trajectory.comparison import UndecidedError

_ONES: Final = -1
"""Without end, so that it makes no difference how many actions were observed."""


def common_length(masks: Sequence[int]) -> int:
    """Return the length of the longest common subsequence.

    A row of the table as one integer (Allison and Dix 1986; Hyyrö 2004): bit j is 0 where the length grows
    by one from j to j + 1 observed actions. It asks only which pair fits, so that fitting need not be
    equality. Time: steps times observed / 64.

    Args:
        masks: the observed actions that fit each step, in order; bit j stands for observed action j.
    """
    row = _ONES
    for mask in masks:
        row = _next(row, mask)
    return (~row).bit_count()


def out_of_order(masks: Sequence[int]) -> list[int]:
    """Return the indexes of the steps outside one longest common subsequence, always the same one."""
    rows = [_ONES]
    for mask in masks:
        rows.append(_next(rows[-1], mask))
    before, outside = _ONES, []
    for step in reversed(range(len(masks))):
        last = _highest(~rows[step + 1] & before)
        if rows[step] & last:
            before = last - 1
        else:
            outside.append(step)
    return outside[::-1]


def _next(row: int, mask: int) -> int:
    return row + (row & mask) | row & ~mask


def _highest(bits: int) -> int:
    return 1 << bits.bit_length() >> 1


MOST_STEPS: Final = 1_000_000
"""Steps of all searches for one assignment; some seconds. Only long chains of alternatives need as many."""


def assign(
    masks: Sequence[int],
    required: Iterable[int],
    optional: Iterable[int],
    observed: int,
    most_steps: int = MOST_STEPS,
) -> list[int]:
    """Assign as many observed actions as possible, and to required steps first.

    Augmenting paths (Kuhn 1955, Berge 1957): a step that finds its candidates taken asks their holders to
    move, so that an early choice never costs a later match, as it does in a greedy assignment. A step once
    served stays served; so serving the required ones first serves the most of them that is possible. What
    a failed search has seen is not searched again, as nothing free can be reached from there.

    Args:
        masks: candidates of each step; bit j stands for observed action j.
        required: indexes of the required steps.
        optional: indexes of the others.
        observed: how many actions were observed.
        most_steps: how many steps all searches may take.

    Returns:
        The observed index for each step, -1 for none; the same for the same input.

    Raises:
        UndecidedError: after ``most_steps`` steps of search.
    """
    search = _Search(masks, observed, most_steps)
    first = list(required)
    search.take_same_places(first)
    search.serve(first)
    search.serve(optional)
    return search.held


class _Search:
    __slots__ = ("_dead", "_free", "_holder", "_left", "_masks", "held")

    def __init__(self, masks: Sequence[int], observed: int, most_steps: int) -> None:
        self._masks = masks
        self._free = (1 << observed) - 1
        self._dead = 0
        self._holder = [-1] * observed
        self._left = most_steps
        self.held = [-1] * len(masks)

    def take_same_places(self, steps: Iterable[int]) -> None:
        for step in steps:
            if self._masks[step] >> step & 1:
                self._take(step, step)

    def serve(self, steps: Iterable[int]) -> None:
        for step in steps:
            if self.held[step] >= 0:
                continue
            free = self._masks[step] & self._free
            if free:
                self._take(step, _lowest(free))
            else:
                self._augment(step)

    def _take(self, step: int, action: int) -> None:
        self._free ^= 1 << action
        self.held[step] = action
        self._holder[action] = step

    def _augment(self, start: int) -> None:
        seen = self._dead
        reached_from: dict[int, int] = {}
        queue = [start]
        for step in queue:
            fresh = self._masks[step] & ~seen
            if fresh & self._free:
                self._flip(start, step, _lowest(fresh & self._free), reached_from)
                return
            seen |= fresh
            self._enqueue(step, fresh, queue, reached_from)
        self._dead = seen

    def _enqueue(self, step: int, fresh: int, queue: list[int], reached_from: dict[int, int]) -> None:
        for action in _bits(fresh):
            reached_from[action] = step
            queue.append(self._holder[action])
        self._left -= 1
        if self._left < 0:
            raise UndecidedError("the assignment takes too many steps of search")

    def _flip(self, start: int, step: int, action: int, reached_from: dict[int, int]) -> None:
        while step != start:
            released = self.held[step]
            self._take(step, action)
            self._free ^= 1 << released
            action, step = released, reached_from[released]
        self._take(step, action)


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _bits(mask: int) -> Iterable[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
