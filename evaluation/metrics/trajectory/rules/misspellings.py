"""Finds names in a contract that are probably misspelt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import Final

from rapidfuzz.distance import OSA

from evaluation.metrics.trajectory.match_result import list_names
from evaluation.texts.tool_names import fold_tool_name, is_same_tool

_SHORTEST_NAME: Final = 5
"""In a shorter name, one letter may well tell two tools apart."""
_MAX_LENGTH_DIFFERENCE: Final = 3
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
                f"'{field}' has {list_names([name])}, which nothing in this case is called; "
                f"write {list_names([meant])} if that is meant"
            )


def is_other_spelling(name: str, meant: str) -> bool:
    """Return whether two names are one that is misspelt, or written in another form."""
    return is_same_tool(name, meant) or is_misspelling(name, meant)


def is_misspelling(name: str, meant: str) -> bool:
    """Return whether two names differ as one name written twice does, not as two tools do.

    They differ in capitals or punctuation, or in one letter that is missing, doubled or swapped with the
    next. Another letter in its place tells tools apart (get_x, set_x), and so do a final "s" and a digit.
    """
    if abs(len(name) - len(meant)) > _MAX_LENGTH_DIFFERENCE:
        return False
    short, long = sorted((fold_tool_name(name), fold_tool_name(meant)), key=len)
    if short == long:
        return True
    if OSA.distance(short, long, score_cutoff=1) > 1 or long.removesuffix("s") == short:
        return False
    is_swap = sorted(short) == sorted(long)
    is_letter_missing = len(short) < len(long) and _count_digits(short) == _count_digits(long)
    return len(long) >= _SHORTEST_NAME and (is_swap or is_letter_missing)


def _count_digits(name: str) -> int:
    return sum(map(str.isdigit, name))
