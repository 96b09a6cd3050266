"""Cliff's delta, the two-sample test, and the adjustment over many tests."""

from __future__ import annotations

import random
import sys
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import MissingExtraError
from evaluation.statistics.means import difference_interval
from evaluation.statistics.two_sample import adjust_p_values, cliffs_delta, two_sample_p_value

SAMPLES = st.lists(st.integers(-5, 5).map(float), min_size=2, max_size=12)


@given(SAMPLES, SAMPLES)
def test_delta_is_what_comparing_every_pair_gives(control, treatment):
    pairs = [(after > before) - (after < before) for before in control for after in treatment]
    assert cliffs_delta(control, treatment)[0] == pytest.approx(sum(pairs) / len(pairs))


@given(SAMPLES, SAMPLES)
def test_the_interval_holds_the_estimate_and_keeps_to_the_scale(control, treatment):
    delta, interval = cliffs_delta(control, treatment)
    assert (interval is None) == (len({*control, *treatment}) == 1 and control[0] not in {0.0, 1.0})
    if interval:
        assert -1.0 <= interval.low <= delta + 1e-12
        assert delta - 1e-12 <= interval.high <= 1.0


@given(SAMPLES, SAMPLES)
def test_changing_sides_changes_the_sign(control, treatment):
    (delta, interval), (reverse, mirrored) = (
        cliffs_delta(control, treatment),
        cliffs_delta(treatment, control),
    )
    assert delta == pytest.approx(-reverse)
    assert interval is mirrored is None or interval.low == pytest.approx(-mirrored.high)


@pytest.mark.parametrize(("control", "treatment"), [(2, 2), (3, 30), (8, 8), (20, 30)])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(control, treatment):
    source, truth = random.Random(11), 2 * NormalDist().cdf(0.5 / 2**0.5) - 1

    def contains_truth():
        before = [source.gauss(0.0, 1.0) for _ in range(control)]
        _, interval = cliffs_delta(before, [source.gauss(0.5, 1.0) for _ in range(treatment)])
        return interval.low <= truth <= interval.high

    assert sum(contains_truth() for _ in range(1000)) / 1000 >= 0.94


def test_samples_that_do_not_overlap_still_leave_room_for_doubt():
    delta, interval = cliffs_delta([1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0])
    assert (delta, interval.high) == (1.0, 1.0)
    assert interval.low == pytest.approx((3 - 4.302653**2) / (3 + 4.302653**2), abs=1e-4)


def test_more_data_make_a_narrower_interval():
    _, few = cliffs_delta([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
    _, many = cliffs_delta([1, 2, 3] * 20, [2, 3, 4] * 20)
    assert many.low > few.low


def test_samples_of_one_distribution_are_told_apart_as_seldom_as_alpha_says():
    source = random.Random(3)
    draws = [[source.expovariate(1.0) for _ in range(20)] for _ in range(1000)]
    rejected = [two_sample_p_value(*pair) <= 0.05 for pair in zip(draws[::2], draws[1::2], strict=True)]
    assert 0.02 <= sum(rejected) / len(rejected) <= 0.08


def test_the_difference_of_flags_has_the_interval_of_rates():
    flags = [1.0, 0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0, 0.0]
    delta, interval = cliffs_delta(*flags)
    assert (delta, interval) == (pytest.approx(0.4), difference_interval(*flags)[0])


def test_small_samples_of_one_distribution_with_ties_are_told_apart_no_more_often_than_alpha():
    source = random.Random(4)
    draws = [[float(source.random() < 0.9) for _ in range(count)] for _ in range(200) for count in (3, 12)]
    rejected = [two_sample_p_value(*pair) <= 0.05 for pair in zip(draws[::2], draws[1::2], strict=True)]
    assert sum(rejected) / len(rejected) <= 0.05


@pytest.mark.parametrize(
    ("control", "treatment", "p_value"),
    [
        ([1.0, 2.0, 3.0, 4.0, 5.0], [11.0, 12.0, 13.0, 14.0, 15.0], 2 / 252),
        ([1.0, 1.0, 2.0, 2.0], [3.0, 3.0, 4.0, 4.0], 2 / 70),  # by permutation: 2 of the 70 ways
        ([5.0] * 6, [5.0] * 6, 1.0),
    ],
)
def test_samples_apart_have_a_small_p_value(control, treatment, p_value):
    assert two_sample_p_value(control, treatment) == pytest.approx(p_value)


@pytest.mark.parametrize(
    ("p_values", "correction", "adjusted"),
    [
        ([0.01, 0.04, 0.03, 0.5], "benjamini-hochberg", [0.04, 0.16 / 3, 0.16 / 3, 0.5]),
        ([0.01, 0.04, 0.03, 0.005], "holm", [0.03, 0.06, 0.06, 0.02]),
        ([], "benjamini-hochberg", []),
    ],
)
def test_p_values_of_many_tests_are_adjusted(p_values, correction, adjusted):
    assert adjust_p_values(p_values, correction) == pytest.approx(adjusted)


@pytest.mark.parametrize(
    ("module", "compute"),
    [
        ("statsmodels.stats.multitest", lambda: adjust_p_values([0.1], "holm")),
        ("scipy.stats", lambda: two_sample_p_value([1.0, 2.0], [1.0, 2.0])),
    ],
)
def test_without_a_library_the_error_names_what_to_install(monkeypatch, module, compute):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match="run: pip install scipy statsmodels krippendorff"):
        compute()
