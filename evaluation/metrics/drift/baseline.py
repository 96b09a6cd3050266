"""Reads a baseline: one earlier run, many of them, the newest ones. The input may be anything."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from evaluation.values import JsonObject, as_list, as_object

_LARGEST: Final = 1e150
"""The largest number that is compared: the squares of larger ones overflow."""


class Measurements(NamedTuple):
    """Finite numbers by metric, and why other metrics have none."""

    values: Mapping[str, float]
    faults: Mapping[str, str]


def read_measurements(source: JsonObject, known: Container[str]) -> Measurements:
    """Read the numbers of one run. True counts as 1, False as 0.

    Args:
        source: A report (its judge's score is one of the numbers), its ``metrics`` ({"operational": {...},
            ...}), or numbers by name. In a report and in a group, only known metrics are read; elsewhere
            everything is a metric.
        known: The names of metrics. A quantity in the ``sources`` of a group is one as well.
    """
    inner = source.get("metrics")
    entries = dict(_metric_entries(inner if isinstance(inner, Mapping) else source, known))
    # A report holds the judge's score outside its metrics.
    score = as_object(as_object(source.get("judge")).get("result")).get("score")
    if score is not None and "judge_score" in known:
        entries["judge_score"] = score
    numbers = {metric: _read_number(value) for metric, value in entries.items()}
    return Measurements(
        {metric: number for metric, number in numbers.items() if isinstance(number, float)},
        {metric: fault for metric, fault in numbers.items() if isinstance(fault, str)},
    )


def _read_number(value: object) -> float | str:
    """Return a number of a magnitude up to 1e150, or the reason why the value is none."""
    if not isinstance(value, int | float):
        return "is not a number"
    if isinstance(value, float) and not math.isfinite(value):
        return "is not a finite number"
    return float(value) if abs(value) <= _LARGEST else "is too large a number"


def _metric_entries(groups: JsonObject, known: Container[str]) -> Iterator[tuple[str, object]]:
    for name, value in groups.items():
        if isinstance(value, Mapping):
            yield from _group_entries(name, value, known)
        else:
            yield name, value


def _group_entries(group: str, values: JsonObject, known: Container[str]) -> Iterator[tuple[str, object]]:
    sources = as_object(values.get("sources"))
    for name, value in values.items():
        # Outside its group a metric of the trajectory has a prefix, so that a name is the same everywhere.
        prefixed = f"{group}_{name}"
        # A report writes null for a metric that it could not compute.
        if value is not None and (name in sources or name in known):
            yield name, value
        elif value is not None and group == "trajectory" and prefixed in known:
            yield prefixed, value


_LISTS: Final = ("recent", "runs")
"""The names in a baseline that are not metrics."""


class Baseline(NamedTuple):
    """A baseline after reading."""

    single: Measurements
    """One earlier run."""
    runs: Sequence[Measurements]
    """Many earlier runs."""
    recent: Sequence[Measurements]
    """The newest runs before this one, oldest first."""
    faults: Mapping[str, str]
    """Why values of the single run and the lists cannot be used, by metric or as ``baseline.runs``."""


def read_baseline(source: JsonObject, known: Container[str]) -> Baseline:
    """Read a baseline; ``faults`` names the parts that cannot be used."""
    single = read_measurements({name: value for name, value in source.items() if name not in _LISTS}, known)
    # An entry that is not an object still counts as a run, as one without values.
    recent, runs = (
        [read_measurements(as_object(entry), known) for entry in as_list(source.get(name))] for name in _LISTS
    )
    return Baseline(single, runs, recent, {**dict(_find_list_faults(source)), **single.faults})


def _find_list_faults(source: JsonObject) -> Iterator[tuple[str, str]]:
    for name in _LISTS:
        value = source.get(name)
        strays = sum(not isinstance(entry, Mapping) for entry in as_list(value))
        if strays:
            yield f"baseline.{name}", f"has {strays} entries that are not objects"
        elif value is not None and not isinstance(value, list):
            yield f"baseline.{name}", "is not a list"
