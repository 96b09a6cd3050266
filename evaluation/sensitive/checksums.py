"""The checks of python-stdnum, loaded when a number that they may fit is met.

All together take a third of a second to import.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Final, cast

Check = Callable[[str], bool]
MOST_CHECKED: Final = 5_000
"""Candidates of one sort in one text that are checked; a check takes some 50 µs.

Beyond, the form is enough: a text that is made of numbers is redacted rather than let through.
"""


def is_right(module: str, number: bytes) -> bool:
    """Say whether a number has the right check digits, by its module in ``stdnum``; "" has none."""
    return not module or _check_of(module)(number.decode("latin-1"))


@cache
def _check_of(module: str) -> Check:
    return cast("Check", import_module(f"stdnum.{module}").is_valid)
