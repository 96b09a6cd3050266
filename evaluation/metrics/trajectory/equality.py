"""Equality of JSON values: True is not 1, while 1 equals 1.0."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Hashable
from typing import Final, cast

_NO_REFERENCES: Final = 2
"""The newest version of the format in which equal texts are written alike, wherever they come from."""

_write: Final = cast("Callable[[object, int], bytes]", marshal.dumps)  # whose stub cannot say JSON


def equal(expected: object, observed: object) -> bool:
    """Say whether two JSON values are the same; keys may stand in any order, items may not.

    Python's own comparison decides nearly all; what it takes for equal is looked at again, because it takes
    True for 1 and False for 0.
    """
    return expected == observed and _same_kinds(expected, observed)


def _same_kinds(expected: object, observed: object) -> bool:
    """Say whether two values that Python takes for equal have booleans in the same places."""
    if isinstance(expected, dict) and isinstance(observed, dict):
        return all(_same_kinds(value, observed[key]) for key, value in expected.items())
    if isinstance(expected, list) and isinstance(observed, list):
        return all(map(_same_kinds, expected, observed))
    return isinstance(expected, bool) is isinstance(observed, bool)


def written(value: object) -> bytes:
    """Write a JSON value so that what is written alike is equal; the reverse does not hold.

    The order of keys, and 1 against 1.0, make a difference here. Comparing the bytes is a third of the work
    of ``equal``, and most agents write arguments in the order in which they were taught them.
    """
    return _write(value, _NO_REFERENCES)


def key_of(value: object) -> Hashable:
    """Return a key that two JSON values share exactly if they are ``equal``."""
    if isinstance(value, dict):
        return frozenset((name, key_of(item)) for name, item in value.items())
    if isinstance(value, list):
        return tuple(map(key_of, value))
    return (bool, value) if isinstance(value, bool) else value
