import math

from hypothesis import given
from hypothesis import strategies as st

from evaluation import evaluate
from evaluation.values import format_numbers

numbers = st.floats(allow_nan=False) | st.integers(min_value=-(2**53), max_value=2**53)


def test_numbers_have_as_many_digits_as_they_need_to_differ(subtests):
    for values, texts in [
        ([0.123456], ["0.1235"]),
        ([40], ["40"]),
        ([1.0, 1.0], ["1", "1"]),
        ([-0.0, 0.0], ["0", "0"]),
        ([1.00001, 1.0], ["1.00001", "1"]),
        ([0.79999, 0.8], ["0.79999", "0.8"]),
        ([0.1 + 0.2, 0.3], ["0.30000000000000004", "0.3"]),
        ([math.inf, 5], ["inf", "5"]),
    ]:
        with subtests.test(values=values):
            assert [*format_numbers(*values)] == texts


@given(st.lists(numbers, min_size=1, max_size=4))
def test_different_numbers_look_different(values):
    assert len(set(format_numbers(*values))) == len(set(values))


def test_an_alert_shows_how_a_value_differs_from_its_limit(subtests):
    for limit, reason in [
        (1.0, "latency_ms is 1.00001; it must be at most 1."),
        ({"min": 1.00002, "max": 5}, "latency_ms is 1.00001; it must be 1.00002 to 5."),
        ({"min": 1.00001}, None),
    ]:
        with subtests.test(limit=limit):
            run = {"final_output": "x", "latency_ms": 1.00001}
            report = evaluate({"agent_run": run, "thresholds": {"latency_ms": limit}})

            assert [alert["reason"] for alert in report.alerts] == ([] if reason is None else [reason])
