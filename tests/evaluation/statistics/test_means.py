"""The interval of a paired difference of means or rates."""

from __future__ import annotations

import math
import random

from evaluation.statistics import paired_difference


def related_rates(source):
    chance = source.random()  # the same for both sides: the values are paired
    return float(source.random() < chance * 0.8), float(source.random() < chance)


def related_times(source):
    base = source.gauss(10.0, 5.0)
    return base, base + source.gauss(1.0, 2.0)


def test_the_interval_of_pairs_holds_the_true_difference_as_often_as_it_says(subtests):
    for draw, truth in [(related_rates, 0.1), (related_times, 1.0)]:
        with subtests.test(draw=draw):
            source, hits = random.Random(3), 0
            for _ in range(400):
                low, high = paired_difference(*zip(*(draw(source) for _ in range(30)), strict=True)).interval
                hits += low <= truth <= high
            assert hits / 400 >= 0.93


def test_the_difference_is_treatment_minus_control_with_an_interval_of_two_pairs_or_more():
    low, high = paired_difference([1.0] * 10, [1.0] * 10).interval
    assert low < 0 < high
    assert paired_difference([0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]).mean == 0.5
    assert paired_difference([0.0], [1.0]).interval == (-math.inf, math.inf)
