"""The order of steps and of actions, in which groups may have no order among themselves."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, groupby
from operator import or_
from typing import Final

from evaluation.metrics.trajectory.pairing.assignment import Assignment
from evaluation.metrics.trajectory.pairing.common_subsequence import find_out_of_order
from evaluation.metrics.trajectory.undecided import UndecidedError

MAX_WORK: Final = 1_000_000
"""Limit for the steps that all assignments of one search serve: some seconds."""


def number_groups(labels: Iterable[Hashable]) -> list[int]:
    """Number neighbours with the same label as one group. An item without a label (None) stands alone."""
    numbers: list[int] = []
    for number, (_, members) in enumerate(groupby(_label_each(labels))):
        numbers += [number for _ in members]
    return numbers


def _label_each(labels: Iterable[Hashable]) -> Iterable[Hashable]:
    return [(index, None) if label is None else label for index, label in enumerate(labels)]


@dataclass(frozen=True, slots=True)
class Order:
    """The number of the group of each step and of each action, from 0 and never falling.

    Steps or actions of one group have no order among themselves.
    """

    group_of_step: Sequence[int]
    group_of_action: Sequence[int]

    @property
    def has_groups(self) -> bool:
        """Whether any two steps or actions have no order."""
        return any(len(set(groups)) < len(groups) for groups in (self.group_of_step, self.group_of_action))

    def find_out_of_order(
        self, masks: Sequence[int], steps: Sequence[int], assigned: Sequence[int]
    ) -> list[int]:
        """Return the steps outside one long sequence that is in order; none exactly if all can be in order.

        Without groups, no sequence is longer. With groups, it is the longest one that keeps to ``assigned``.

        Args:
            masks: the actions that fit each step; bit j stands for action j.
            steps: the steps that are compared, in order.
            assigned: the action of each step, or -1.
        """
        if not self.has_groups:
            return [steps[place] for place in find_out_of_order([masks[step] for step in steps])]
        if self._can_be_in_order(masks, steps):
            return []
        pairs = [
            (self.group_of_step[step], self.group_of_action[assigned[step]], step)
            for step in steps
            if assigned[step] >= 0
        ]
        inside = _find_longest_rise(sorted(pairs))
        return [step for step in steps if step not in inside]

    def _can_be_in_order(self, masks: Sequence[int], steps: Sequence[int]) -> bool:
        """Return whether each step can have an action of its own, in an order that the groups allow.

        The groups of steps take their actions one after the other, each as early as possible. This loses
        nothing: a group that ends earlier leaves every later action free. Two groups of steps may share one
        group of actions, so steps that were served before may move.
        """
        search = _EarliestActions(masks, self.group_of_action)
        groups = groupby(steps, key=self.group_of_step.__getitem__)
        return all(search.serve_group(list(members)) for _, members in groups)


class _EarliestActions:
    """Serves one group of steps after the other, each with the earliest groups of actions.

    Steps that were served before keep some action: a further step only moves them, which is far cheaper than
    serving all of them again.
    """

    def __init__(self, masks: Sequence[int], group_of_action: Sequence[int]) -> None:
        self._masks = masks
        self._group_of_action = group_of_action
        self._before = groups_before(group_of_action)
        self._work = 0
        self._start_at(0)

    def _start_at(self, group: int) -> None:
        self._start = group
        self._movable: list[int] = []
        self._reachable = 0
        self._assignment = self._assign(())

    def serve_group(self, steps: Sequence[int]) -> bool:
        """Serve the steps; returns False if there is no way to."""
        free = ~self._before[self._start]
        masks = [self._masks[step] & free for step in steps]
        end = self._serve_early(masks) if all(masks) else None
        if end is None:
            return False
        served = self._limit(masks, end)
        self._movable += served
        self._reachable = reduce(or_, served, self._reachable)
        if self._is_used_up(end):
            self._start_at(end + 1)
        else:
            self._start = end
        return True

    def _serve_early(self, masks: Sequence[int]) -> int | None:
        """Serve all masks with the actions up to some group; returns the first one that is enough."""
        low = max(self._group_of_action[(mask & -mask).bit_length() - 1] for mask in masks)
        if self._add_all(self._assignment, self._limit(masks, low)):
            return low
        ends = range(low + 1, len(self._before) - 1)
        place = bisect_left(ends, True, key=lambda end: self._can_serve(masks, end))
        return ends[place] if place < len(ends) and self._can_serve(masks, ends[place]) else None

    def _can_serve(self, masks: Sequence[int], end: int) -> bool:
        # Anew, because a step that got no action leaves traces in an assignment.
        self._assignment = self._assign(self._movable)
        return self._add_all(self._assignment, self._limit(masks, end))

    def _assign(self, masks: Sequence[int]) -> Assignment:
        assignment = Assignment((), len(self._group_of_action))
        self._add_all(assignment, masks)
        return assignment

    def _limit(self, masks: Sequence[int], end: int) -> list[int]:
        return [mask & self._before[end + 1] for mask in masks]

    def _add_all(self, assignment: Assignment, masks: Sequence[int]) -> bool:
        self._work += len(masks)
        if self._work > MAX_WORK:
            raise UndecidedError("the groups of actions without order take too many steps of search")
        return all(map(assignment.add_step, masks))

    def _is_used_up(self, end: int) -> bool:
        """Return whether no later step can have an action of the group ``end``.

        A single action is used, or the group of steps would have ended before.
        """
        last = self._before[end + 1] & ~self._before[end]
        return last.bit_count() == 1 or (
            last & ~self._reachable == 0 and self._reachable.bit_count() == len(self._movable)
        )


def groups_before(group_of_action: Sequence[int]) -> list[int]:
    """Return the mask of the actions before each group, and at the end the mask of all."""
    sizes = [len(list(members)) for _, members in groupby(group_of_action)]
    ends = accumulate(sizes, initial=0)
    return [(1 << end) - 1 for end in ends]


def _find_longest_rise(pairs: Sequence[tuple[int, int, int]]) -> set[int]:
    """Return the steps of one longest sequence of pairs in which the group of actions never falls."""
    tails: list[int] = []
    last_of: list[int] = []
    previous: list[int] = []
    for index, (_, group, _) in enumerate(pairs):
        place = bisect_right(tails, group)
        tails[place:] = [group, *tails[place + 1 :]]
        previous.append(last_of[place - 1] if place else -1)
        last_of[place:] = [index, *last_of[place + 1 :]]
    inside: set[int] = set()
    index = last_of[-1] if last_of else -1
    while index >= 0:
        inside.add(pairs[index][2])
        index = previous[index]
    return inside
