"""The match modes (exact, in_order, any_order, superset, subset, precision_recall, single_tool).

One function for each rule. It decides from the observed actions that fit each step, and from the steps and
actions that the best assignment leaves over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from evaluation.inputs.rules import MatchMode
from evaluation.metrics.trajectory.actions import ExpectedStep


class Pairing(NamedTuple):
    """The comparison of two trajectories on which every mode decides."""

    masks: Sequence[int]
    """The observed actions that fit each step; bit j stands for observed action j."""
    steps: Sequence[ExpectedStep]
    actual_count: int
    missing: Sequence[int]
    """Required steps to which the assignment gives no action."""
    extra: Sequence[int]
    """Observed actions that the assignment gives to no step."""


def matches_exact(pairing: Pairing) -> bool:
    """Return whether the same actions occur in the same order; an optional one may be absent."""
    # Bit k: the first k observed actions are explained by the steps so far. A set of positions, because an
    # optional step leaves open whether it took the next action.
    reached = 1
    for mask, step in zip(pairing.masks, pairing.steps, strict=True):
        explained = (reached & mask) << 1
        reached = explained | reached if step.optional else explained
    return bool(reached >> pairing.actual_count)


def matches_in_order(pairing: Pairing) -> bool:
    """Return whether every required step occurs in order, with anything in between."""
    position = 0
    for mask, step in zip(pairing.masks, pairing.steps, strict=True):
        if step.optional:
            continue
        later = mask >> position
        if not later:
            return False
        # The earliest action that fits leaves the most actions for the steps after it.
        position += (later & -later).bit_length()
    return True


def matches_any_order(pairing: Pairing) -> bool:
    """Return whether every required step occurs; extra actions are allowed (also ``superset``)."""
    return not pairing.missing


def matches_subset(pairing: Pairing) -> bool:
    """Return whether every action is expected; expected steps may be missing."""
    return not pairing.extra


def matches_precision_recall(pairing: Pairing) -> bool:
    """Return whether no step is missing and no action is extra; used if no threshold is set."""
    return not pairing.missing and not pairing.extra


MODE_MATCHERS: Final[Mapping[MatchMode, Callable[[Pairing], bool]]] = MappingProxyType(
    {
        "exact": matches_exact,
        "in_order": matches_in_order,
        "any_order": matches_any_order,
        "superset": matches_any_order,
        "single_tool": matches_any_order,
        "subset": matches_subset,
        "precision_recall": matches_precision_recall,
    }
)
ORDERED_MODES: Final = frozenset({"exact", "in_order"})
MODES_WITHOUT_EXTRAS: Final = frozenset({"exact", "subset", "precision_recall"})
