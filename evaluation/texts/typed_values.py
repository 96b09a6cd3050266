"""Reads the addresses, paths, dates, identifiers and amounts in a text, as values of a family."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Final

from evaluation.texts.dates import Day, find_named_dates, find_numeric_dates

_EMAIL: Final = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")
_PATH: Final = re.compile(r"(?<![\w:/.@])(?:[\w.-]*/)+[\w-]+(?:\.[\w-]+)*\.[a-zA-Z]\w{0,7}\b(?![/@])")
_NAMED_ID: Final = re.compile(
    r"(?<![\w/.@-])(#?[A-Za-z]+(?:_[A-Za-z]+)*[_-])(?=[A-Za-z0-9]*\d)([A-Za-z0-9]{3,})\b(?![-/@])"
)
_CODE_ID: Final = re.compile(r"(?<![\w/.@-])(#?[A-Z]{1,4})(\d{3,})\b(?![-/@])")
_CACHED: Final = 512


@dataclass(frozen=True, slots=True)
class TypedValue:
    """A value of a family: the kind, and for identifiers their prefix."""

    family: str
    value: str


@lru_cache(_CACHED)
def read_typed(text: str) -> frozenset[TypedValue]:
    """Return the addresses, paths, dates and identifiers of a text."""
    return frozenset(_list_values(text))


def _list_values(text: str) -> Iterator[TypedValue]:
    yield from (TypedValue("address", match[0].lower().rstrip(".")) for match in _EMAIL.finditer(text))
    yield from (TypedValue("path", match[0]) for match in _PATH.finditer(text) if "://" not in match[0])
    for pattern in (_NAMED_ID, _CODE_ID):
        yield from (
            TypedValue(f"identifier {match[1].lower()}", match[0]) for match in pattern.finditer(text)
        )
    found = chain(find_numeric_dates(text), find_named_dates(text))
    days = [day for _, readings in found for day in readings if isinstance(day, Day) and day.day]
    yield from (TypedValue("date", f"{day.month:02}-{day.day:02}") for day in days)
    # A year is often left out, so a date with one is a further value.
    yield from (
        TypedValue("date with a year", f"{day.year}-{day.month:02}-{day.day:02}") for day in days if day.year
    )
