"""Large tables of cases: a test runs a sample of the rows by default, and all of them with ``-m soak``."""

from collections.abc import Sequence

import pytest


def sample_table(rows: Sequence[object], every: int) -> list[object]:
    """Return two tables for ``parametrize``: each ``every``-th row, and all rows, marked as ``soak``."""
    return [pytest.param(rows[::every], id="sample"), pytest.param(rows, id="all", marks=pytest.mark.soak)]
