"""What a run is compared with: one run, many runs, the newest ones, samples. It may hold anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evaluation.metrics.drift.measurements import Known, Measurements, measurements
from evaluation.values import JsonObject

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
        return Baseline(measurements(given, known))
    single = {name: value for name, value in given.items() if name not in KEYS}
    runs = given.get("runs")
    return Baseline(
        measurements(single, known) if single else _NOTHING,
        runs=None if runs is None else _runs(runs, known),
        recent=_runs(given.get("recent"), known),
        samples=_object(given.get("samples")),
        current_samples=_object(given.get("current_samples")),
        faults=dict(_faults(given)),
    )


def _runs(value: object, known: Known) -> list[Measurements]:
    entries = value if isinstance(value, list) else []
    return [measurements(entry, known) if isinstance(entry, Mapping) else _NOTHING for entry in entries]


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
