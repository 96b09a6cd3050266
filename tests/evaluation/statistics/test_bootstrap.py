"""The difference of two means with a bootstrap interval."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from evaluation.errors import ContractError
from evaluation.statistics.bootstrap import mean_difference

SKEWED = [1.0, 1.0, 2.0, 3.0, 5.0, 8.0, 40.0]


def normal(source, mean, count=30):
    return [source.gauss(mean, 1.0) for _ in range(count)]


def test_the_difference_is_treatment_less_control():
    assert mean_difference([1.0, 2.0], [5.0, 8.0]).value == 5.0


def test_the_same_seed_gives_the_same_interval():
    assert mean_difference(SKEWED, [1.0, 2.0], seed=4) == mean_difference(SKEWED, [1.0, 2.0], seed=4)


def test_another_seed_draws_again():
    assert mean_difference(SKEWED, [1.0, 2.0], seed=4) != mean_difference(SKEWED, [1.0, 2.0], seed=5)


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    source = random.Random(5)
    intervals = [mean_difference(normal(source, 0.0), normal(source, 1.0)).interval for _ in range(150)]
    assert 0.88 <= sum(result.low <= 1.0 <= result.high for result in intervals) / 150 <= 0.99


def test_a_wider_confidence_makes_a_wider_interval():
    narrow, wide = (mean_difference(SKEWED, [1.0, 2.0], confidence=level).interval for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_values_without_spread_differ_by_exactly_what_they_do():
    result = mean_difference([1.0] * 5, [3.0] * 5)
    assert (result.interval.low, result.interval.high, result.method) == (2.0, 2.0, "percentile")


def test_large_samples_are_resampled_less_often_and_say_so():
    result = mean_difference([0.0, 1.0] * 5000, [0.0, 1.0] * 5000)
    assert (result.resamples, result.method) == (5000, "percentile")


@pytest.mark.parametrize("sides", [([], [1.0, 2.0]), ([1.0, 2.0], [1.0])])
def test_fewer_than_two_values_are_refused(sides):
    with pytest.raises(ContractError, match="two values on each side"):
        mean_difference(*sides)


def test_nothing_heavy_is_imported_before_it_is_needed():
    code = (
        "import sys, evaluation.statistics.bootstrap, evaluation.statistics.two_sample\n"
        "assert not {'scipy', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
