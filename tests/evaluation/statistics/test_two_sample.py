"""The two-sample test and the adjustment over many of them."""

from __future__ import annotations

import random
import sys

import pytest

from evaluation.errors import MissingExtraError
from evaluation.statistics.two_sample import adjust_p_values, two_sample_test


def test_samples_apart_have_a_small_p_value_and_a_large_effect():
    found = two_sample_test([1.0, 2.0, 3.0, 4.0, 5.0], [11.0, 12.0, 13.0, 14.0, 15.0])
    assert found.p_value == pytest.approx(2 / 252)
    assert found.effect.delta == 1.0


def test_equal_samples_show_nothing():
    found = two_sample_test([5.0] * 6, [5.0] * 6)
    assert (found.p_value, found.effect.delta) == (1.0, 0.0)


def test_samples_of_one_distribution_are_told_apart_as_seldom_as_alpha_says():
    source = random.Random(3)
    draws = [[source.expovariate(1.0) for _ in range(20)] for _ in range(1000)]
    found = [two_sample_test(*pair).p_value <= 0.05 for pair in zip(draws[::2], draws[1::2], strict=True)]
    assert 0.02 <= sum(found) / len(found) <= 0.08


def test_many_tests_are_adjusted_after_benjamini_and_hochberg():
    assert adjust_p_values([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])


def test_no_test_needs_no_adjustment():
    assert adjust_p_values([]) == []


def test_without_scipy_the_error_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'plan-execute-monitor\[statistics\]'"):
        two_sample_test([1.0, 2.0], [1.0, 2.0])
