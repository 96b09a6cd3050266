"""Reads a baseline: one earlier run, many of them, the newest ones, or samples. The input may be anything."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from evaluation.values import JsonObject

_GROUP_PREFIXES: Final[Mapping[str, str]] = {"trajectory": "trajectory_"}
"""The prefix of a group's metrics outside the group, so that a name means the same metric everywhere."""
_LARGEST: Final = 1e150
"""The largest number that is compared: the squares of larger ones overflow."""

IsMetric: TypeAlias = Callable[[str], bool]
"""Returns whether a name is a metric."""


class Measurements(NamedTuple):
    """Finite numbers by metric, and why other metrics have none."""

    values: Mapping[str, float]
    faults: Mapping[str, str]


def read_measurements(source: JsonObject, is_metric: IsMetric) -> Measurements:
    """Read the numbers of one run. True counts as 1, False as 0.

    Args:
        source: A report (its judge's score is one of the numbers), its ``metrics`` ({"operational": {...},
            ...}), or numbers by name. In a report and in a group, only known metrics are read; elsewhere
            everything is a metric.
        is_metric: Tells which names are metrics. A quantity in the ``sources`` of a group is one as well.
    """
    inner = source.get("metrics")
    groups = inner if isinstance(inner, Mapping) else source
    values: dict[str, float] = {}
    faults: dict[str, str] = {}
    for metric, value in chain(_metric_entries(groups, is_metric), _judge_entries(source, is_metric)):
        number = read_number(value)
        if isinstance(number, float):
            values[metric] = number
        else:
            faults[metric] = number
    return Measurements(values, faults)


def read_number(value: object) -> float | str:
    """Return a number of a magnitude up to 1e150, or the reason why the value is none."""
    if not isinstance(value, int | float):
        return f"is {_describe_type(value)}, not a number"
    if isinstance(value, float) and not math.isfinite(value):
        return "is not a finite number"
    return float(value) if abs(value) <= _LARGEST else "is too large a number"


def _describe_type(value: object) -> str:
    if value is None:
        return "null"
    return "text" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"


def _metric_entries(groups: JsonObject, is_metric: IsMetric) -> Iterator[tuple[str, object]]:
    for name, value in groups.items():
        if isinstance(value, Mapping):
            yield from _group_entries(name, value, is_metric)
        else:
            yield name, value


def _group_entries(group: str, values: JsonObject, is_metric: IsMetric) -> Iterator[tuple[str, object]]:
    prefix, sources = _GROUP_PREFIXES.get(group, ""), values.get("sources")
    quantities: Container[object] = sources if isinstance(sources, Mapping) else ()
    for name, value in values.items():
        # A report writes null for a metric that it could not compute.
        if value is None:
            continue
        if name in quantities or is_metric(name):
            yield name, value
        elif prefix and is_metric(f"{prefix}{name}"):
            yield f"{prefix}{name}", value


def _judge_entries(source: JsonObject, is_metric: IsMetric) -> Iterator[tuple[str, object]]:
    # A report holds the judge's score outside its metrics.
    judge = source.get("judge")
    result = judge.get("result") if isinstance(judge, Mapping) else None
    if isinstance(result, Mapping) and result.get("score") is not None and is_metric("judge_score"):
        yield "judge_score", result["score"]


_LISTS: Final = ("runs", "recent")
_OBJECTS: Final = ("samples", "current_samples")
_KEYS: Final = frozenset((*_LISTS, *_OBJECTS))
"""The names in a baseline that are not metrics."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline after reading."""

    single: Measurements
    """One earlier run."""
    runs: Sequence[Measurements]
    """Many earlier runs."""
    recent: Sequence[Measurements]
    """The newest runs before this one, oldest first."""
    samples: JsonObject | None
    """Values by metric, not yet checked."""
    current_samples: JsonObject | None
    faults: Mapping[str, str]
    """Parts with the wrong shape, by their name in the baseline."""


def read_baseline(source: JsonObject, is_metric: IsMetric) -> Baseline:
    """Read a baseline; ``faults`` names the parts that cannot be used."""
    return Baseline(
        single=read_measurements(
            {name: value for name, value in source.items() if name not in _KEYS}, is_metric
        ),
        runs=_read_runs(source.get("runs"), is_metric),
        recent=_read_runs(source.get("recent"), is_metric),
        samples=_as_object(source.get("samples")),
        current_samples=_as_object(source.get("current_samples")),
        faults=dict(_find_faults(source)),
    )


def _read_runs(value: object, is_metric: IsMetric) -> list[Measurements]:
    entries = value if isinstance(value, list) else []
    # An entry that is not an object still counts as a run, as one without values.
    return [read_measurements(_as_object(entry) or {}, is_metric) for entry in entries]


def _as_object(value: object) -> JsonObject | None:
    return value if isinstance(value, Mapping) else None


def _find_faults(source: JsonObject) -> Iterator[tuple[str, str]]:
    for name in sorted(_KEYS):
        fault = None if source.get(name) is None else _describe_fault(name, source[name])
        if fault is not None:
            yield f"baseline.{name}", fault


def _describe_fault(name: str, value: object) -> str | None:
    if name in _OBJECTS:
        return None if isinstance(value, Mapping) else "is not an object"
    if not isinstance(value, list):
        return "is not a list"
    strays = sum(not isinstance(entry, Mapping) for entry in value)
    return f"has {strays} entries that are not objects" if strays else None
