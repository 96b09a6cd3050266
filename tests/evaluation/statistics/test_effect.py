"""Cliff's delta and its interval."""

from __future__ import annotations

import random
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import ContractError
from evaluation.statistics.two_sample import cliffs_delta

SAMPLES = st.lists(st.integers(-5, 5).map(float), min_size=2, max_size=12)


@given(SAMPLES, SAMPLES)
def test_delta_is_what_comparing_every_pair_gives(control, treatment):
    pairs = [(after > before) - (after < before) for before in control for after in treatment]
    assert cliffs_delta(control, treatment).delta == pytest.approx(sum(pairs) / len(pairs))


@given(SAMPLES, SAMPLES)
def test_the_interval_holds_the_estimate_and_keeps_to_the_scale(control, treatment):
    found = cliffs_delta(control, treatment)
    assert -1.0 <= found.interval.low <= found.delta + 1e-12
    assert found.delta - 1e-12 <= found.interval.high <= 1.0


@given(SAMPLES, SAMPLES)
def test_changing_sides_changes_the_sign(control, treatment):
    there, back = cliffs_delta(control, treatment), cliffs_delta(treatment, control)
    assert there.delta == pytest.approx(-back.delta)
    assert there.interval.low == pytest.approx(-back.interval.high)


@pytest.mark.parametrize(("control", "treatment"), [(8, 8), (20, 30)])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(control, treatment):
    source, truth = random.Random(11), 2 * NormalDist().cdf(0.5 / 2**0.5) - 1

    def holds():
        before = [source.gauss(0.0, 1.0) for _ in range(control)]
        interval = cliffs_delta(before, [source.gauss(0.5, 1.0) for _ in range(treatment)]).interval
        return interval.low <= truth <= interval.high

    assert 0.92 <= sum(holds() for _ in range(1000)) / 1000 <= 0.98


def test_samples_that_do_not_overlap_still_leave_room_for_doubt():
    found = cliffs_delta([1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0])
    assert (found.delta, found.interval.high) == (1.0, 1.0)
    assert found.interval.low == pytest.approx((3 - 1.96**2) / (3 + 1.96**2), abs=1e-4)


def test_more_data_make_a_narrower_interval():
    few, many = cliffs_delta([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]), cliffs_delta([1, 2, 3] * 20, [2, 3, 4] * 20)
    assert many.interval.low > few.interval.low


def test_one_value_has_no_interval():
    with pytest.raises(ContractError, match="2 values on each side, not 1"):
        cliffs_delta([1.0], [1.0, 2.0])
