import pytest

from evaluation import ContractError, evaluate
from evaluation.measures.metric_table import QUANTITIES
from evaluation.plugins import Price

CRITICAL = {"severity": "critical", "owner": "ops"}
IN_OUT = {"input_tokens": 100, "output_tokens": 43}
PRICES = {"small": Price(input_usd=1.0, output_usd=4.0)}


def score(metadata, bounds=None, actions=None):
    recorded = {} if actions is None else {"tool_calls": actions}
    case = {"agent_run": {"final_output": "done", **recorded}, "run_metadata": metadata}
    return evaluate({**case, "thresholds": bounds or {}}, prices=PRICES)["metrics"]["operational"]


def test_what_is_not_recorded_is_missing_and_never_zero():
    group = score({})

    assert group["status"] == "not_applicable"
    assert set(group["sources"].values()) == {"missing"}
    assert not set(QUANTITIES) & set(group)


def test_tool_calls_and_their_errors_are_counted():
    calls = [{"latency_ms": 5.0}, {"error": "gone", "latency_ms": 7.0}, {"kind": "handoff"}]
    group = score({}, actions=[{"name": "a", **each} for each in calls])

    assert (group["tool_calls"], group["tool_errors"], group["tool_latency_max_ms"]) == (2, 1, 7.0)


def test_no_record_of_tools_is_not_no_tool_call():
    assert score({}, actions=None)["sources"]["tool_calls"] == "missing"
    assert score({}, actions=[])["tool_calls"] == 0


def test_a_price_that_no_cost_follows_from_is_refused(subtests):
    for price in [-1.0, float("nan"), float("inf")]:
        with subtests.test(price=price), pytest.raises(ContractError, match="output_usd"):
            Price(input_usd=1.0, output_usd=price)


def test_a_value_is_compared_with_its_limit(subtests):
    for value, bound, passed, reason in [
        (1500, {"max": 1500.0}, True, "latency_ms is 1500; it must be at most 1500"),
        (1840, {"max": 1500.0}, False, "latency_ms is 1840; it must be at most 1500"),
        (2, {"min": 3.0}, False, "latency_ms is 2; it must be at least 3"),
        (2, {"max": 1.0, **CRITICAL}, False, "latency_ms is 2; it must be at most 1"),
    ]:
        with subtests.test(value=value, bound=bound):
            group = score({"latency_ms": value}, {"latency_ms": bound})

            (check,) = group["checks"]
            assert (group["passed"], check["kind"], check["observed"]) == (passed, "operational", value)
            assert check["severity"] == bound.get("severity", "warning")
            assert check["owner"] == bound.get("owner")
            assert check["reason"] == reason or passed
            limits = {"latency_limit_ms": bound.get("max"), "latency_minimum_ms": bound.get("min")}
            assert all(group[name] == limit for name, limit in limits.items() if limit is not None)


def test_a_quantity_is_measured_or_estimated(subtests):
    for metadata, quantity, value, source in [
        ({"retries": 0}, "retries", 0, "measured"),
        ({"total_tokens": 90, "estimated": ["total_tokens"]}, "total_tokens", 90, "estimated"),
        (IN_OUT, "total_tokens", 143, "measured"),
        ({**IN_OUT, "estimated": ["output_tokens"]}, "total_tokens", 143, "estimated"),
        ({"input_tokens": 10**6, "output_tokens": 500_000, "model": "small"}, "cost_usd", 3.0, "estimated"),
        ({"input_tokens": 9, "output_tokens": 9, "cost_usd": 1, "model": "small"}, "cost_usd", 1, "measured"),
        ({"call_latencies_ms": [1], "model_calls": 3}, "model_calls", 3, "measured"),
    ]:
        with subtests.test(metadata=metadata):
            group = score(metadata)
            assert (group[quantity], group["sources"][quantity]) == (value, source)


def test_a_quantity_is_not_guessed(subtests):
    for metadata, quantity in [
        ({"input_tokens": 100}, "total_tokens"),
        ({"model": "unknown", "input_tokens": 1, "output_tokens": 1}, "cost_usd"),
        ({"model": "small"}, "cost_usd"),
        ({"resources": {"latency_ms": 1}}, "latency_ms"),
    ]:
        with subtests.test(metadata=metadata):
            assert score(metadata)["sources"][quantity] == "missing"


def test_the_longest_call_is_reported_and_the_calls_are_counted():
    group = score({"call_latencies_ms": [40, 10, 20]})

    assert (group["call_latency_max_ms"], group["model_calls"]) == (40, 3)
