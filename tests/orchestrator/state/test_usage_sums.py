"""Sums of usage: zero is neutral, the order does not matter, and a missing part makes the sum missing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.state.usage import NO_USAGE, Usage, add_usage

amounts = st.one_of(st.none(), st.integers(0, 1000))


@st.composite
def usages(draw):
    calls = draw(st.integers(0, 5))
    failed = draw(st.integers(0, calls))
    tokens = draw(amounts) if calls > failed else None
    cost = None if tokens is None else draw(st.one_of(st.none(), st.just(tokens / 2)))
    return Usage(
        model_calls=calls,
        failed_model_calls=failed,
        input_tokens=tokens,
        output_tokens=None if tokens is None else 0,
        total_tokens=tokens,
        token_source="missing" if tokens is None else "measured",
        cost_usd=cost,
        latency_ms=float(draw(st.integers(0, 100))),
    )


@given(usages())
def test_adding_nothing_changes_nothing(usage):
    assert add_usage(usage, NO_USAGE) == add_usage(NO_USAGE, usage) == usage


@given(usages(), usages())
def test_the_order_of_a_sum_has_no_say(first, second):
    assert add_usage(first, second) == add_usage(second, first)


@given(usages(), usages())
def test_a_sum_is_missing_exactly_where_a_part_that_answered_is(first, second):
    answered = [part for part in (first, second) if part["model_calls"] > part["failed_model_calls"]]
    known = bool(answered) and all(part["total_tokens"] is not None for part in answered)

    assert add_usage(first, second)["token_source"] == ("measured" if known else "missing")
