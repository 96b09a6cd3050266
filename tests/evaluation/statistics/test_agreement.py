"""Cohen's kappa, with its confusion."""

from __future__ import annotations

import math
import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.statistics.agreement import agreement

# Fleiss, Statistical Methods for Rates and Proportions (2nd ed.), table 13.1: two raters, 100 patients.
TABLE = (
    ("psychotic", {"psychotic": 75, "neurotic": 1, "organic": 4}),
    ("neurotic", {"psychotic": 5, "neurotic": 4, "organic": 1}),
    ("organic", {"psychotic": 0, "neurotic": 0, "organic": 10}),
)


def test_the_confusion_has_the_first_rater_in_rows():
    assert agreement([(True, False)]).confusion == {
        "False": {"False": 0, "True": 0},
        "True": {"False": 1, "True": 0},
    }


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc"))))
def test_changing_places_changes_no_kappa(pairs):
    there, back = agreement(pairs), agreement((second, first) for first, second in pairs)
    assert there.kappa == pytest.approx(back.kappa)
    assert there.accuracy == back.accuracy


# the interval of kappa


def interval(yes_yes, yes_no, no_yes, no_no, confidence=0.95):
    pairs = [("y", "y")] * yes_yes + [("y", "n")] * yes_no + [("n", "y")] * no_yes + [("n", "n")] * no_no
    return agreement(pairs, confidence).kappa_interval


def test_the_interval_is_that_of_the_standard_error():
    low, high = interval(450, 50, 50, 450)
    kappa, error = 0.8, math.sqrt(0.9 * 0.1 / 1000) / 0.5
    assert (low, high) == (
        pytest.approx(kappa - 1.96 * error, abs=0.01),
        pytest.approx(kappa + 1.96 * error, abs=0.01),
    )


@settings(max_examples=25)
@given(st.tuples(*[st.integers(0, 6)] * 4))
def test_the_interval_holds_the_estimate_and_keeps_to_the_scale(table):
    pairs = [pair for pair, n in zip(product("yn", "yn"), table, strict=True) for _ in range(n)]
    result = agreement(pairs)
    assert (result.kappa_interval is None) == (result.kappa is None)
    if result.kappa_interval:
        low, high = result.kappa_interval
        assert -1.0 <= low <= result.kappa <= high <= 1.0


def test_a_published_table_gives_its_published_kappa():
    result = agreement(
        (row, column) for row, counts in TABLE for column, n in counts.items() for _ in range(n)
    )
    accuracy = result.accuracy
    assert (accuracy.successes, accuracy.trials, accuracy.value) == (89, 100, 0.89)
    assert result.kappa == pytest.approx(0.68, abs=0.005)


@pytest.mark.parametrize(
    ("pairs", "kappa", "why"),
    [
        ([], None, "there is no pair of labels"),
        ([("a", "a")] * 9, None, "only one label, 'a', occurs"),
        ([("a", "a"), ("b", "b")], 1.0, ""),
        ([("a", "a"), ("a", "b")], 0.0, ""),
        ([("a", "b"), ("b", "a")], -1.0, ""),
    ],
)
def test_what_is_not_defined_is_not_guessed(pairs, kappa, why):
    result = agreement(pairs)
    assert result.kappa == kappa
    assert why in (result.reason or "")


@pytest.mark.parametrize(("equal", "pairs"), [(0.9, 10), (0.6, 10), (0.6, 100)])
def test_the_interval_of_kappa_holds_the_truth_as_often_as_it_says(equal, pairs):
    source = random.Random(5)
    weights = [equal / 2, (1 - equal) / 2] * 2
    cells = [("y", "y"), ("y", "n"), ("n", "n"), ("n", "y")]
    samples = [agreement(source.choices(cells, weights, k=pairs)).kappa_interval for _ in range(400)]
    holds = [each.low <= 2 * equal - 1 <= each.high for each in samples if each]
    assert sum(holds) / len(holds) >= 0.93
