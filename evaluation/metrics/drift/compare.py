"""A run against its baseline: regression, drift, anomaly."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from evaluation.inputs.rules import DriftRules, Severity
from evaluation.metrics.drift.bands import Band, bands_around_many, bands_around_one, steady_metrics
from evaluation.metrics.drift.baseline import Baseline, read_baseline
from evaluation.metrics.drift.samples import compare_samples
from evaluation.metrics.drift.signals import Directions, Signal, departure_signal, movement_signal
from evaluation.results.findings import (
    OUTCOME_STATUSES,
    FindingKind,
    MetricOutcome,
    Unscored,
    build_outcome,
    missing_data,
    unscored_error,
)
from evaluation.values import JsonObject


class _Compared(NamedTuple):
    metrics: Sequence[str]
    signals: Sequence[Signal]
    unscored: Mapping[str, Unscored]


def compare_with_baseline(
    current: Mapping[str, float], baseline: JsonObject | None, rules: DriftRules, directions: Directions
) -> tuple[JsonObject, list[MetricOutcome]]:
    """Compare one run with what came before.

    What the baseline holds decides how: numbers of one run (tolerances; a regression, or drift where no
    direction of better is known); ``runs``, those of many (deviations from their centre; an anomaly);
    ``samples`` beside ``current_samples``, values by metric (a two-sample test each, adjusted over all;
    drift). ``recent``, the newest runs before this one, oldest first, tells sustained breaches from single
    ones. A run is flat or grouped as in a report (see ``measurements``). The metrics asked about are those
    of the baseline and of the tolerances; what only ``current`` has is not looked at.

    Args:
        current: This run's numbers by metric.
        baseline: As above; it may hold anything.
        rules: Tolerances, and how deviations are counted.
        directions: Which direction is better; a tolerance's own ``better`` goes before.

    Returns:
        The signals, with the counts beside them; and the checks that did not pass: one for each signal that
        is no improvement, and those that could not be answered.
    """
    if baseline is None:
        return {"status": "not_applicable", "reason": "there is no baseline", "signals": []}, []
    named = rules.tolerances
    read = read_baseline(baseline, lambda name: name in current or name in directions or name in named)
    found = _by_bands(current, read, rules, directions)
    if read.samples is None and read.current_samples is None:
        return _told(found, rules)
    moved, record = _by_samples(read.samples or {}, read.current_samples or {}, rules, directions)
    told, checks = _told(_both(found, moved), rules)
    return {**told, "samples": record}, checks


def _by_bands(
    current: Mapping[str, float], read: Baseline, rules: DriftRules, directions: Directions
) -> _Compared:
    compared = steady_metrics(current, read.single.values, rules)
    bands, unscored = _bands(read, compared, rules)
    signals: list[Signal] = []
    for band in bands:
        observed = current.get(band.metric)
        if observed is None or not math.isfinite(observed):
            unscored[band.metric] = missing_data("the run has no number for it")
            continue
        compared.append(band.metric)
        if not band.low <= observed <= band.high:
            signal = departure_signal(band, observed, read.recent, rules, directions)
            signals += [] if signal is None else [signal]
    return _Compared(compared, signals, unscored)


def _bands(
    read: Baseline, settled: Sequence[str], rules: DriftRules
) -> tuple[list[Band], dict[str, Unscored]]:
    done = frozenset(settled)
    left = {metric: value for metric, value in read.single.values.items() if metric not in done}
    single = bands_around_one(left, rules)
    faults = {**(read.faults or {}), **read.single.faults}
    wrong = {metric: unscored_error(f"in the baseline it {why}") for metric, why in faults.items()}
    if read.runs is None:
        return single, wrong
    many, without = bands_around_many(read.runs, rules)
    return [*single, *many], {**wrong, **without}


def _by_samples(
    before: JsonObject, after: JsonObject, rules: DriftRules, directions: Directions
) -> tuple[_Compared, JsonObject]:
    tests, unscored = compare_samples(before, after, rules)
    signals = [
        movement_signal(test, rules, directions) for test in tests if test.adjusted_p_value <= rules.alpha
    ]
    compared = _Compared([test.metric for test in tests], signals, unscored)
    return compared, {test.metric: test.as_json() for test in tests}


def _both(first: _Compared, second: _Compared) -> _Compared:
    return _Compared(
        [*first.metrics, *second.metrics],
        [*first.signals, *second.signals],
        {**first.unscored, **second.unscored},
    )


def _told(found: _Compared, rules: DriftRules) -> tuple[JsonObject, list[MetricOutcome]]:
    compared = frozenset(found.metrics)
    unscored = {**_nowhere(rules, compared), **found.unscored} if rules.tolerances else found.unscored
    failed = [_failed(signal) for signal in found.signals if signal.worse is not False]
    unanswered = _unanswered(unscored, compared, rules) if unscored or not compared else ()
    checks = [*failed, *unanswered]
    counts = dict.fromkeys(OUTCOME_STATUSES, 0)
    for reason in unscored.values():
        counts[reason["status"]] += 1
    return {
        "status": "scored" if compared else "error" if counts["error"] else "missing_data",
        "passed": False if failed else None if checks else True,
        "compared": len(compared),
        "counts": {**counts, "scored": len(compared)},
        "signals": [signal.as_json() for signal in found.signals],
        "unscored": unscored,
    }, checks


def _nowhere(rules: DriftRules, compared: frozenset[str]) -> dict[str, Unscored]:
    reason = missing_data("the baseline does not have it")
    return {metric: reason for metric in rules.tolerances if metric not in compared}


def _failed(signal: Signal) -> MetricOutcome:
    return build_outcome(
        signal.kind, signal.metric, False, signal.severity, signal.reason, signal.observed, signal.limit
    )


def _unanswered(
    unscored: Mapping[str, Unscored], compared: frozenset[str], rules: DriftRules
) -> Iterator[MetricOutcome]:
    """Yield a check for each metric that a tolerance names, one for other faults, one for an empty result."""
    for metric, tolerance in rules.tolerances.items():
        if metric in unscored and metric not in compared:
            yield _open(
                metric, unscored[metric], tolerance.severity, "has a tolerance and cannot be compared"
            )
    faults = {metric: why for metric, why in unscored.items() if why["status"] == "error"}
    others = [metric for metric in faults if metric not in rules.tolerances]
    if others:
        text = f"has values that cannot be used ({len(others)}); of the first"
        yield _open("baseline", faults[others[0]], "info", text)
    if not compared and not faults:
        yield build_outcome(
            "missing_data", "baseline", None, "info", "nothing could be compared with the baseline"
        )


def _open(metric: str, why: Unscored, severity: Severity, text: str) -> MetricOutcome:
    kind: FindingKind = "metric_error" if why["status"] == "error" else "missing_data"
    return build_outcome(kind, metric, None, severity, f"{metric} {text}: {why['reason']}")
