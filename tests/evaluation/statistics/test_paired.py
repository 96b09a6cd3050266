"""The mean difference of paired values and its interval."""

from __future__ import annotations

import math
import random

import pytest

from evaluation.errors import ContractError
from evaluation.statistics.paired import paired_difference


def covers(draw, truth, experiments, pairs):
    """Return the share of experiments whose interval contains the true difference."""
    source = random.Random(3)
    hits = 0
    for _ in range(experiments):
        control, treatment = zip(*(draw(source) for _ in range(pairs)), strict=True)
        low, high = paired_difference(control, treatment).interval
        hits += low <= truth <= high
    return hits / experiments


def related_rates(source):
    chance = source.random()  # the same for both sides: the values are paired
    return float(source.random() < chance * 0.8), float(source.random() < chance)


def related_times(source):
    base = source.gauss(10.0, 5.0)
    return base, base + source.gauss(1.0, 2.0)


@pytest.mark.parametrize(
    ("draw", "truth"), [(related_rates, 0.1), (related_times, 1.0)], ids=["success", "seconds"]
)
def test_the_interval_contains_the_true_difference_as_often_as_it_says(draw, truth):
    assert covers(draw, truth, experiments=400, pairs=30) >= 0.93


def test_pairing_narrows_the_interval_of_values_that_vary_between_items():
    source = random.Random(1)
    pairs = [related_times(source) for _ in range(50)]
    low, high = paired_difference(*zip(*pairs, strict=True)).interval
    assert high - low < 2.0


def test_sides_of_different_length_are_refused():
    with pytest.raises(ContractError, match="2 control and 1 treatment"):
        paired_difference([0.0, 1.0], [1.0])


def test_the_difference_is_treatment_minus_control_with_an_interval_of_two_pairs_or_more():
    low, high = paired_difference([1.0] * 10, [1.0] * 10).interval
    assert low < 0 < high
    assert paired_difference([0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]).mean == 0.5
    assert paired_difference([0.0], [1.0]).interval == (-math.inf, math.inf)
