"""Finds tables in texts."""

from __future__ import annotations

from itertools import islice, takewhile
from typing import Final

import regex

_CELL_END: Final = regex.compile(r"(?<!\\)\|")
_RULE: Final = regex.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_SIGNS: Final = regex.compile(
    r"<table\b|^(?=[^\n]*\|)(?=[^\n]*-)[ \t>|:-]+$|^[ \t>]*\|[^\n]*\|[ \t]*\n[ \t>]*\|"
    r"|^[ \t>]*\+(?:[-=]+\+)+|[│┃║]",
    regex.M | regex.I,
)
"""Tables of HTML, and lines that look like rows of a table."""


def find_tables(text: str) -> list[list[list[str]]]:
    """Find the Markdown tables: the cells of each row, without the rule below the header."""
    lines = text.split("\n")
    tables, end = [], 0
    for start in range(len(lines) - 1):
        # A row of a table starts no other one, so that each line is read once.
        is_start = start >= end and "|" in lines[start] and _RULE.match(lines[start + 1])
        if is_start and (table := _read_table(lines, start)):
            tables.append(table)
            end = start + len(table) + 1
    return tables


def has_table_signs(text: str) -> bool:
    """Check for anything that a reader may take for a table."""
    return bool(find_tables(text)) or _SIGNS.search(text) is not None


def _read_table(lines: list[str], start: int) -> list[list[str]] | None:
    header = _split_cells(lines[start])
    if len(_split_cells(lines[start + 1])) != len(header):
        return None
    rows = takewhile(lambda line: "|" in line, islice(lines, start + 2, None))
    return [header, *map(_split_cells, rows)]


def _split_cells(line: str) -> list[str]:
    return [cell.strip() for cell in _CELL_END.split(line.strip().removeprefix("|").removesuffix("|"))]
