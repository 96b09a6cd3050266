"""The order of steps and of actions, in which groups may have no order among themselves."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations, groupby
from typing import Final

from evaluation.metrics.trajectory.assignment import Assignment, UndecidedError

MAX_WORK: Final = 1_000_000
"""Limit for the steps that are assigned in order to choose the optional ones: some seconds."""
_ALL_ONES: Final = -1
"""An integer without a highest bit, so that the number of observed actions does not matter."""


def number_groups(labels: Iterable[Hashable]) -> list[int]:
    """Number neighbours with the same label as one group. An item without a label (None) stands alone."""
    distinct = [(index, None) if label is None else label for index, label in enumerate(labels)]
    groups = enumerate(groupby(distinct))
    return [number for number, (_, members) in groups for _ in members]


@dataclass(frozen=True, slots=True)
class Order:
    """The number of the group of each step and of each action, from 0 and never falling.

    Steps or actions of one group have no order among themselves. In all masks, bit j stands for action j.
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
            masks: the actions that fit each step.
            steps: the steps that are compared, in order.
            assigned: the action of each step, or -1.
        """
        if not self.has_groups:
            return [steps[place] for place in find_outside_sequence([masks[step] for step in steps])]
        if self._can_be_in_order(masks, steps):
            return []
        pairs = [
            (self.group_of_step[step], self.group_of_action[assigned[step]], step)
            for step in steps
            if assigned[step] >= 0
        ]
        by_action = sorted(pairs, key=lambda pair: (pair[1], pair[0], pair[2]))
        place = {step: index for index, (_, _, step) in enumerate(by_action)}
        by_step = [step for _, _, step in sorted(pairs)]
        outside = {by_step[each] for each in find_outside_sequence([1 << place[step] for step in by_step])}
        return [step for step in steps if step not in place or step in outside]

    def _can_be_in_order(self, masks: Sequence[int], steps: Sequence[int]) -> bool:
        """Return whether each step can have an action of its own, in an order that the groups allow.

        The groups of steps take their actions one after the other, each as early as possible. This loses
        nothing: a group that ends earlier leaves every later action free. Two groups of steps may share one
        group of actions, so steps that were served before may move.
        """
        before = _groups_before(self.group_of_action)
        assignment, last = Assignment(len(self.group_of_action)), 0
        assignment.closed = ~before[min(1, len(before) - 1)]
        for _, members in groupby(steps, key=self.group_of_step.__getitem__):
            group, earlier = list(members), before[last]
            for step in group:
                while not assignment.serve(step, masks[step] & ~earlier):
                    last += 1
                    if last >= len(before) - 1:
                        return False
                    assignment.closed = ~before[last + 1]
            for step in group:
                assignment.masks[step] &= before[last + 1]
        return True

    def matches_exact(self, masks: Sequence[int], optional: Sequence[bool]) -> bool:
        """Return whether the same actions occur in the same order; an optional one may be absent.

        Args:
            masks: the actions that fit each step.
            optional: whether each step is optional.

        Raises:
            UndecidedError: if the optional steps leave too many choices.
        """
        count = len(self.group_of_action)
        if _matches_one_by_one(masks, optional, count):
            return True
        required = [step for step, flag in enumerate(optional) if not flag]
        others = [step for step, flag in enumerate(optional) if flag and masks[step]]
        chosen = count - len(required)
        if not self.has_groups or chosen < 0:
            return False
        if math.comb(len(others), chosen) * count > MAX_WORK:
            raise UndecidedError("the groups of actions without order leave too many choices")
        choices = combinations(others, chosen)
        return any(self._can_be_in_order(masks, sorted([*required, *each])) for each in choices)


def _matches_one_by_one(masks: Sequence[int], optional: Sequence[bool], action_count: int) -> bool:
    # Bit k: the first k observed actions are explained by the steps so far. A set of positions, because an
    # optional step leaves open whether it took the next action.
    reached = 1
    for mask, is_optional in zip(masks, optional, strict=True):
        explained = (reached & mask) << 1
        reached = explained | reached if is_optional else explained
    return bool(reached >> action_count)


def _groups_before(group_of_action: Sequence[int]) -> list[int]:
    """Return the mask of the actions before each group, and at the end the mask of all."""
    sizes = [len(list(members)) for _, members in groupby(group_of_action)]
    return [(1 << end) - 1 for end in accumulate(sizes, initial=0)]


def find_outside_sequence(masks: Sequence[int]) -> list[int]:
    """Return the indexes of the steps outside one longest common subsequence, always the same one.

    Each row of the table is one integer (Allison and Dix 1986; Hyyrö 2004): bit j is 0 if the length grows
    by one from j to j + 1 observed actions. The algorithm only asks which pairs fit, so fitting need not be
    equality. Time: steps times observed actions / 64.

    Args:
        masks: the observed actions that fit each step, in order.
    """
    rows = [_ALL_ONES]
    for mask in masks:
        row = rows[-1]
        rows.append(row + (row & mask) | row & ~mask)
    before, outside = _ALL_ONES, []
    for step in reversed(range(len(masks))):
        last = _highest_bit(~rows[step + 1] & before)
        if rows[step] & last:
            before = last - 1
        else:
            outside.append(step)
    return outside[::-1]


def _highest_bit(bits: int) -> int:
    return 1 << bits.bit_length() >> 1
