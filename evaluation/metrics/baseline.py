"""Reads the numbers of earlier runs: of one, of many, of the newest ones. The input may be anything."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from evaluation.values import JsonObject, as_list, as_object

_LARGEST: Final = 1e150
"""The largest number that is compared: the squares of larger ones overflow."""
_LISTS: Final = ("recent", "runs")
"""The names in a baseline that are not metrics."""

Measurements = Mapping[str, float]
"""Finite numbers by metric."""


class Baseline(NamedTuple):
    """A baseline after reading."""

    single: Measurements
    """One earlier run."""
    runs: Sequence[Measurements]
    """Many earlier runs."""
    recent: Sequence[Measurements]
    """The newest runs before this one, oldest first."""


def read_baseline(source: JsonObject, known: Container[str]) -> Baseline:
    """Read a baseline. An entry of a list that is not an object counts as a run without values."""
    single = read_measurements({name: value for name, value in source.items() if name not in _LISTS}, known)
    recent, runs = (
        [read_measurements(as_object(entry), known) for entry in as_list(source.get(name))] for name in _LISTS
    )
    return Baseline(single, runs, recent)


def read_measurements(source: JsonObject, known: Container[str]) -> Measurements:
    """Read the numbers of one run. True counts as 1, False as 0; anything that is no number is left out.

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
    return {
        metric: float(value)
        for metric, value in entries.items()
        if isinstance(value, int | float) and abs(value) <= _LARGEST
    }


def _metric_entries(groups: JsonObject, known: Container[str]) -> Iterator[tuple[str, object]]:
    for group, values in groups.items():
        if not isinstance(values, Mapping):
            yield group, values
            continue
        sources = as_object(values.get("sources"))
        for name, value in values.items():
            # Outside its group a metric of the trajectory has a prefix.
            prefixed = f"{group}_{name}"
            if name in sources or name in known:
                yield name, value
            elif group == "trajectory" and prefixed in known:
                yield prefixed, value
