"""The order of expected steps and observed actions, in which groups have no order among themselves."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Self

from rapidfuzz.distance import LCSseq

from evaluation.metrics.trajectory.expected_steps import ExpectedStep
from evaluation.results.state import Action

_LAST: Final = float("inf")


@dataclass(frozen=True, slots=True)
class ActionOrder:
    """The places of steps and actions; those of one group, and the calls of one message, share a place."""

    place_of_step: Sequence[int]
    place_of_action: Sequence[int]

    @classmethod
    def of(cls, steps: Iterable[ExpectedStep], actions: Iterable[Action]) -> Self:
        """Read the places of steps and actions."""
        groups, messages = [step.group for step in steps], [action["message"] for action in actions]
        return cls(_number_places(groups), _number_places(messages))

    def assign_in_order(self, candidates: Sequence[Sequence[int]], steps: Iterable[int]) -> dict[int, int]:
        """Give each step the earliest free action that is not before the actions of earlier steps.

        Without groups, every step gets one if the actions are in order.
        """
        assigned: dict[int, int] = {}
        last = 0
        for _, members in groupby(steps, key=self.place_of_step.__getitem__):
            start = last
            for step in members:
                taken = assigned.values()
                later = (each for each in candidates[step] if self.place_of_action[each] >= start)
                action = next((each for each in later if each not in taken), None)
                if action is not None:
                    assigned[step] = action
                    last = max(last, self.place_of_action[action])
        return assigned

    def find_out_of_order(self, steps: Iterable[int], assigned: Mapping[int, int]) -> list[int]:
        """Return the steps outside one longest sequence of pairs that is in order."""
        ordered = self._sort_steps([step for step in steps if step in assigned], assigned)
        places = [self.place_of_action[assigned[step]] for step in ordered]
        edits = LCSseq.editops(places, sorted(places))
        return sorted(ordered[edit.src_pos] for edit in edits if edit.tag == "delete")

    def matches_exactly(
        self, candidates: Sequence[Sequence[int]], optional: Sequence[bool], assigned: Mapping[int, int]
    ) -> bool:
        """Return whether the same actions occur in the same order; an optional one may be absent.

        Within a group, steps and actions are compared in the order of ``assigned``.
        """
        steps = self._sort_steps(range(len(candidates)), assigned)
        rank = {assigned[step]: position for position, step in enumerate(steps) if step in assigned}
        actions = sorted(
            range(len(self.place_of_action)),
            key=lambda action: (self.place_of_action[action], rank.get(action, _LAST)),
        )
        # The numbers of actions that the steps so far may explain: an optional step may have taken one.
        explained = {0}
        for step in steps:
            following = {
                count + 1
                for count in explained
                if count < len(actions) and actions[count] in candidates[step]
            }
            explained = following | explained if optional[step] else following
        return len(actions) in explained

    def _sort_steps(self, steps: Iterable[int], assigned: Mapping[int, int]) -> list[int]:
        def place(step: int) -> tuple[int, float]:
            action = assigned.get(step)
            return self.place_of_step[step], _LAST if action is None else self.place_of_action[action]

        return sorted(steps, key=place)


def _number_places(labels: Sequence[Hashable]) -> list[int]:
    """Return for each item the position of the first of its neighbours with its label; None stands alone."""
    places: list[int] = []
    for position, label in enumerate(labels):
        is_joined = position > 0 and label is not None and label == labels[position - 1]
        places.append(places[-1] if is_joined else position)
    return places
