"""Whether the values of many runs have moved: a two-sample test for each metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evaluation.errors import MissingExtraError
from evaluation.inputs.rules import DriftRules
from evaluation.metrics.drift.baseline import read_number
from evaluation.results.findings import Unscored, missing_data, unscored_error
from evaluation.statistics.outliers import median
from evaluation.statistics.two_sample import TwoSampleTest, adjust_p_values, two_sample_test
from evaluation.values import JsonObject


@dataclass(frozen=True, slots=True)
class SampleTest:
    """Two samples of one metric, tested."""

    metric: str
    before: list[float]
    after: list[float]
    test: TwoSampleTest
    adjusted_p_value: float

    @property
    def medians(self) -> tuple[float, float]:
        """Before and after."""
        return median(self.before), median(self.after)

    def as_json(self) -> dict[str, object]:
        """Give the counts, the effect with its interval, and both p-values."""
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
    """Test every metric of either side, and adjust over all that were tested.

    Args:
        before: Lists of numbers by metric; null stands for a run without a value and is left out.
        after: Likewise.
        rules: ``min_runs`` values are needed a side; intervals have the confidence 1 - ``alpha``.

    Returns:
        The tests, and why some metrics have none.
    """
    sides = {metric: _sides(before.get(metric), after.get(metric), rules) for metric in {**before, **after}}
    usable = {metric: pair for metric, pair in sides.items() if isinstance(pair, tuple)}
    unusable = {metric: reason for metric, reason in sides.items() if not isinstance(reason, tuple)}
    try:
        return _tested(usable, rules), unusable
    except MissingExtraError as error:
        return [], {**unusable, **dict.fromkeys(usable, unscored_error(str(error)))}


def _tested(sides: Mapping[str, tuple[list[float], list[float]]], rules: DriftRules) -> list[SampleTest]:
    tests = {metric: two_sample_test(*pair, confidence=1.0 - rules.alpha) for metric, pair in sides.items()}
    p_values = adjust_p_values([test.p_value for test in tests.values()])
    return [
        SampleTest(metric, *sides[metric], tests[metric], p_value)
        for metric, p_value in zip(tests, p_values, strict=True)
    ]


def _sides(before: object, after: object, rules: DriftRules) -> tuple[list[float], list[float]] | Unscored:
    old, new = _sample(before), _sample(after)
    if isinstance(old, str):
        return unscored_error(f"the baseline's sample {old}")
    if isinstance(new, str):
        return unscored_error(f"the current sample {new}")
    if min(len(old), len(new)) < rules.min_runs:
        counts = f"{len(old)} values in the baseline and {len(new)} now"
        return missing_data(f"{counts}; {rules.min_runs} are needed on each side")
    return old, new


def _sample(given: object) -> list[float] | str:
    if given is None:
        return []
    if not isinstance(given, list):
        return "is no list of numbers"
    numbers = [read_number(value) for value in given if value is not None]
    wrong = next((number for number in numbers if isinstance(number, str)), None)
    if wrong is not None:
        return f"holds a value that {wrong}"
    return [number for number in numbers if isinstance(number, float)]
