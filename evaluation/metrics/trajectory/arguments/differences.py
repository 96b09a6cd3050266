"""The differences between expected and observed arguments under an argument rule."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from typing import Final, Literal, NamedTuple, TypeAlias, TypeGuard

from evaluation.inputs.trajectory_rules import ArgumentRule
from evaluation.metrics.trajectory.arguments.equality import are_equal
from evaluation.metrics.trajectory.arguments.unordered import (
    ParallelLists,
    find_parallel_lists,
    find_unpaired_items,
)
from evaluation.values import JsonObject

Problem = Literal["missing", "unexpected", "different", "unreadable", "refused", "failed"]

_ABSENT: Final = object()
_JSON_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,999})(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_IS_FRACTION: Final = re.compile(r"[.eE]")


class Difference(NamedTuple):
    """One place in which arguments differ."""

    path: str
    """A JSON Pointer (RFC 6901) into the arguments; empty for the arguments as a whole."""
    problem: Problem
    expected: object = None
    """The value at ``path``; None if there is none."""
    observed: object = None


def is_plain_rule(rule: ArgumentRule) -> bool:
    """Return whether a rule demands equality and nothing else."""
    is_loose = rule.tolerance or rule.ignore_case or rule.numbers_as_text or rule.unordered
    return rule.match == "exact" and not is_loose


Spend: TypeAlias = Callable[[int], None]
"""Is called with a number of comparisons before they are made; raises if there are too many."""


def _spend_freely(count: int) -> None:
    """Allow any number of comparisons."""


def find_differences(
    expected: JsonObject, observed: JsonObject, rule: ArgumentRule, spend: Spend = _spend_freely
) -> Iterator[Difference]:
    """Yield the places in which the observed arguments differ from the expected ones, in order.

    Lists have the same length under every rule. They are compared item by item, or, if the rule calls them
    ``unordered``, by the best pairs of items. The rule ``ignore`` yields nothing. So does ``custom``, whose
    function only answers yes or no.
    """
    if rule.match in {"ignore", "custom"}:
        return
    if rule.match == "named":
        names = dict.fromkeys(rule.names or ())
        expected = {name: expected[name] for name in names if name in expected}
        observed = {name: observed[name] for name in names if name in observed}
    groups: dict[str, list[tuple[str, ...]]] = {}
    for group in rule.unordered_groups:
        parent = group[0].rpartition(".")[0]
        groups.setdefault(parent, []).append(tuple([path.rpartition(".")[2] for path in group]))
    yield from _Comparison(rule, groups, spend).compare_objects(_Place("", ""), expected, observed)


class _Place(NamedTuple):
    pointer: str
    """JSON Pointer, with the indexes of items."""
    path: str
    """The names of the keys alone, as ``ArgumentRule.unordered`` writes them."""

    def enter(self, name: str) -> _Place:
        # RFC 6901: "~" first, or the "~" of "~1" would be escaped again.
        token = name.replace("~", "~0").replace("/", "~1")
        return _Place(f"{self.pointer}/{token}", f"{self.path}.{name}" if self.path else name)

    def at(self, index: int) -> _Place:
        return _Place(f"{self.pointer}/{index}", self.path)


@dataclass(frozen=True, slots=True)
class _Comparison:
    rule: ArgumentRule
    groups: Mapping[str, Sequence[tuple[str, ...]]]
    """The names of the lists without order, by the path of the object that they are in."""
    spend: Spend

    def compare_objects(
        self, place: _Place, expected: JsonObject, observed: JsonObject
    ) -> Iterator[Difference]:
        unordered: set[str] = set()
        for group in self.groups.get(place.path, ()):
            lists = find_parallel_lists(group, expected, observed)
            unordered.update(lists)
            yield from self._compare_unordered(place, lists)
        for name, value in expected.items():
            other = observed.get(name, _ABSENT)
            if name not in unordered and (other is not _ABSENT or self.rule.match != "subset"):
                yield from self._compare_values(place.enter(name), value, other)
        if self.rule.match != "superset":
            for name, value in observed.items():
                if name not in expected:
                    yield Difference(place.enter(name).pointer, "unexpected", observed=value)

    def _compare_unordered(self, place: _Place, lists: ParallelLists) -> Iterator[Difference]:
        places = {name: place.enter(name) for name in lists}

        def differences(index: int, other: int) -> Iterator[Difference]:
            for name, (expected, observed) in lists.items():
                yield from self._compare_values(places[name].at(index), expected[index], observed[other])

        def fits(index: int, other: int) -> bool:
            return not any(differences(index, other))

        for index, other in find_unpaired_items(lists, fits, self.spend):
            yield from differences(index, other)

    def _compare_values(self, place: _Place, expected: object, observed: object) -> Iterator[Difference]:
        if observed is _ABSENT:
            yield Difference(place.pointer, "missing", expected)
        elif expected is _ABSENT:
            yield Difference(place.pointer, "unexpected", observed=observed)
        elif isinstance(expected, dict) and isinstance(observed, dict):
            yield from self.compare_objects(place, expected, observed)
        elif isinstance(expected, list) and isinstance(observed, list):
            for index, (value, other) in enumerate(zip_longest(expected, observed, fillvalue=_ABSENT)):
                yield from self._compare_values(place.at(index), value, other)
        elif not _agree_by_rule(expected, observed, self.rule):
            yield Difference(place.pointer, "different", expected, observed)


def _agree_by_rule(expected: object, observed: object, rule: ArgumentRule) -> bool:
    if rule.numbers_as_text:
        expected, observed = read_number(expected), read_number(observed)
    if are_equal(expected, observed):
        return True
    if rule.ignore_case and isinstance(expected, str) and isinstance(observed, str):
        return expected.casefold() == observed.casefold()
    if rule.tolerance and _is_number(expected) and _is_number(observed):
        return is_within_tolerance(expected, observed, rule.tolerance)
    return False


def read_number(value: object) -> object:
    """Return the number that a text writes in JSON's notation; anything else as it is.

    A text with a leading zero, a sign "+" or white space is none: it is rather a code than an amount.
    """
    if not isinstance(value, str) or not _JSON_NUMBER.fullmatch(value):
        return value
    number = float(value) if _IS_FRACTION.search(value) else int(value)
    return number if math.isfinite(number) else value


def is_within_tolerance(expected: float, observed: float, tolerance: float) -> bool:
    """Return whether two numbers differ by at most ``tolerance``, an absolute value.

    Unless both are integers, one unit in the last place is added: in decimals, 1.1 and 1.0 differ by 0.1,
    in floating point by 0.10000000000000009.
    """
    if isinstance(expected, int) and isinstance(observed, int):
        return abs(expected - observed) <= tolerance
    try:
        rounding = math.ulp(max(abs(expected), abs(observed)))
        return abs(expected - observed) <= tolerance + rounding
    except OverflowError:  # an integer that is too large for a float
        return abs(Fraction(expected) - Fraction(observed)) <= Fraction(tolerance)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
