import itertools
import math
import random
from importlib import import_module

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evaluation.statistics import (
    Interval,
    beta_quantile,
    paired_difference,
    pass_at_k,
    pass_hat_k,
    proportion,
    resampled_interval,
    t_quantile,
)

PROBABILITIES = st.floats(1e-9, 1 - 1e-9).filter(lambda p: abs(p - 0.5) > 1e-4)
TASKS = {"steady": [True] * 4, "shaky": [True, True, False, False], "hopeless": [False] * 4}


@pytest.fixture(scope="module")
def stats():
    return import_module("scipy.stats")  # which takes seconds in each process that only collects the tests


@given(
    st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.sampled_from([0.5, 0.9, 0.95, 0.99]),
)
def test_the_interval_is_clopper_and_pearsons(stats, counts, confidence):
    ours = proportion(*counts, confidence).interval
    theirs = stats.binomtest(*counts).proportion_ci(confidence, method="exact")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


def test_a_rate_is_the_share_of_successes_if_anything_was_tried():
    nothing = proportion(0, 0)
    assert (nothing.value, nothing.interval, proportion(3, 4).value) == (None, None, 0.75)


@given(PROBABILITIES, st.integers(1, 2000))
def test_a_quantile_of_t_is_scipys(stats, probability, degrees):
    assert t_quantile(probability, degrees) == pytest.approx(stats.t.ppf(probability, degrees), rel=1e-10)


@given(PROBABILITIES, st.integers(1, 2000), st.integers(1, 2000))
def test_a_quantile_of_beta_is_scipys(stats, probability, a, b):
    assume(1e-6 < probability < 1 - 1e-6)  # SciPy loses digits there: 1 - (1 - p) ** (1 / 5) for a=1, b=5
    assert beta_quantile(probability, a, b) == pytest.approx(stats.beta.ppf(probability, a, b), rel=1e-10)


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(1, 7))
def test_pass_hat_k_and_pass_at_k_are_shares_of_all_choices_of_k_trials(outcomes, k):
    k = min(k, len(outcomes))
    choices = list(itertools.combinations(outcomes, k))
    assert pass_hat_k({"t": outcomes}, k).value == pytest.approx(sum(map(all, choices)) / len(choices))
    assert pass_at_k({"t": outcomes, "few": []}, k) == pytest.approx(sum(map(any, choices)) / len(choices))


def test_pass_hat_k_is_the_mean_over_the_tasks_with_enough_trials(subtests):
    for trials, k, value in [
        (TASKS, 1, 0.5),
        (TASKS, 4, 1 / 3),
        ({**TASKS, "once": [True]}, 2, 7 / 18),
        ({"once": [True]}, 2, None),
        ({"rare": [True] * 20 + [False] * 5000}, 20, 0.0),
    ]:
        with subtests.test(trials=trials, k=k):
            assert pass_hat_k(trials, k).value == pytest.approx(value)


def test_the_interval_of_single_trials_is_that_of_a_proportion():
    measured = pass_hat_k({"a": [True], "b": [False], "c": [True]}, 1)
    assert (measured.cases, measured.interval) == (3, proportion(2, 3).interval)


def test_an_interval_of_repeated_trials_holds_its_confidence():
    draw = random.Random(7)
    covered = 0
    for _ in range(400):
        # The chance of a case is uniform, so that the chance that both trials pass is 1/3 on average.
        chances = [draw.random() for _ in range(30)]
        trials = {
            str(case): [draw.random() < chance for _ in range(3)] for case, chance in enumerate(chances)
        }
        low, high = pass_hat_k(trials, 2).interval
        covered += low <= 1 / 3 <= high
    assert covered >= 0.95 * 400


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


def test_the_interval_of_resampled_values_holds_the_mean_as_often_as_it_says():
    draw, hits = random.Random(5), 0
    for _ in range(400):
        low, high = resampled_interval([draw.choice((0.0, 0.5, 1.0, 1.0)) for _ in range(40)], Interval(0, 1))
        hits += low <= 0.625 <= high
    assert 0.93 <= hits / 400 <= 0.97


def test_the_interval_of_equal_or_too_few_values_goes_towards_the_ends_of_the_span(subtests):
    for values, bounds in [
        ([1.0] * 29, (0.88, 1.0)),
        ([0.0] * 5, (0.0, 0.52)),
        ([0.5], (0, 1)),
        ([], (0, 1)),
    ]:
        with subtests.test(count=len(values)):
            assert resampled_interval(values, Interval(0, 1)) == pytest.approx(bounds, abs=0.005)
