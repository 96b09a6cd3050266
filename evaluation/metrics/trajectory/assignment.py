"""Assigns observed actions to expected steps, each action once: a maximum bipartite matching."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Final, Self

from evaluation.metrics.trajectory.undecided import UndecidedError

MAX_SEARCH_STEPS: Final = 1_000_000
"""Limit for all searches of one assignment: some seconds. Only long chains of alternatives reach it."""


def assign_actions(
    masks: Sequence[int],
    order: Iterable[int],
    action_count: int,
    max_search_steps: int = MAX_SEARCH_STEPS,
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
    steps = [*order]
    assignment = Assignment.start(action_count, max_search_steps)
    for step in steps:
        assignment.add_step(masks[step])
    action_of_step = dict(zip(steps, assignment.action_of_step, strict=True))
    return [action_of_step.get(step, -1) for step in range(len(masks))]


@dataclass(slots=True)
class Assignment:
    """The actions that the steps hold which were added so far.

    Augmenting paths (Kuhn 1955, Berge 1957): if all candidates of a step are taken, their holders move to
    other candidates. So an early choice never costs a later pair, as it does in a greedy assignment. Actions
    that a failed search has visited are not searched again, as no free action can be reached from them.
    """

    action_of_step: list[int]
    step_of_action: list[int]
    masks: list[int]
    free: int
    search_steps: Iterator[None]
    """Copies share it, so that the limit holds for all of them together."""
    dead_ends: int = 0

    @classmethod
    def start(cls, action_count: int, max_search_steps: int = MAX_SEARCH_STEPS) -> Self:
        """Return an assignment without steps."""
        return cls([], [-1] * action_count, [], (1 << action_count) - 1, repeat(None, max_search_steps))

    def extend(self, masks: Iterable[int]) -> Self | None:
        """Return an assignment with further steps; None if one of them gets no action."""
        longer = replace(
            self,
            action_of_step=[*self.action_of_step],
            step_of_action=[*self.step_of_action],
            masks=[*self.masks],
        )
        return longer if all(map(longer.add_step, masks)) else None

    def add_step(self, mask: int) -> bool:
        """Add a step with its candidates; returns whether it gets an action."""
        start = len(self.masks)
        self.masks.append(mask)
        self.action_of_step.append(-1)
        visited = self.dead_ends
        reached_from: dict[int, int] = {}
        queue = [start]
        for step in queue:
            fresh = self.masks[step] & ~visited
            if fresh & self.free:
                self._move_along_path(step, _lowest_bit(fresh & self.free), reached_from)
                return True
            visited |= fresh
            queue += self._list_holders(step, fresh, reached_from)
        self.dead_ends = visited
        return False

    def _list_holders(self, step: int, actions: int, reached_from: dict[int, int]) -> list[int]:
        if next(self.search_steps, self) is self:
            raise UndecidedError("the assignment takes too many steps of search")
        positions = list(bit_positions(actions))
        reached_from.update(dict.fromkeys(positions, step))
        return [self.step_of_action[action] for action in positions]

    def _move_along_path(self, step: int, action: int, reached_from: dict[int, int]) -> None:
        self.free ^= 1 << action
        while action >= 0:
            released = self.action_of_step[step]
            self.action_of_step[step], self.step_of_action[action] = action, step
            action, step = released, reached_from.get(released, -1)


def _lowest_bit(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def bit_positions(mask: int) -> Iterable[int]:
    """Yield the positions of the bits that are set, the lowest first."""
    while mask:
        yield _lowest_bit(mask)
        mask &= mask - 1
