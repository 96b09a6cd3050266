"""Whether a budget allows one more call, and whether what was spent is too much: pure functions."""

from __future__ import annotations

import pytest

from orchestrator import Budget, ModelPrice
from orchestrator.state.usage import NO_USAGE

PRICES = {"m": ModelPrice(input_usd=1.0, output_usd=2.0)}


def spent(calls=1, failed=0, tokens=None, cost=None):
    return {
        **NO_USAGE,
        "model_calls": calls,
        "failed_model_calls": failed,
        "total_tokens": tokens,
        "cost_usd": cost,
    }


@pytest.mark.parametrize(
    ("budget", "usage", "running", "refused"),
    [
        (Budget(), spent(1000, tokens=10**9), 5, None),
        (Budget(max_model_calls=2), spent(0), 0, None),
        (Budget(max_model_calls=2), spent(1), 0, None),
        (Budget(max_model_calls=2), spent(1), 1, "max_model_calls is 2"),
        (Budget(max_model_calls=2), spent(2), 0, "max_model_calls is 2"),
        (Budget(max_model_calls=2), spent(2, failed=2), 0, "max_model_calls is 2"),
        (Budget(max_total_tokens=10), spent(0), 3, None),
        (Budget(max_total_tokens=10), spent(1, tokens=9), 0, None),
        (Budget(max_total_tokens=10), spent(1, tokens=10), 0, "max_total_tokens is 10 and 10 were used"),
        (Budget(max_total_tokens=10), spent(1, tokens=11), 0, "max_total_tokens is 10 and 11 were used"),
        (Budget(max_total_tokens=10), spent(1, failed=1), 0, None),
        (Budget(max_total_tokens=10), spent(1), 0, "max_total_tokens is 10 and cannot be checked"),
        (Budget(max_cost_usd=1.5, prices=PRICES), spent(1, tokens=5, cost=1.4), 0, None),
        (Budget(max_cost_usd=1.5, prices=PRICES), spent(1, tokens=5, cost=1.5), 0, "max_cost_usd is 1.5"),
        (
            Budget(max_cost_usd=1.5, prices=PRICES),
            spent(1, tokens=5),
            0,
            "max_cost_usd is 1.5 and cannot be checked",
        ),
    ],
)
def test_next_call(budget, usage, running, refused):
    answer = budget.find_call_refusal(usage, running)

    assert answer is None if refused is None else answer.startswith(refused)


@pytest.mark.parametrize(
    ("budget", "usage", "exceeded"),
    [
        (Budget(), spent(9, tokens=10**9), None),
        (Budget(max_total_tokens=10), spent(1, tokens=10), None),
        (Budget(max_total_tokens=10), spent(1, tokens=11), "max_total_tokens is 10 and 11 were used"),
        (Budget(max_total_tokens=10), spent(0), None),
        (Budget(max_total_tokens=10), spent(2, failed=2), None),
        (Budget(max_total_tokens=10), spent(1), "max_total_tokens is 10 and cannot be checked"),
        (Budget(max_model_calls=1), spent(1), None),
        (Budget(max_cost_usd=0.5, prices=PRICES), spent(1, tokens=1, cost=0.5), None),
        (Budget(max_cost_usd=0.5, prices=PRICES), spent(1, tokens=1, cost=0.6), "max_cost_usd is 0.5"),
    ],
)
def test_what_was_spent(budget, usage, exceeded):
    answer = budget.find_excess(usage)

    assert answer is None if exceeded is None else answer.startswith(exceeded)


def test_a_price_is_for_a_million_tokens():
    price = ModelPrice(input_usd=2.0, output_usd=8.0)

    assert price.cost(input_tokens=500_000, output_tokens=250_000) == pytest.approx(3.0)
