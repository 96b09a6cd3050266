"""Reads tables that tools return as text: values that are separated by commas, semicolons, tabs or bars."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from evaluation.texts.numbers import read_amounts

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


def separate_cells(text: str) -> str:
    """Returns a text whose cells, if it is a table, stand apart: 12,96.00 are two numbers then."""
    rows = read_table(text)
    return "\n".join(" | ".join(row) for row in rows) if rows else text


def list_columns(rows: Sequence[Sequence[str]]) -> list[list[Decimal]]:
    """Lists the numbers of each column that has any."""
    columns = [
        [number for cell in column for number in _read_number(cell)] for column in zip(*rows, strict=True)
    ]
    return [column for column in columns if column]


def _read_number(cell: str) -> list[Decimal]:
    whole = [readings for span, readings in read_amounts(cell) if span == (0, len(cell))]
    return [*whole[0][0][:1]] if whole else []
