"""Cohen's kappa, with its confusion."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.errors import ContractError
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


def test_a_confidence_beyond_one_is_refused():
    with pytest.raises(ContractError, match="between 0 and 1"):
        agreement([], confidence=95)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc"))))
def test_changing_places_changes_no_kappa(pairs):
    there, back = agreement(pairs), agreement((second, first) for first, second in pairs)
    assert there.kappa == pytest.approx(back.kappa)
    assert there.accuracy == back.accuracy


# the interval of kappa


def interval(yes_yes, yes_no, no_yes, no_no, confidence=0.95):
    pairs = [("y", "y")] * yes_yes + [("y", "n")] * yes_no + [("n", "y")] * no_yes + [("n", "n")] * no_no
    return agreement(pairs, confidence).kappa_interval


def test_a_wider_confidence_makes_a_wider_interval():
    narrow, wide = interval(20, 3, 4, 13, 0.8), interval(20, 3, 4, 13, 0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


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
    assert (result.kappa_interval is None) == (result.interval_reason is not None)
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
    ("pairs", "kappa", "why", "no_interval"),
    [
        ([], None, "there is no pair of labels", "no pair"),
        ([("a", "a")] * 9, None, "only one label, 'a', occurs", "only one label"),
        ([("a", "a"), ("b", "b")], 1.0, "", "no standard error"),
        ([("a", "a"), ("a", "b")], 0.0, "", "no standard error"),
        ([("a", "b"), ("b", "a")], -1.0, "", ""),
    ],
)
def test_what_is_not_defined_is_not_guessed(pairs, kappa, why, no_interval):
    result = agreement(pairs)
    assert result.kappa == kappa
    assert why in (result.reason or "")
    assert (result.kappa_interval is None) is bool(no_interval)
    assert no_interval in (result.interval_reason or "")
