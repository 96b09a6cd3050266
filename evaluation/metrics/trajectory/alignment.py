"""The longest common subsequence of expected steps and observed actions, by bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_NO_GROWTH: Final = -1
"""A row of ones only, which has no end: how many actions were observed makes no difference to it."""


def common_length(masks: Sequence[int]) -> int:
    """Return the length of the longest common subsequence.

    A row of the table as one integer (Allison and Dix 1986; Hyyrö 2004): bit j is 0 where the length grows
    by one from j to j + 1 observed actions. It asks only which pair fits, so that fitting need not be
    equality. Time: steps times observed / 64.

    Args:
        masks: the observed actions that fit each step, in order; bit j stands for observed action j.
    """
    row = _NO_GROWTH
    for mask in masks:
        row = _next(row, mask)
    return (~row).bit_count()


def out_of_order(masks: Sequence[int]) -> list[int]:
    """Return the indexes of the steps outside one longest common subsequence, always the same one."""
    rows = [_NO_GROWTH]
    for mask in masks:
        rows.append(_next(rows[-1], mask))
    column, outside = (~rows[-1]).bit_length(), []
    for step in reversed(range(len(masks))):
        column = _last_growth(rows[step + 1], column)
        if column and rows[step] >> (column - 1) & 1:
            column -= 1
        else:
            outside.append(step)
    return outside[::-1]


def _next(row: int, mask: int) -> int:
    return row + (row & mask) | row & ~mask


def _last_growth(row: int, column: int) -> int:
    """Return the number of observed actions, at most ``column``, at which the length last grew."""
    return (~row & (1 << column) - 1).bit_length()
