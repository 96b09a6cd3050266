"""The bootstrap interval of a difference of means."""

from __future__ import annotations

import random
import subprocess
import sys

from evaluation.statistics.bootstrap import difference_interval

SKEWED = [1.0, 1.0, 2.0, 3.0, 5.0, 8.0, 40.0]


def normal(source, mean, count=30):
    return [source.gauss(mean, 1.0) for _ in range(count)]


def test_the_same_seed_gives_the_same_interval():
    assert difference_interval(SKEWED, [1.0, 2.0], seed=4) == difference_interval(SKEWED, [1.0, 2.0], seed=4)


def test_another_seed_draws_again():
    assert difference_interval(SKEWED, [1.0, 2.0], seed=4) != difference_interval(SKEWED, [1.0, 2.0], seed=5)


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    source = random.Random(5)
    intervals = [difference_interval(normal(source, 0.0), normal(source, 1.0))[0] for _ in range(150)]
    assert 0.88 <= sum(result.low <= 1.0 <= result.high for result in intervals) / 150 <= 0.99


def test_a_wider_confidence_makes_a_wider_interval():
    narrow, wide = (difference_interval(SKEWED, [1.0, 2.0], confidence=level)[0] for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_values_without_spread_differ_by_exactly_what_they_do():
    assert difference_interval([1.0] * 5, [3.0] * 5) == ((2.0, 2.0), "percentile")


def test_large_samples_have_percentile_intervals():
    assert difference_interval([0.0, 1.0] * 5000, [0.0, 1.0] * 5000)[1] == "percentile"


def test_nothing_heavy_is_imported_before_it_is_needed():
    code = (
        "import sys, evaluation.statistics.bootstrap, evaluation.statistics.two_sample\n"
        "assert not {'scipy', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
