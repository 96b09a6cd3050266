"""The interval of a difference of means or rates, of two samples and of paired values."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.errors import ContractError
from evaluation.statistics.means import difference_interval, paired_difference


def coverage(draw_control, draw_treatment, truth, sizes, experiments=2000):
    def contains_truth():
        control, treatment = (
            [draw() for _ in range(n)] for draw, n in zip((draw_control, draw_treatment), sizes, strict=True)
        )
        (low, high), _ = difference_interval(control, treatment)
        return low <= truth <= high

    return sum(contains_truth() for _ in range(experiments)) / experiments


@pytest.mark.parametrize("sizes", [(2, 2), (3, 3), (5, 5), (10, 10), (3, 30), (40, 40)])
@pytest.mark.parametrize("spread", [1.0, 3.0])
def test_the_interval_of_means_holds_the_truth_at_least_about_as_often_as_it_says(sizes, spread):
    source = random.Random(5)
    draw = (lambda: source.gauss(0.0, 1.0)), (lambda: source.gauss(1.0, spread))
    assert coverage(*draw, 1.0, sizes) >= 0.94


@pytest.mark.parametrize("sizes", [(2, 2), (5, 5), (5, 20), (20, 20)])
@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.05, 0.05), (0.8, 0.98)])
def test_the_interval_of_rates_holds_the_truth_at_least_about_as_often_as_it_says(rates, sizes):
    def holds(before, after):
        sides = ([1.0] * count + [0.0] * (n - count) for count, n in zip((before, after), sizes, strict=True))
        (low, high), method = difference_interval(*sides)
        assert method == "Agresti-Caffo"
        return low <= rates[1] - rates[0] <= high

    outcomes = product(range(sizes[0] + 1), range(sizes[1] + 1))
    chances = (
        stats.binom.pmf(before, sizes[0], rates[0]) * stats.binom.pmf(after, sizes[1], rates[1])
        for before, after in outcomes
        if holds(before, after)
    )
    assert sum(chances) >= 0.945


def test_the_interval_of_two_equal_sides_is_students():
    ours, method = difference_interval([1.0, 2.0, 4.0], [3.0, 3.5, 7.0])
    error = (stats.sem([1.0, 2.0, 4.0]) ** 2 + stats.sem([3.0, 3.5, 7.0]) ** 2) ** 0.5
    half = stats.t.ppf(0.975, 2) * error
    assert (*ours, method) == (pytest.approx(13 / 6 - half), pytest.approx(13 / 6 + half), "Welch")


def test_rates_without_spread_still_leave_room_for_doubt():
    (low, high), _ = difference_interval([1.0] * 5, [1.0] * 5)
    # 6 of 7 on each side, and 6 degrees of freedom
    assert (low, high) == (pytest.approx(-high), pytest.approx(stats.t.ppf(0.975, 6) * (12 / 343) ** 0.5))


SIDES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8)


@given(SIDES, SIDES)
def test_the_interval_is_around_the_difference_and_turns_with_the_sides(control, treatment):
    there, back = difference_interval(control, treatment), difference_interval(treatment, control)
    assert (there is None) == (back is None)
    if there and back:
        assert there[0].low <= there[0].high
        assert there[0].low == pytest.approx(-back[0].high)


def test_nothing_heavy_is_imported_before_it_is_needed():
    modules = "agreement, intervals, means, two_sample"
    code = (
        f"import sys; from evaluation.statistics import {modules}\n"
        "assert not {'scipy', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("control", "treatment"), [([2.0] * 5, [3.0] * 5), ([0.1] * 3, [0.3] * 6)])
def test_values_without_spread_have_no_interval(control, treatment):
    assert difference_interval(control, treatment) is None


def related_rates(source):
    chance = source.random()  # the same for both sides: the values are paired
    return float(source.random() < chance * 0.8), float(source.random() < chance)


def related_times(source):
    base = source.gauss(10.0, 5.0)
    return base, base + source.gauss(1.0, 2.0)


@pytest.mark.parametrize(
    ("draw", "truth"), [(related_rates, 0.1), (related_times, 1.0)], ids=["success", "seconds"]
)
def test_the_interval_of_pairs_holds_the_true_difference_as_often_as_it_says(draw, truth):
    source, hits = random.Random(3), 0
    for _ in range(400):
        low, high = paired_difference(*zip(*(draw(source) for _ in range(30)), strict=True)).interval
        hits += low <= truth <= high
    assert hits / 400 >= 0.93


def test_sides_of_different_length_are_refused():
    with pytest.raises(ContractError, match="2 control and 1 treatment"):
        paired_difference([0.0, 1.0], [1.0])


def test_the_difference_is_treatment_minus_control_with_an_interval_of_two_pairs_or_more():
    low, high = paired_difference([1.0] * 10, [1.0] * 10).interval
    assert low < 0 < high
    assert paired_difference([0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]).mean == 0.5
    assert paired_difference([0.0], [1.0]).interval == (-math.inf, math.inf)
