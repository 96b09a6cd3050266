"""The order of expected steps and observed actions; parallel calls have no order among themselves."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from rapidfuzz.distance import LCSseq

from evaluation.results.state import Action

_LAST: Final = float("inf")


@dataclass(frozen=True, slots=True)
class ActionOrder:
    """The places of actions; the calls of one message share a place."""

    place_of_action: Sequence[int]

    @classmethod
    def of(cls, actions: Iterable[Action]) -> Self:
        """Read the places of actions."""
        return cls(_number_places([action["message"] for action in actions]))

    def assign_in_order(self, candidates: Sequence[Sequence[int]], steps: Iterable[int]) -> dict[int, int]:
        """Give each step the earliest free action that is not before the actions of earlier steps.

        Every step gets one if the actions are in order.
        """
        assigned: dict[int, int] = {}
        last = 0
        for step in steps:
            taken = assigned.values()
            later = (each for each in candidates[step] if self.place_of_action[each] >= last)
            action = next((each for each in later if each not in taken), None)
            if action is not None:
                assigned[step] = action
                last = self.place_of_action[action]
        return assigned

    def find_out_of_order(self, steps: Iterable[int], assigned: Mapping[int, int]) -> list[int]:
        """Return the steps (ascending) outside one longest sequence of pairs that is in order."""
        ordered = [step for step in steps if step in assigned]
        places = [self.place_of_action[assigned[step]] for step in ordered]
        edits = LCSseq.editops(places, sorted(places))
        return sorted(ordered[edit.src_pos] for edit in edits if edit.tag == "delete")

    def matches_exactly(
        self, candidates: Sequence[Sequence[int]], optional: Sequence[bool], assigned: Mapping[int, int]
    ) -> bool:
        """Return whether the same actions occur in the same order; an optional one may be absent.

        Parallel calls are compared in the order of ``assigned``.
        """
        rank = {action: step for step, action in assigned.items()}
        places = [(place, rank.get(each, _LAST), each) for each, place in enumerate(self.place_of_action)]
        actions = [action for _, _, action in sorted(places)]
        # The numbers of actions that the steps so far may explain: an optional step may have taken one.
        explained = {0}
        for fitting, is_optional in zip(candidates, optional, strict=True):
            following = {
                count + 1 for count in explained if count < len(actions) and actions[count] in fitting
            }
            explained = following | explained if is_optional else following
        return len(actions) in explained


def _number_places(labels: Sequence[Hashable]) -> list[int]:
    """Return for each item the position of the first of its neighbours with its label; None stands alone."""
    places: list[int] = []
    for position, label in enumerate(labels):
        is_joined = position > 0 and label is not None and label == labels[position - 1]
        places.append(places[-1] if is_joined else position)
    return places
