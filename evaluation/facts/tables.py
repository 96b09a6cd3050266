"""Reads tables in text, whose values are separated by commas, semicolons, tabs, bars or blanks."""

from __future__ import annotations

import csv
import re
from itertools import groupby
from typing import Final

_DELIMITERS: Final = ("\t", "|", "  ", ";", ",")
_OF_PROSE: Final = (";", ",")
"""Prose has them too, so they make a table only if all lines have as many."""
_BLANKS: Final = re.compile(r" {2,}")
_RULE: Final = re.compile(r"[\s|:+=-]*")
_FEWEST_ROWS: Final = 3
"""Two lines of prose may have a comma each."""


def read_tables(text: str) -> tuple[list[list[list[str]]], str]:
    """Reads the rows of each table of a text: three lines or more with as many cells; and the rest."""
    lines = [line for line in text.splitlines() if not _RULE.fullmatch(line)]
    for delimiter in _DELIMITERS:
        rows = [_split_line(line, delimiter) for line in lines]
        groups = [[*group] for _, group in groupby(enumerate(rows), key=lambda each: len(each[1]))]
        tables = [group for group in groups if len(group) >= _FEWEST_ROWS and len(group[0][1]) > 1]
        if tables and (delimiter not in _OF_PROSE or len(groups) == 1):
            taken = {at for group in tables for at, _ in group}
            rest = "\n".join(line for at, line in enumerate(lines) if at not in taken)
            return [[row for _, row in group] for group in tables], rest
    return [], text


def _split_line(line: str, delimiter: str) -> list[str]:
    if delimiter == "  ":
        return _BLANKS.split(line.strip())
    return [cell.strip() for cell in next(csv.reader([line.strip(" |")], delimiter=delimiter), [])]
