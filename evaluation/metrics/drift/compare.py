"""Compares a run with its baseline: regression, drift, anomaly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from evaluation.inputs.rules import DriftRules
from evaluation.metrics.drift.bands import build_bands
from evaluation.metrics.drift.baseline import Baseline, read_baseline
from evaluation.metrics.drift.signals import Directions, Signal, can_decide, departure_signal
from evaluation.results.findings import (
    OUTCOME_STATUSES,
    FindingKind,
    MetricOutcome,
    Unscored,
    build_outcome,
    missing_data,
    unscored_error,
)
from evaluation.values import JsonObject, Severity


def compare_with_baseline(
    current: Mapping[str, float], baseline: JsonObject | None, rules: DriftRules, directions: Directions
) -> tuple[JsonObject, list[MetricOutcome]]:
    """Compare one run with earlier runs.

    The content of the baseline decides how:

    - Numbers of one run are compared by tolerances. The signal is a regression, or drift if no direction of
      better is known. It has the severity info unless the rules give a tolerance.
    - ``runs``, the numbers of many runs, give prediction bounds; a value outside is an anomaly.
    - ``recent``, the newest runs before this one, oldest first, tells sustained breaches from single ones.

    A run is flat or grouped as in a report (see ``read_measurements``). The metrics of the baseline and of
    the tolerances are compared; other metrics of ``current`` are ignored.

    Args:
        current: This run's finite numbers by metric.
        baseline: As above. It may hold anything.
        rules: Tolerances, and the accepted rate of false alarms.
        directions: The better direction of each metric. A tolerance's own ``better`` takes precedence.

    Returns:
        The signals and their counts (``decisive`` counts the metrics whose change can be more than
        information), and the outcomes that did not pass: one for each signal that is not an improvement, and
        those that could not be answered.
    """
    if baseline is None:
        return {"status": "not_applicable", "reason": "there is no baseline", "signals": []}, []
    own = {metric: rule.better for metric, rule in rules.tolerances.items() if rule.better}
    earlier = read_baseline(baseline, {*current, *directions, *rules.tolerances})
    known = {**directions, **own}
    bands = list(build_bands(earlier, current, rules, known))
    present = [band for band in bands if band.metric in current]
    departures = [
        departure_signal(band, current[band.metric], earlier.recent, rules, known) for band in present
    ]
    signals, outcomes = _summarize(
        frozenset(band.metric for band in present),
        [signal for signal in departures if signal is not None],
        _explain_missing(earlier, dict.fromkeys(band.metric for band in bands), current, rules),
        rules,
    )
    decisive = {band.metric for band in present if can_decide(band, earlier.recent, rules, known)}
    return {**signals, "decisive": len(decisive)}, outcomes


def _explain_missing(
    earlier: Baseline, banded: Collection[str], current: Mapping[str, float], rules: DriftRules
) -> dict[str, Unscored]:
    """Report the missing metrics, so that nobody takes them for unchanged; the last reason wins."""
    faulty = dict.fromkeys(metric for run in earlier.runs for metric in run.faults)
    known = {metric for run in earlier.runs for metric in run.values}
    absent, lacking = "the baseline does not have it", "the run has no number for it"
    empty = f"0 of {len(earlier.runs)} earlier runs have a value"
    return {
        **{metric: missing_data(absent) for metric in rules.tolerances if metric not in banded},
        **{metric: missing_data(lacking) for metric in banded if metric not in current},
        **{metric: unscored_error(f"in the baseline it {fault}") for metric, fault in earlier.faults.items()},
        **{metric: missing_data(empty) for metric in faulty if metric not in known},
    }


def _summarize(
    compared: frozenset[str], signals: Sequence[Signal], unscored: Mapping[str, Unscored], rules: DriftRules
) -> tuple[JsonObject, list[MetricOutcome]]:
    # An improvement is a signal too, but no failure.
    failed = [_failed_outcome(signal) for signal in signals if signal.worse is not False]
    outcomes = [*failed, *_open_outcomes(unscored, compared, rules)]
    counts = Counter(reason["status"] for reason in unscored.values())
    return {
        "status": "scored" if compared else "error" if counts["error"] else "missing_data",
        # An open outcome must not count as a pass.
        "passed": False if failed else None if outcomes else True,
        "compared": len(compared),
        "counts": {**dict.fromkeys(OUTCOME_STATUSES, 0), **counts, "scored": len(compared)},
        "signals": [signal.as_json() for signal in signals],
        "unscored": unscored,
    }, outcomes


def _failed_outcome(signal: Signal) -> MetricOutcome:
    return build_outcome(
        signal.kind, signal.metric, False, signal.severity, signal.reason, signal.observed, signal.limit
    )


def _open_outcomes(
    unscored: Mapping[str, Unscored], compared: frozenset[str], rules: DriftRules
) -> Iterator[MetricOutcome]:
    """Yield one for each metric that a tolerance names, one for other faults, one for an empty result."""
    for metric, tolerance in rules.tolerances.items():
        # A metric that was compared in one way is answered, even if another way had too few values.
        if metric in unscored and metric not in compared:
            text = "has a tolerance and cannot be compared"
            yield _open_outcome(metric, unscored[metric], tolerance.severity, text)
    faults = {metric: reason for metric, reason in unscored.items() if reason["status"] == "error"}
    others = [metric for metric in faults if metric not in rules.tolerances]
    if others:
        text = f"has values that cannot be used ({len(others)}); of the first"
        yield _open_outcome("baseline", faults[others[0]], "info", text)
    if not compared and not faults:
        yield build_outcome(
            "missing_data", "baseline", None, "info", "nothing could be compared with the baseline"
        )


def _open_outcome(metric: str, reason: Unscored, severity: Severity, text: str) -> MetricOutcome:
    kind: FindingKind = "metric_error" if reason["status"] == "error" else "missing_data"
    return build_outcome(kind, metric, None, severity, f"{metric} {text}: {reason['reason']}")
