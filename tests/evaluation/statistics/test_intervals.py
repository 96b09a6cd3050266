"""Rates with Wilson's interval."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.statistics.intervals import proportion


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_is_wilsons(counts):
    ours = proportion(*counts).interval
    theirs = stats.binomtest(*counts).proportion_ci(method="wilson")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))


def test_nothing_tried_has_no_rate():
    result = proportion(0, 0)
    assert (result.value, result.interval) == (None, None)


def test_a_rate_is_the_share_of_successes():
    assert proportion(3, 4).value == 0.75
