"""Assigns observed actions to expected steps, each action once: a maximum bipartite matching."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from evaluation.metrics.trajectory.undecided import UndecidedError

MAX_SEARCH_STEPS: Final = 1_000_000
"""Limit for all searches of one assignment: some seconds. Only long chains of alternatives reach it."""


def assign_actions(
    masks: Sequence[int],
    order: Iterable[int],
    actual_count: int,
    max_search_steps: int = MAX_SEARCH_STEPS,
) -> list[int]:
    """Assign as many observed actions as possible.

    Augmenting paths (Kuhn 1955, Berge 1957): if all candidates of a step are taken, their holders move to
    other candidates. So an early choice never costs a later pair, as it does in a greedy assignment. A step
    that has an action keeps one; therefore serving the required steps first serves as many of them as
    possible. Actions that a failed search has visited are not searched again, as no free action can be
    reached from them.

    Args:
        masks: candidates of each step; bit j stands for observed action j.
        order: indexes of the steps, in the order in which they are served.
        actual_count: number of observed actions.
        max_search_steps: limit for all searches together.

    Returns:
        The index of the action of each step, or -1; always the same for the same input.

    Raises:
        UndecidedError: if the search reaches ``max_search_steps``.
    """
    assignment = Assignment(masks, actual_count, max_search_steps)
    for step in order:
        assignment.serve_step(step)
    return assignment.action_of_step


class Assignment:
    """The actions that steps hold so far; see ``assign_actions``."""

    def __init__(
        self, masks: Sequence[int], actual_count: int, max_search_steps: int = MAX_SEARCH_STEPS
    ) -> None:
        self._masks = [*masks]
        self._free = (1 << actual_count) - 1
        self._dead_ends = 0
        self._step_of_action = [-1] * actual_count
        self._remaining = max_search_steps
        self.action_of_step = [-1] * len(masks)

    def add_step(self, mask: int) -> bool:
        """Add a step and serve it; returns False if it gets no action. Then no further step can be added."""
        self._masks.append(mask)
        self.action_of_step.append(-1)
        self.serve_step(len(self._masks) - 1)
        return self.action_of_step[-1] >= 0

    def serve_step(self, start: int) -> None:
        """Give a step an action, if there is a way to."""
        visited = self._dead_ends
        reached_from: dict[int, int] = {}
        queue = [start]
        for step in queue:
            fresh = self._masks[step] & ~visited
            if fresh & self._free:
                self._move_along_path(start, step, _lowest_bit(fresh & self._free), reached_from)
                return
            visited |= fresh
            self._enqueue_holders(step, fresh, queue, reached_from)
        self._dead_ends = visited

    def _enqueue_holders(self, step: int, fresh: int, queue: list[int], reached_from: dict[int, int]) -> None:
        for action in bit_positions(fresh):
            reached_from[action] = step
            queue.append(self._step_of_action[action])
        self._remaining -= 1
        if self._remaining < 0:
            raise UndecidedError("the assignment takes too many steps of search")

    def _move_along_path(self, start: int, step: int, action: int, reached_from: dict[int, int]) -> None:
        self._free ^= 1 << action
        while step != start:
            released = self.action_of_step[step]
            self._hold_action(step, action)
            action, step = released, reached_from[released]
        self._hold_action(step, action)

    def _hold_action(self, step: int, action: int) -> None:
        self.action_of_step[step] = action
        self._step_of_action[action] = step


def _lowest_bit(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def bit_positions(mask: int) -> Iterable[int]:
    """Yield the positions of the bits that are set, the lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
