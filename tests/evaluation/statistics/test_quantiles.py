"""Quantiles without SciPy, against SciPy's."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from evaluation.statistics.quantiles import beta_quantile, t_quantile

PROBABILITIES = st.floats(1e-9, 1 - 1e-9).filter(lambda p: abs(p - 0.5) > 1e-4)


@given(PROBABILITIES, st.integers(1, 2000))
def test_a_quantile_of_t_is_scipys(probability, degrees):
    assert t_quantile(probability, degrees) == pytest.approx(stats.t.ppf(probability, degrees), rel=1e-10)


@given(PROBABILITIES, st.integers(1, 2000), st.integers(1, 2000))
def test_a_quantile_of_beta_is_scipys(probability, a, b):
    assume(1e-6 < probability < 1 - 1e-6)  # SciPy loses digits there: 1 - (1 - p) ** (1 / 5) for a=1, b=5
    assert beta_quantile(probability, a, b) == pytest.approx(stats.beta.ppf(probability, a, b), rel=1e-10)


def test_the_median_of_t_is_zero():
    assert t_quantile(0.5, 3) == pytest.approx(0.0, abs=1e-6)
