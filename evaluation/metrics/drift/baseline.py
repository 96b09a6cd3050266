"""What a run is compared with: one run, many runs, the newest ones, samples. It may hold anything."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from evaluation.values import JsonObject

GROUP_PREFIXES: Final[Mapping[str, str]] = {"trajectory": "trajectory_"}
"""What comes before a metric's name in a group, so that a name says which metric is meant everywhere."""

Known: TypeAlias = Callable[[str], bool]
"""Says of a name whether it is a metric."""
_PLAIN: Final[frozenset[type]] = frozenset((float, int, bool))


class Measurements(NamedTuple):
    """Finite numbers by metric, and why others are none."""

    values: Mapping[str, float]
    faults: Mapping[str, str]


def read_measurements(source: JsonObject, known: Known) -> Measurements:
    """Read the numbers of one run; True counts as 1, False as 0.

    Args:
        source: A report (its judge's score is one of the numbers), its ``metrics`` ({"operational": {...},
            ...}), or numbers by name. In a report and in a group, what is no known metric is detail and is
            left out; elsewhere everything is a metric.
        known: Says which names are metrics; a quantity that a group lists in its ``sources`` is one as well.
    """
    inner = source.get("metrics")
    groups = inner if isinstance(inner, Mapping) else source
    values: dict[str, float] = {}
    faults: dict[str, str] = {}
    for metric, given in chain(_entries(groups, known), _judged(source, known)):
        number = read_number(given)
        if isinstance(number, float):
            values[metric] = number
        else:
            faults[metric] = number
    return Measurements(values, faults)


def read_number(value: object) -> float | str:
    """Give a finite number, or the reason why it is none."""
    if type(value) is float and math.isfinite(value):  # most are
        return value
    if not isinstance(value, (int, float)):  # not a union, which takes three times as long
        return f"is {_kind(value)}, not a number"
    try:
        number = float(value)
    except OverflowError:
        return "is too large a number"
    return number if math.isfinite(number) else "is not a finite number"


def _entries(source: JsonObject, known: Known) -> Iterable[tuple[str, object]]:
    if {type(value) for value in source.values()} <= _PLAIN:  # no group: the usual baseline
        return source.items()
    entries = [
        _of_group(name, value, known) if isinstance(value, Mapping) else {name: value}
        for name, value in source.items()
    ]
    return chain.from_iterable(entry.items() for entry in entries)


def _judged(source: JsonObject, known: Known) -> Iterable[tuple[str, object]]:
    """Yield the judge's score of a report."""
    judge = source.get("judge")
    result = judge.get("result") if isinstance(judge, Mapping) else None
    if isinstance(result, Mapping) and result.get("score") is not None and known("judge_score"):
        yield "judge_score", result["score"]


def _of_group(group: str, values: JsonObject, known: Known) -> dict[str, object]:
    prefix, sources = GROUP_PREFIXES.get(group, ""), values.get("sources")
    quantities: Container[object] = sources if isinstance(sources, Mapping) else ()
    found: dict[str, object] = {}
    for name, value in values.items():
        if value is None:
            continue
        if name in quantities or known(name):
            found[name] = value
        elif prefix and known(f"{prefix}{name}"):
            found[f"{prefix}{name}"] = value
    return found


def _kind(value: object) -> str:
    if value is None:
        return "null"
    return "text" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"


_LISTS: Final = ("runs", "recent")
_OBJECTS: Final = ("samples", "current_samples")
KEYS: Final = frozenset((*_LISTS, *_OBJECTS))
"""The names in a baseline that are no metrics."""
_NOTHING: Final = Measurements({}, {})


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline, read."""

    single: Measurements
    """One earlier run."""
    runs: Sequence[Measurements] | None = None
    """Many earlier runs; None where the baseline has none."""
    recent: Sequence[Measurements] = ()
    """The newest runs before this one, oldest first."""
    samples: JsonObject | None = None
    """Values by metric, unread."""
    current_samples: JsonObject | None = None
    faults: Mapping[str, str] | None = None
    """What has the wrong shape, by its name in the baseline."""


def read_baseline(given: JsonObject, known: Known) -> Baseline:
    """Take a baseline apart; what cannot be used is said in ``faults``."""
    if KEYS.isdisjoint(given):
        return Baseline(read_measurements(given, known))
    single = {name: value for name, value in given.items() if name not in KEYS}
    runs = given.get("runs")
    return Baseline(
        read_measurements(single, known) if single else _NOTHING,
        runs=None if runs is None else _runs(runs, known),
        recent=_runs(given.get("recent"), known),
        samples=_object(given.get("samples")),
        current_samples=_object(given.get("current_samples")),
        faults=dict(_faults(given)),
    )


def _runs(value: object, known: Known) -> list[Measurements]:
    entries = value if isinstance(value, list) else []
    return [read_measurements(entry, known) if isinstance(entry, Mapping) else _NOTHING for entry in entries]


def _object(value: object) -> JsonObject | None:
    return value if isinstance(value, Mapping) else None


def _faults(given: JsonObject) -> list[tuple[str, str]]:
    present = [(name, given[name]) for name in sorted(KEYS) if given.get(name) is not None]
    return [(f"baseline.{name}", fault) for name, value in present if (fault := _fault(name, value))]


def _fault(name: str, value: object) -> str | None:
    if name in _OBJECTS:
        return None if isinstance(value, Mapping) else "is no object"
    if not isinstance(value, list):
        return "is no list"
    strays = sum(not isinstance(entry, Mapping) for entry in value)
    return f"has {strays} entries that are no objects" if strays else None
