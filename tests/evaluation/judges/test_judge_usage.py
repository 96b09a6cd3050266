"""What judging cost."""

from __future__ import annotations

import pytest

from evaluation.judges.judge_usage import add_cost, sum_usage
from evaluation.plugins import Price

PRICES = {"m": Price(input_usd=2.0, output_usd=10.0)}


def test_a_cost_is_estimated_from_the_tokens_and_the_models_price():
    usage = add_cost({"input_tokens": 1000, "output_tokens": 100, "model": "m"}, PRICES)
    assert (usage["cost_usd"], usage["cost_source"]) == (
        pytest.approx(0.003),
        "estimated",
    )


def test_calls_of_one_model_name_it_once():
    assert sum_usage([{"model": "m"}, {"model": "m"}, {}]) == {"calls": 3, "model": "m", "unreported": 3}


@pytest.mark.parametrize(
    "usage",
    [
        {},
        {"input_tokens": 1000, "model": "m"},
        {"input_tokens": 1000, "output_tokens": 100, "model": "other"},
        {"input_tokens": 1000, "output_tokens": 100, "model": "m", "cost_usd": 0.5},
        {"input_tokens": "many", "output_tokens": 100, "model": "m"},
        {"input_tokens": -5, "output_tokens": 100, "model": "m"},
        {"input_tokens": 1000, "output_tokens": True, "model": "m"},
        {"input_tokens": 1000, "output_tokens": 100, "model": ["m"]},
    ],
)
def test_nothing_is_estimated_where_something_is_missing_or_the_cost_is_told(usage):
    assert add_cost(usage, PRICES) == usage


def test_nobody_is_asked_for_nothing():
    assert sum_usage([]) == {"calls": 0}


def test_a_cost_that_is_told_is_summed():
    assert sum_usage([{"input_tokens": 1, "cost_usd": 0.5}, {"input_tokens": 2, "cost_usd": 0.25}]) == {
        "calls": 2,
        "input_tokens": 3,
        "cost_usd": 0.75,
    }
