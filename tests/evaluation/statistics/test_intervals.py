"""Rates with their exact interval."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.errors import ContractError
from evaluation.statistics.intervals import proportion


@given(
    st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.sampled_from([0.5, 0.9, 0.95, 0.99]),
)
def test_the_interval_is_clopper_and_pearsons(counts, confidence):
    ours = proportion(*counts, confidence).interval
    theirs = stats.binomtest(*counts).proportion_ci(confidence, method="exact")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


@pytest.mark.parametrize("trials", [1, 2, 5, 10, 30])
@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.8, 0.985])
def test_the_interval_holds_the_truth_at_least_as_often_as_it_says(rate, trials):
    holds = [low <= rate <= high for low, high in (proportion(n, trials).interval for n in range(trials + 1))]
    coverage = sum(stats.binom.pmf(n, trials, rate) for n, hold in enumerate(holds) if hold)
    assert coverage >= 0.95


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95, math.nan])
def test_a_confidence_out_of_range_is_refused(confidence):
    with pytest.raises(ContractError, match="between 0 and 1"):
        proportion(1, 2, confidence)


def test_a_rate_is_the_share_of_successes_if_anything_was_tried():
    nothing = proportion(0, 0)
    assert (nothing.value, nothing.interval, proportion(3, 4).value) == (None, None, 0.75)
