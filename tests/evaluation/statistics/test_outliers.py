"""Centre and spread of earlier runs."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.statistics.outliers import center_and_spread

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30)


@given(VALUES)
def test_a_standard_score_is_over_mean_and_sample_standard_deviation(values):
    center, spread = center_and_spread(values, "zscore")
    assert center == pytest.approx(statistics.fmean(values), abs=1e-9)
    assert spread == pytest.approx(statistics.stdev(values), abs=1e-6)


@given(VALUES.filter(lambda values: stats.median_abs_deviation(values) > 0))
def test_a_modified_score_is_over_median_and_mad(values):
    center, spread = center_and_spread(values, "mad")
    assert center == pytest.approx(statistics.median(values))
    assert spread == pytest.approx(stats.median_abs_deviation(values) / 0.6745)


def test_one_far_value_hides_nothing_from_the_median():
    _, spread = center_and_spread([100.0, 101.0, 102.0, 103.0, 9000.0], "mad")
    assert spread == pytest.approx(1 / 0.6745)


def test_where_most_values_are_equal_the_mean_deviation_gives_the_spread():
    _, spread = center_and_spread([1.0] * 7 + [0.0] * 3, "mad")
    assert spread == pytest.approx(0.3 * 1.2533141)


@pytest.mark.parametrize("method", ["mad", "zscore"])
def test_equal_values_have_no_spread(method):
    assert center_and_spread([4.0] * 5, method) == (4.0, 0.0)
