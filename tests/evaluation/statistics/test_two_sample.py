"""Two samples: the adjustment over many tests, and the test over time."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.statistics.two_sample import adjust_p_values, sequential_test


def test_p_values_of_many_tests_are_adjusted():
    assert adjust_p_values([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])
    assert adjust_p_values([]) == []


def share_of_decisions(source, experiments, draw):
    """Return the share of experiments that end with a decision if the verdict is read after every pair."""
    verdicts = [
        sequential_test([draw(source) for _ in range(300)], alpha=0.05).verdict for _ in range(experiments)
    ]
    return sum(verdict != "undecided" for verdict in verdicts) / experiments


def latencies(shift):
    return lambda source: (source.lognormvariate(7.0, 1.0), source.lognormvariate(7.0 + shift, 1.0))


def passes(control, treatment):
    return lambda source: (float(source.random() < control), float(source.random() < treatment))


@pytest.mark.parametrize("draw", [latencies(0.0), passes(0.8, 0.8)], ids=["latency", "pass rate"])
def test_looking_after_every_pair_keeps_false_alarms_under_alpha(draw):
    assert share_of_decisions(random.Random(1), 600, draw) <= 0.05


@pytest.mark.parametrize("draw", [latencies(0.6), passes(0.6, 0.85)], ids=["latency", "pass rate"])
def test_a_real_difference_is_found(draw):
    assert share_of_decisions(random.Random(2), 100, draw) >= 0.9


@given(st.lists(st.booleans(), max_size=200))
def test_the_p_value_is_one_over_the_largest_evidence(wins):
    test = sequential_test([(0.0, 1.0 if won else -1.0) for won in wins])
    exact = [2**n / ((n + 1) * math.comb(n, sum(wins[:n]))) for n in range(len(wins) + 1)]
    assert test.p_value == pytest.approx(1 / max(exact))


@pytest.mark.parametrize(
    ("pairs", "verdict"),
    [
        ([(2.0, 1.0)] * 20, "treatment_lower"),
        ([(1.0, 2.0)] * 20 + [(2.0, 1.0)] * 20, "treatment_higher"),  # a decision stands
        # 2^n / (n + 1) is 14.2 at 7 pairs and 28.4 at 8.
        ([(0.0, 1.0)] * 7, "undecided"),
        ([(0.0, 1.0)] * 8, "treatment_higher"),
        ([(1.0, 1.0)] * 50, "undecided"),
    ],
)
def test_the_first_decision_says_which_side_is_higher(pairs, verdict):
    result = sequential_test(pairs)
    ties = sum(first == second for first, second in pairs)
    assert (result.verdict, result.pairs, result.ties) == (verdict, len(pairs), ties)
