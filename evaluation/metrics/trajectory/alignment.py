"""The longest common subsequence of expected steps and observed actions, by bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_ONES: Final = -1
"""Without end, so that it makes no difference how many actions were observed."""


def common_length(masks: Sequence[int]) -> int:
    """Return the length of the longest common subsequence.

    A row of the table as one integer (Allison and Dix 1986; Hyyrö 2004): bit j is 0 where the length grows
    by one from j to j + 1 observed actions. It asks only which pair fits, so that fitting need not be
    equality. Time: steps times observed / 64.

    Args:
        masks: the observed actions that fit each step, in order; bit j stands for observed action j.
    """
    row = _ONES
    for mask in masks:
        row = _next(row, mask)
    return (~row).bit_count()


def out_of_order(masks: Sequence[int]) -> list[int]:
    """Return the indexes of the steps outside one longest common subsequence, always the same one."""
    rows = [_ONES]
    for mask in masks:
        rows.append(_next(rows[-1], mask))
    before, outside = _ONES, []
    for step in reversed(range(len(masks))):
        last = _highest(~rows[step + 1] & before)
        if rows[step] & last:
            before = last - 1
        else:
            outside.append(step)
    return outside[::-1]


def _next(row: int, mask: int) -> int:
    return row + (row & mask) | row & ~mask


def _highest(bits: int) -> int:
    return 1 << bits.bit_length() >> 1
