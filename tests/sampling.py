"""Large tables of tests: a sample runs by default, and all rows with ``-m soak``."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def sample_rows(rows: Iterable[object], every: int) -> list[object]:
    """Return all rows for ``parametrize``, of which only each ``every``-th runs by default."""
    return [
        row if number % every == 0 else _mark_soak(row if isinstance(row, tuple) else (row,))
        for number, row in enumerate(rows)
    ]


def _mark_soak(values: tuple[object, ...]) -> object:
    return pytest.param(*values, marks=pytest.mark.soak)
