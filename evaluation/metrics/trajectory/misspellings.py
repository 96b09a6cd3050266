"""Finds names in a contract that are probably misspelt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import Final

from rapidfuzz.distance import OSA

from evaluation.results.alerts import join_names
from evaluation.texts.tool_names import fold_tool_name, is_same_tool

_SHORTEST_NAME: Final = 5
"""In a shorter name, one letter may well tell two tools apart."""
_MAX_PAIRS: Final = 10_000
"""Most pairs of names that are searched for a misspelling: some milliseconds."""


def find_misspelt(names: Iterable[str], known: Iterable[str], field: str) -> Iterator[str]:
    """Yield a problem for each name that looks like another way to write a known one.

    Args:
        names: names of a contract that nothing in the case has.
        known: names of the case that the contract does not have.
        field: the contract's field that has the names.
    """
    for name, meant in islice(product(names, sorted(known)), _MAX_PAIRS):
        if is_other_spelling(name, meant):
            yield (
                f"'{field}' has {join_names([name])}, which nothing in this case is called; "
                f"write {join_names([meant])} if that is meant"
            )


def is_other_spelling(name: str, meant: str) -> bool:
    """Return whether two names are one that is misspelt, or written in another form.

    A misspelling has one letter that is missing, doubled or swapped with the next. Another letter in its
    place tells tools apart (get_x, set_x), and so do a final "s" and a digit.
    """
    if is_same_tool(name, meant):
        return True
    short, long = sorted((fold_tool_name(name), fold_tool_name(meant)), key=len)
    if len(long) < _SHORTEST_NAME or OSA.distance(short, long, score_cutoff=1) > 1:
        return False
    if len(short) == len(long):
        return sorted(short) == sorted(long)
    return long.removesuffix("s") != short and _count_digits(short) == _count_digits(long)


def _count_digits(name: str) -> int:
    return sum(map(str.isdigit, name))
