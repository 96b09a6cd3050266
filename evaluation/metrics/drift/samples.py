"""Tests whether the values of many runs have moved: a two-sample test for each metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

from evaluation.errors import MissingExtraError
from evaluation.inputs.rules import DriftRules
from evaluation.metrics.drift.baseline import read_number
from evaluation.results.findings import Unscored, missing_data, unscored_error
from evaluation.statistics.two_sample import TwoSampleTest, adjust_p_values, two_sample_test
from evaluation.values import JsonObject

_Sides: TypeAlias = tuple[list[float], list[float]]


@dataclass(frozen=True, slots=True)
class SampleTest:
    """The test of two samples of one metric."""

    metric: str
    before: list[float]
    after: list[float]
    test: TwoSampleTest
    adjusted_p_value: float

    @property
    def medians(self) -> tuple[float, float]:
        """The medians before and after."""
        return median(self.before), median(self.after)

    def as_json(self) -> dict[str, object]:
        """Return the counts, the effect with its interval, and both p-values."""
        interval = self.test.effect.interval
        return {
            "baseline_values": len(self.before),
            "current_values": len(self.after),
            "effect_size": self.test.effect.delta,
            "effect_interval": [interval.low, interval.high],
            "confidence": interval.confidence,
            "p_value": self.test.p_value,
            "adjusted_p_value": self.adjusted_p_value,
        }


def compare_samples(
    before: JsonObject, after: JsonObject, rules: DriftRules
) -> tuple[list[SampleTest], dict[str, Unscored]]:
    """Test every metric of either side, and adjust the p-values over all tests.

    Args:
        before: Lists of numbers by metric. null stands for a run without a value and is left out.
        after: As for ``before``.
        rules: Each side needs ``min_runs`` values; intervals have the confidence 1 - ``alpha``.

    Returns:
        The tests, and why some metrics have none.
    """
    sides = {
        metric: _read_sides(before.get(metric), after.get(metric), rules) for metric in {**before, **after}
    }
    usable = {metric: pair for metric, pair in sides.items() if isinstance(pair, tuple)}
    unusable = {metric: reason for metric, reason in sides.items() if not isinstance(reason, tuple)}
    try:
        return _test_sides(usable, rules), unusable
    except MissingExtraError as error:
        # SciPy is optional. Without it, metrics that need no test are still compared.
        return [], {**unusable, **dict.fromkeys(usable, unscored_error(str(error)))}


def _test_sides(sides: Mapping[str, _Sides], rules: DriftRules) -> list[SampleTest]:
    tests = {metric: two_sample_test(*pair, confidence=1.0 - rules.alpha) for metric, pair in sides.items()}
    # Adjusted together, because each further test raises the chance of a false alarm.
    p_values = adjust_p_values([test.p_value for test in tests.values()])
    return [
        SampleTest(metric, *sides[metric], tests[metric], p_value)
        for metric, p_value in zip(tests, p_values, strict=True)
    ]


def _read_sides(before: object, after: object, rules: DriftRules) -> _Sides | Unscored:
    old, new = _read_sample(before), _read_sample(after)
    if isinstance(old, str):
        return unscored_error(f"the baseline's sample {old}")
    if isinstance(new, str):
        return unscored_error(f"the current sample {new}")
    if min(len(old), len(new)) < rules.min_runs:
        counts = f"{len(old)} values in the baseline and {len(new)} now"
        return missing_data(f"{counts}; {rules.min_runs} are needed on each side")
    return old, new


def _read_sample(values: object) -> list[float] | str:
    """Return the numbers of a sample, or the reason why it cannot be used."""
    if values is None:
        return []
    if not isinstance(values, list):
        return "is not a list of numbers"
    numbers: list[float] = []
    for number in (read_number(value) for value in values if value is not None):
        if isinstance(number, str):
            return f"holds a value that {number}"
        numbers.append(number)
    return numbers
