"""JSON types, the number types of the input models, and how reports write numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Final, Literal, TypeAlias, TypeVar

from pydantic import BeforeValidator, Field

JsonObject: TypeAlias = Mapping[str, object]
"""A JSON object; its readers check the types of its values."""
Severity = Literal["info", "warning", "critical"]
T = TypeVar("T")
K = TypeVar("K")


def _read_whole(value: object) -> object:
    """Read 3.0 as 3: pandas writes the counts of a column as floats if one of them is missing."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Quantity = Annotated[float, Field(ge=0, allow_inf_nan=False)]
WHOLE: Final = BeforeValidator(_read_whole)
"""Annotation of an integer for which 3.0 may be given; it stands after the bounds."""
Count = Annotated[int, Field(ge=0, lt=2**63), WHOLE]


VersionOne = Literal[1]
"""The version of a format that has only one so far."""

_FEWEST_DIGITS: Final = 4
_MOST_DIGITS: Final = 17
"""Digits that distinguish any two numbers of double precision."""
_LARGE: Final = 1e12
_CACHED: Final = 1024
"""The numbers of many runs, of which limits and shares are often the same."""


def as_object(value: object) -> dict[str, object]:
    """Return an object as it is, and an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """Return a list as it is, and an empty one for anything else."""
    return value if isinstance(value, list) else []


def group_by(values: Iterable[T], read_key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return the values by their keys, in the order of the first ones."""
    groups: defaultdict[K, list[T]] = defaultdict(list)
    for each in values:
        groups[read_key(each)].append(each)
    return groups


def number_neighbours(values: Sequence[T], belong: Callable[[T, T], bool]) -> list[int]:
    """Return for each value the position of the first one of its neighbours that belong together."""
    places: list[int] = []
    for position, value in enumerate(values):
        is_joined = position > 0 and belong(values[position - 1], value)
        places.append(places[-1] if is_joined else position)
    return places


def is_deep(value: object, levels: int) -> bool:
    """Return whether objects and lists are nested in more than ``levels`` levels."""
    parts = [value]
    for _ in range(levels):
        if not parts:
            return False
        parts = [inner for part in parts for inner in _inner_values(part)]
    return any(isinstance(part, dict | list) for part in parts)


def _inner_values(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


@lru_cache(_CACHED, typed=True)
def format_numbers(*values: float) -> tuple[str, ...]:
    """Format numbers with four digits, or with as many as different numbers need to look different."""
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        texts = tuple([_format_number(value or 0, digits) for value in values])  # -0.0 is 0, too
        # As numbers: 2e+06 is another text than 2000000, and the same number.
        if len({*map(float, texts)}) == len(set(values)):
            return texts
    return tuple(map(repr, values))


def _format_number(value: float, digits: int) -> str:
    """Format a number without an exponent if it is a whole one of usual size."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < _LARGE else f"{value:.{digits}g}"


def count_noun(count: int, noun: str) -> str:
    """Format a number with its noun: "1 step", "2 steps"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
