"""Decides whether two trajectories agree in a match mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evaluation.metrics.trajectory.actions import ExpectedStep

ORDERED_MODES: Final = frozenset({"exact", "in_order"})
MODES_WITHOUT_EXTRAS: Final = frozenset({"exact", "subset", "precision_recall"})


def matches_exact(steps: Sequence[ExpectedStep], masks: Sequence[int], actual_count: int) -> bool:
    """Return whether the same actions occur in the same order; an optional one may be absent.

    Args:
        steps: the expected steps.
        masks: the observed actions that fit each step; bit j stands for observed action j.
        actual_count: number of observed actions.
    """
    # Bit k: the first k observed actions are explained by the steps so far. A set of positions, because an
    # optional step leaves open whether it took the next action.
    reached = 1
    for mask, step in zip(masks, steps, strict=True):
        explained = (reached & mask) << 1
        reached = explained | reached if step.optional else explained
    return bool(reached >> actual_count)
