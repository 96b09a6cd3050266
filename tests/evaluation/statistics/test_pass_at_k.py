"""pass^k and pass@k, by tasks."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import ContractError
from evaluation.statistics.pass_at_k import pass_at_k, pass_hat_k

TASKS = {"steady": [True] * 4, "shaky": [True, True, False, False], "hopeless": [False] * 4}


@pytest.mark.parametrize(("k", "value"), [(1, 0.5), (2, 7 / 18), (3, 1 / 3), (4, 1 / 3)])
def test_pass_hat_k_is_the_mean_over_tasks_of_the_chance_that_all_succeed(k, value):
    assert pass_hat_k(TASKS, k).value == pytest.approx(value)


@pytest.mark.parametrize(("k", "value"), [(1, 0.5), (2, (1 + 5 / 6) / 3), (3, 2 / 3)])
def test_pass_at_k_is_the_mean_over_tasks_of_the_chance_that_one_succeeds(k, value):
    assert pass_at_k(TASKS, k).value == pytest.approx(value)


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(1, 7))
def test_both_are_what_counting_every_choice_of_k_trials_gives(outcomes, k):
    k = min(k, len(outcomes))
    choices = list(itertools.combinations(outcomes, k))
    assert pass_hat_k({"t": outcomes}, k).value == pytest.approx(sum(map(all, choices)) / len(choices))
    assert pass_at_k({"t": outcomes}, k).value == pytest.approx(sum(map(any, choices)) / len(choices))


def test_a_task_with_too_few_trials_is_reported_and_left_out():
    result = pass_hat_k({**TASKS, "once": [True]}, 2)
    assert (result.tasks, result.too_few, result.value) == (3, ("once",), pytest.approx(7 / 18))


def test_a_trial_without_a_judgement_is_neither_a_success_nor_a_failure():
    result = pass_hat_k({"t": [True, None, True]}, 2)
    assert (result.value, result.unjudged_trials) == (1.0, 1)


@pytest.mark.parametrize("trials", [{}, {"once": [True]}, {"unknown": [None, None]}])
def test_no_task_with_enough_trials_gives_no_value(trials):
    assert pass_at_k(trials, 2).value is None


def test_thousands_of_trials_overflow_nothing():
    assert pass_hat_k({"t": [True, False] * 5000}, 1000).value == pytest.approx(0.0, abs=1e-300)


def test_no_trial_at_all_is_no_question():
    with pytest.raises(ContractError, match="not 0"):
        pass_hat_k(TASKS, 0)
