"""The cost of a run: measured, estimated or missing, checked against its limits."""

import pytest

from evaluation import ContractError, evaluate
from evaluation.metrics.operational import QUANTITIES, collect_quantities, percentile, score_operational
from evaluation.plugins import Price
from tests.evaluation.actions import observed

PRICES = {"small": Price(input_usd=1.0, output_usd=4.0)}


def action(name="a", *, kind="tool", error=None, latency_ms=None):
    return observed(name, args={}, kind=kind, error=error, latency_ms=latency_ms)


def score(metadata, bounds=None, actions=None, prices=None):
    return score_operational(metadata, actions, bounds or {}, prices or {})


def test_a_value_within_its_limit_passes():
    group = score({"latency_ms": 820}, {"latency_ms": {"max": 1500.0}})

    assert (group["latency_ms"], group["latency_limit_ms"], group["passed"]) == (820, 1500.0, True)


def test_a_value_equal_to_its_limit_passes():
    assert score({"latency_ms": 1500}, {"latency_ms": {"max": 1500.0}})["passed"] is True


def test_a_value_beyond_its_limit_fails_with_both_numbers():
    group = score({"latency_ms": 1840}, {"latency_ms": {"max": 1500.0}})

    (check,) = group["checks"]
    assert group["passed"] is False
    assert (check["kind"], check["severity"]) == ("operational", "warning")
    assert (check["observed"], check["limit"]) == (1840, 1500.0)
    assert check["reason"] == "latency_ms is 1840; it must be at most 1500"


def test_a_minimum_is_a_limit_too():
    group = score({"resources": {"items_read": 2}}, {"items_read": {"min": 3.0}})

    assert group["checks"][0]["reason"] == "items_read is 2; it must be at least 3"
    assert group["items_read_minimum"] == 3.0


def test_a_threshold_says_how_grave_its_breach_is_and_whose():
    bound = {"max": 1.0, "severity": "critical", "owner": "ops"}
    (check,) = score({"retries": 2}, {"retries": bound})["checks"]

    assert (check["severity"], check["owner"]) == ("critical", "ops")


@pytest.mark.parametrize("metric", ["latency_ms", "cost_usd", "gpu_seconds"])
def test_a_threshold_on_a_missing_value_is_its_own_finding(metric):
    group = score({}, {metric: {"max": 1.0}})

    (check,) = group["checks"]
    assert (check["kind"], check["passed"], check["observed"]) == ("missing_data", None, None)
    assert group["unscored"][metric]["status"] == "missing_data"
    assert group["sources"][metric] == "missing"
    assert metric not in group


def test_what_is_not_recorded_is_missing_and_never_zero():
    group = score({})

    assert group["status"] == "not_applicable"
    assert set(group["sources"].values()) == {"missing"}
    assert not set(QUANTITIES) & set(group)


def test_a_recorded_zero_is_a_measurement():
    assert score({"retries": 0})["sources"]["retries"] == "measured"


def test_an_estimate_is_told_apart():
    group = score({"total_tokens": 90, "latency_ms": 3, "estimated": ["total_tokens"]})

    assert (group["sources"]["total_tokens"], group["sources"]["latency_ms"]) == ("estimated", "measured")


def test_total_tokens_are_the_sum_of_both_where_nobody_states_them():
    group = collect_quantities({"input_tokens": 100, "output_tokens": 43}, None, {})

    assert (group["total_tokens"].value, group["total_tokens"].source) == (143, "measured")


def test_a_sum_with_an_estimate_in_it_is_one():
    group = collect_quantities(
        {"input_tokens": 1, "output_tokens": 2, "estimated": ["output_tokens"]}, None, {}
    )

    assert group["total_tokens"].source == "estimated"


def test_half_of_the_tokens_make_no_total():
    assert "total_tokens" not in collect_quantities({"input_tokens": 100}, None, {})


def test_cost_is_estimated_from_the_price_table():
    group = collect_quantities(
        {"input_tokens": 1_000_000, "output_tokens": 500_000, "model": "small"}, None, PRICES
    )

    assert (group["cost_usd"].value, group["cost_usd"].source) == (3.0, "estimated")


def test_a_stated_cost_goes_before_the_price_table():
    group = collect_quantities(
        {"input_tokens": 9, "output_tokens": 9, "cost_usd": 1, "model": "small"}, None, PRICES
    )

    assert (group["cost_usd"].value, group["cost_usd"].source) == (1, "measured")


@pytest.mark.parametrize(
    "metadata", [{"model": "unknown", "input_tokens": 1, "output_tokens": 1}, {"model": "small"}]
)
def test_cost_is_not_guessed_without_a_price_or_tokens(metadata):
    assert "cost_usd" not in collect_quantities(metadata, None, PRICES)


def test_latencies_of_calls_are_summed_up():
    group = score({"call_latencies_ms": [40, 10, 20, 30]})

    assert [group[f"call_latency_{part}_ms"] for part in ("mean", "p50", "p95", "max")] == [25, 25, 38.5, 40]
    assert group["model_calls"] == 4


def test_stated_model_calls_go_before_the_number_of_latencies():
    assert score({"call_latencies_ms": [1], "model_calls": 3})["model_calls"] == 3


def test_tool_calls_and_their_errors_are_counted():
    actions = [action(latency_ms=5.0), action(error="gone", latency_ms=7.0), action(kind="handoff")]
    group = score({}, actions=actions)

    assert (group["tool_calls"], group["tool_errors"], group["tool_latency_max_ms"]) == (2, 1, 7.0)


def test_no_record_of_tools_is_not_no_tool_call():
    assert score({}, actions=None)["sources"]["tool_calls"] == "missing"
    assert score({}, actions=[])["tool_calls"] == 0


def test_a_custom_resource_cannot_pass_for_a_known_quantity():
    assert "latency_ms" not in collect_quantities({"resources": {"latency_ms": 1}}, None, {})


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([7], 0.95, 7), ([1, 2], 0.5, 1.5), ([1, 2, 3, 4, 5], 0.25, 2), ([0, 10], 1.0, 10), ([0, 10], 0.0, 0)],
)
def test_percentiles_are_interpolated(values, share, expected):
    assert percentile(values, share) == expected


def test_latencies_whose_sum_is_no_number_have_a_mean():
    run = {"final_output": "a", "call_latencies_ms": [1e308] * 5}

    assert evaluate({"agent_run": run})["metrics"]["operational"]["call_latency_mean_ms"] == pytest.approx(
        1e308
    )


@pytest.mark.parametrize("price", [-1.0, float("nan"), float("inf")])
def test_a_price_that_no_cost_follows_from_is_refused(price):
    with pytest.raises(ContractError, match="at least 0"):
        Price(1.0, price)
