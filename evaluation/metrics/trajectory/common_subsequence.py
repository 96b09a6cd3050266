"""The longest common subsequence of steps and actions: its length, and the steps that are out of order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_ALL_ONES: Final = -1
"""An integer without a highest bit, so that the number of observed actions does not matter."""


def subsequence_length(masks: Sequence[int]) -> int:
    """Return the length of the longest common subsequence.

    Each row of the table is one integer (Allison and Dix 1986; Hyyrö 2004): bit j is 0 if the length grows
    by one from j to j + 1 observed actions. The algorithm only asks which pairs fit, so fitting need not be
    equality. Time: steps times observed actions / 64.

    Args:
        masks: the observed actions that fit each step, in order; bit j stands for observed action j.
    """
    row = _ALL_ONES
    for mask in masks:
        row = _next_row(row, mask)
    return (~row).bit_count()


def find_out_of_order(masks: Sequence[int]) -> list[int]:
    """Return the indexes of the steps outside one longest common subsequence, always the same one."""
    rows = [_ALL_ONES]
    for mask in masks:
        rows.append(_next_row(rows[-1], mask))
    before, outside = _ALL_ONES, []
    for step in reversed(range(len(masks))):
        last = _highest_bit(~rows[step + 1] & before)
        if rows[step] & last:
            before = last - 1
        else:
            outside.append(step)
    return outside[::-1]


def _next_row(row: int, mask: int) -> int:
    return row + (row & mask) | row & ~mask


def _highest_bit(bits: int) -> int:
    return 1 << bits.bit_length() >> 1
