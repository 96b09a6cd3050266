"""Bounds for one further value."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.statistics import change_rate, is_constant, prediction_bounds
from tests.sampling import sample_table


def exceeding(draw, count, rate, experiments=4000):
    """Return how often a further value is below and above the bounds of ``count`` values."""
    below = above = 0
    for _ in range(experiments):
        values = [draw() for _ in range(count)]
        if is_constant(values):
            continue
        bounds, new = prediction_bounds(values, rate), draw()
        below, above = below + (new < bounds.low), above + (new > bounds.high)
    return below / experiments, above / experiments


@pytest.mark.parametrize("counts", sample_table([2, 3, 5, 10, 19, 30, 100], every=4))
@pytest.mark.parametrize(
    "kind", ["normal", "lognormal", "exponential", "whole numbers", "flags", "scores with a ceiling"]
)
def test_a_further_value_exceeds_a_bound_no_more_often_than_the_rate(subtests, kind, counts):
    source = random.Random(7)
    draws = {
        "normal": lambda: source.gauss(100.0, 15.0),
        "lognormal": lambda: source.lognormvariate(7.0, 0.2),
        "exponential": lambda: source.expovariate(1.0),
        "whole numbers": lambda: float(sum(source.random() < 0.1 for _ in range(20))),
        "flags": lambda: float(source.random() < 0.9),
        "scores with a ceiling": lambda: min(1.0, source.gauss(0.95, 0.1)),
    }
    for count in counts:
        with subtests.test(count=count):
            source.seed(7)
            assert (
                max(exceeding(draws[kind], count, 0.05)) <= 0.062
            )  # three standard errors of 4,000 experiments


def test_enough_values_give_bounds_of_any_distribution():
    values = [float(n) for n in range(1, 100)]
    assert prediction_bounds(values, 0.05) == (5.0, 95.0)
    assert prediction_bounds(values, 0.01) == (1.0, 99.0)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30), st.floats(1e-4, 0.5))
def test_bounds_are_never_within_the_values_unless_the_values_are_many(values, rate):
    if not is_constant(values):
        bounds = prediction_bounds(values, rate)
        assert bounds.low <= bounds.high
        if (len(values) + 1) * rate < 1:
            assert bounds.low <= min(values)
            assert max(values) <= bounds.high


@given(st.integers(1, 200), st.floats(0.0, 1.0))
def test_the_chance_of_a_change_after_equal_values_is_at_most_the_stated_one(count, chance):
    assert chance * (1 - chance) ** count <= change_rate(count) * (1 + 1e-9)


def test_values_that_differ_by_rounding_are_constant(subtests):
    for values, constant in [
        ([4.0] * 5, True),
        ([0.3, 0.1 + 0.2], True),
        ([0.0, 0.0], True),
        ([4.0, 4.1], False),
    ]:
        with subtests.test(values=values):
            assert is_constant(values) is constant


def test_the_lower_bound_is_students_and_ties_take_degrees_of_freedom(subtests):
    for values, degrees in [([100.0, 90.0, 115.0, 104.0], 3), ([1.0, 1.0, 0.9, 0.8, 0.7], 2)]:
        with subtests.test(values=values):
            allowed = stats.t.ppf(0.99, degrees) * stats.tstd(values) * (1 + 1 / len(values)) ** 0.5
            assert prediction_bounds(values, 0.01).low == pytest.approx(stats.tmean(values) - allowed)
