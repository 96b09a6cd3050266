"""Reads tables that tools return as text: values that are separated by commas, semicolons, tabs or bars."""

from __future__ import annotations

import csv
from typing import Final

_DELIMITERS: Final = ("\t", "|", ";", ",")
_FEWEST_ROWS: Final = 3
"""Two lines of prose may have a comma each."""


def read_table(text: str) -> list[list[str]]:
    """Reads the rows of a table; an empty list if the lines do not all have as many cells, at least two."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < _FEWEST_ROWS:
        return []
    for delimiter in _DELIMITERS:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter)]
        if len(rows[0]) > 1 and len({*map(len, rows)}) == 1:
            return rows
    return []
