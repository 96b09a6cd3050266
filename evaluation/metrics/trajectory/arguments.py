"""The differences between expected and observed arguments under a rule."""

from __future__ import annotations

import marshal
import math
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from typing import Final, Literal, TypeGuard, cast

from evaluation.inputs.rules import ArgumentRule
from evaluation.values import JsonObject

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


Problem = Literal["missing", "unexpected", "different", "unreadable", "refused"]

_ABSENT: Final = object()
_MOST_FOLDED: Final = 3
"""Into how many characters one can be case-folded."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place in which arguments differ."""

    path: str
    """A JSON Pointer (RFC 6901) into the arguments; empty for the arguments as a whole."""
    problem: Problem
    expected: object = None
    """The value there, None where there is none."""
    observed: object = None


def is_plain(rule: ArgumentRule) -> bool:
    """Say whether a rule asks for nothing but equality."""
    return rule.match == "exact" and not rule.tolerance and not rule.ignore_case


def differences(expected: JsonObject, observed: JsonObject, rule: ArgumentRule) -> Iterator[Difference]:
    """Yield the places in which the observed arguments differ from the expected ones, in order.

    Lists are compared item by item and have to be of one length under every rule. The rule ``ignore`` finds
    no difference. For ``custom`` there are no places; its function is called elsewhere.
    """
    if rule.match == "named":
        for name in rule.names or ():
            one, other = expected.get(name, _ABSENT), observed.get(name, _ABSENT)
            yield from _values(f"/{_token(name)}", one, other, rule)
    elif rule.match not in {"ignore", "custom"}:
        yield from _objects("", expected, observed, rule)


def _objects(
    path: str, expected: JsonObject, observed: JsonObject, rule: ArgumentRule
) -> Iterator[Difference]:
    for name, value in expected.items():
        other = observed.get(name, _ABSENT)
        if not equal(value, other) and (other is not _ABSENT or rule.match != "subset"):
            yield from _values(f"{path}/{_token(name)}", value, other, rule)
    if rule.match != "superset":
        for name, value in observed.items():
            if name not in expected:
                yield Difference(f"{path}/{_token(name)}", "unexpected", observed=value)


def _values(path: str, expected: object, observed: object, rule: ArgumentRule) -> Iterator[Difference]:
    if expected is _ABSENT or observed is _ABSENT:
        yield from _presence(path, expected, observed)
    elif isinstance(expected, dict) and isinstance(observed, dict):
        yield from _objects(path, expected, observed, rule)
    elif isinstance(expected, list) and isinstance(observed, list):
        for index, (one, other) in enumerate(zip_longest(expected, observed, fillvalue=_ABSENT)):
            yield from _values(f"{path}/{index}", one, other, rule)
    elif not _agree(expected, observed, rule):
        yield Difference(path, "different", expected, observed)


def _presence(path: str, expected: object, observed: object) -> Iterator[Difference]:
    if expected is not _ABSENT:
        yield Difference(path, "missing", expected)
    elif observed is not _ABSENT:
        yield Difference(path, "unexpected", observed=observed)


def _agree(expected: object, observed: object, rule: ArgumentRule) -> bool:
    if equal(expected, observed):
        return True
    if rule.ignore_case and isinstance(expected, str) and isinstance(observed, str):
        return _same_folded(expected, observed)
    if rule.tolerance and _is_number(expected) and _is_number(observed):
        return within(expected, observed, rule.tolerance)
    return False


def _same_folded(expected: str, observed: str) -> bool:
    # A text many times as long is not folded in vain.
    if len(observed) > _MOST_FOLDED * len(expected) or len(expected) > _MOST_FOLDED * len(observed):
        return False
    return expected.casefold() == observed.casefold()


def within(expected: float, observed: float, tolerance: float) -> bool:
    """Say whether two numbers differ by ``tolerance`` at most, whatever their size.

    Between numbers of which one is no integer, one unit in the last place is granted on top: written as
    decimals, 1.1 and 1.0 differ by 0.1, in floating point by 0.10000000000000009.
    """
    if isinstance(expected, int) and isinstance(observed, int):
        return abs(expected - observed) <= tolerance
    try:
        rounding = math.ulp(max(abs(expected), abs(observed)))
        return abs(expected - observed) <= tolerance + rounding
    except OverflowError:  # an integer beyond the floating-point numbers
        return abs(Fraction(expected) - Fraction(observed)) <= Fraction(tolerance)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _token(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
