"""Assigns observed actions to expected steps, each action once: a maximum bipartite matching."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

MAX_SEARCH_STEPS: Final = 1_000_000
"""Limit for all searches of one assignment: some seconds. Only long chains of alternatives reach it."""


class UndecidedError(Exception):
    """A comparison cannot be made; the text says why. ``match_trajectory`` catches it."""


def assign_actions(
    masks: Sequence[int], order: Iterable[int], action_count: int, max_search_steps: int = MAX_SEARCH_STEPS
) -> list[int]:
    """Assign as many observed actions as possible.

    A step that has an action keeps one; therefore serving the required steps first serves as many of them as
    possible.

    Args:
        masks: candidates of each step; bit j stands for observed action j.
        order: indexes of the steps, in the order in which they are served.
        action_count: number of observed actions.
        max_search_steps: limit for all searches together.

    Returns:
        The index of the action of each step, or -1; always the same for the same input.

    Raises:
        UndecidedError: if the search reaches ``max_search_steps``.
    """
    assignment = Assignment(action_count, max_search_steps)
    for step in order:
        assignment.serve(step, masks[step])
    return [assignment.action_of_step.get(step, -1) for step in range(len(masks))]


class Assignment:
    """The actions that the steps hold which were served so far.

    Augmenting paths (Kuhn 1955, Berge 1957): if all candidates of a step are taken, their holders move to
    other candidates. So an early choice never costs a later pair, as it does in a greedy assignment.
    """

    def __init__(self, action_count: int, max_search_steps: int = MAX_SEARCH_STEPS) -> None:
        self.action_of_step: dict[int, int] = {}
        self.masks: dict[int, int] = {}
        self.closed = 0
        """Actions that are not searched. A search that fails adds those from which it found no free one."""
        self._step_of_action: dict[int, int] = {}
        self._free = (1 << action_count) - 1
        self._search_steps = max_search_steps

    def serve(self, step: int, mask: int) -> bool:
        """Give a step one of its candidates; returns whether it gets an action."""
        self.masks[step] = mask
        visited, queue = self.closed, [step]
        reached_from: dict[int, int] = {}
        for each in queue:
            fresh = self.masks[each] & ~visited
            if fresh & self._free:
                self._move_along_path(each, _lowest_bit(fresh & self._free), reached_from)
                return True
            visited |= fresh
            for action in self._search(fresh):
                reached_from[action] = each
                queue.append(self._step_of_action[action])
        self.closed = visited
        return False

    def _search(self, actions: int) -> Iterable[int]:
        self._search_steps -= 1
        if self._search_steps < 0:
            raise UndecidedError("the assignment takes too many steps of search")
        return _bit_positions(actions)

    def _move_along_path(self, step: int, action: int, reached_from: dict[int, int]) -> None:
        self._free ^= 1 << action
        while action >= 0:
            released = self.action_of_step.get(step, -1)
            self.action_of_step[step], self._step_of_action[action] = action, step
            action, step = released, reached_from.get(released, -1)


def _lowest_bit(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _bit_positions(mask: int) -> Iterable[int]:
    """Yield the positions of the bits that are set, the lowest first."""
    while mask:
        yield _lowest_bit(mask)
        mask &= mask - 1
