"""What each match mode asks for, given which observed actions fit which step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from evaluation.inputs.rules import MatchMode
from evaluation.metrics.trajectory.actions import ExpectedStep


class Pairing(NamedTuple):
    """Two trajectories as the modes see them."""

    masks: Sequence[int]
    """The observed actions that fit each step; bit j stands for observed action j."""
    steps: Sequence[ExpectedStep]
    observed: int
    """How many actions were observed."""
    missing: Sequence[int]
    """Required steps that the optimal assignment leaves without an action."""
    extra: Sequence[int]
    """Observed actions that it leaves without a step."""


def _exact(pairing: Pairing) -> bool:
    """The same actions in the same order; an optional one may be absent."""
    reached = 1  # bit k: the first k observed actions are explained by the steps so far
    for mask, step in zip(pairing.masks, pairing.steps, strict=True):
        explained = (reached & mask) << 1
        reached = explained | reached if step.optional else explained
    return bool(reached >> pairing.observed)


def _in_order(pairing: Pairing) -> bool:
    """Every required step in order; anything may come between. The earliest that fits is always enough."""
    position = 0
    for mask, step in zip(pairing.masks, pairing.steps, strict=True):
        if step.optional:
            continue
        later = mask >> position
        if not later:
            return False
        position += (later & -later).bit_length()
    return True


def _nothing_missing(pairing: Pairing) -> bool:
    return not pairing.missing


def _nothing_extra(pairing: Pairing) -> bool:
    return not pairing.extra


def _nothing_missing_or_extra(pairing: Pairing) -> bool:
    return not pairing.missing and not pairing.extra


AGREES: Final[Mapping[MatchMode, Callable[[Pairing], bool]]] = MappingProxyType(
    {
        "exact": _exact,
        "in_order": _in_order,
        "any_order": _nothing_missing,
        "superset": _nothing_missing,
        "single_tool": _nothing_missing,
        "subset": _nothing_extra,
        "precision_recall": _nothing_missing_or_extra,
    }
)
ORDERED: Final = frozenset({"exact", "in_order"})
