"""pass^k, by tasks."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.statistics.pass_at_k import pass_hat_k

TASKS = {"steady": [True] * 4, "shaky": [True, True, False, False], "hopeless": [False] * 4}


@pytest.mark.parametrize(("k", "value"), [(1, 0.5), (2, 7 / 18), (3, 1 / 3), (4, 1 / 3)])
def test_pass_hat_k_is_the_mean_over_tasks_of_the_chance_that_all_succeed(k, value):
    assert pass_hat_k(TASKS, k) == pytest.approx(value)


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(1, 7))
def test_it_equals_the_share_of_all_choices_of_k_trials(outcomes, k):
    k = min(k, len(outcomes))
    choices = list(itertools.combinations(outcomes, k))
    assert pass_hat_k({"t": outcomes}, k) == pytest.approx(sum(map(all, choices)) / len(choices))


@pytest.mark.parametrize(
    ("trials", "k", "value"),
    [
        ({**TASKS, "once": [True]}, 2, 7 / 18),
        ({}, 2, None),
        ({"once": [True]}, 2, None),
        ({"t": [True, False] * 5000}, 1000, 0.0),
    ],
)
def test_a_task_with_too_few_trials_is_left_out(trials, k, value):
    assert pass_hat_k(trials, k) == pytest.approx(value, abs=1e-300)
