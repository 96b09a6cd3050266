"""Two sets of runs against each other."""

from __future__ import annotations

import random
import sys

import pytest

from evaluation import MissingExtraError, evaluate
from evaluation.comparison import compare
from evaluation.errors import ContractError
from evaluation.testing import DeterministicJudge


def runs(metric, values):
    return [{metric: value} if value is not None else {} for value in values]


def latencies(mean, count=40, seed=0):
    source = random.Random(seed)
    return runs("latency_ms", [source.gauss(mean, 50.0) for _ in range(count)])


def latency(control, treatment, **options):
    return compare(control, treatment, **options).metrics["latency_ms"]


SLOW, FAST = latencies(1000.0, seed=1), latencies(800.0, seed=2)


def test_a_difference_comes_with_its_interval_and_its_effect():
    found = latency(SLOW, FAST)
    assert found.difference == pytest.approx(found.treatment.mean - found.control.mean)
    assert found.interval[0] < found.difference < found.interval[1] < 0.0
    assert -1.0 <= found.effect_size < 0.0


def test_a_difference_that_is_shown_says_whether_it_is_better():
    assert (latency(SLOW, FAST).better, latency(FAST, SLOW).better) == (True, False)


def test_where_more_is_better_a_higher_rate_is():
    rates = [[float(n % 10 < share) for n in range(60)] for share in (3, 9)]
    found = compare(runs("exact_match", rates[0]), runs("exact_match", rates[1])).metrics["exact_match"]
    assert (found.shown, found.better) == (True, True)


def test_a_metric_without_a_known_direction_is_neither_better_nor_worse():
    found = compare(runs("custom", [1.0] * 20), runs("custom", [2.0] * 20)).metrics["custom"]
    assert (found.shown, found.better) == (True, None)


def test_the_interval_of_flags_is_of_rates_and_no_spread_gives_none_with_its_reason():
    flags = compare(runs("exact_match", [True] * 3), runs("exact_match", [True] * 3)).metrics["exact_match"]
    assert (flags.interval_method, flags.interval_reason) == ("Agresti-Caffo", None)
    same = latency(runs("latency_ms", [5.0] * 3), runs("latency_ms", [7.0] * 3))
    assert (same.interval, same.interval_method, same.difference) == (None, None, 2.0)
    assert "no spread" in same.interval_reason


def test_few_runs_make_a_wide_interval():
    found = latency(runs("latency_ms", [100.0, 110.0]), runs("latency_ms", [90.0, 105.0]))
    assert found.interval[1] - found.interval[0] > 100.0


def test_sets_alike_show_no_difference():
    found = latency(SLOW, latencies(1000.0, seed=3))
    assert (found.shown, found.better) == (False, None)
    assert "no difference is shown" in found.reason


def test_p_values_are_adjusted_over_all_metrics():
    source = random.Random(4)

    def noise():
        return [{f"noise_{n}": source.random() for n in range(40)} for _ in range(15)]

    found = compare(noise(), noise()).metrics.values()
    assert min(one.p_value for one in found) <= 0.05
    assert not any(one.shown for one in found)


def test_runs_without_a_value_are_counted_on_each_side():
    found = latency(runs("latency_ms", [1.0, None, 3.0]), runs("latency_ms", [1.0, 2.0, None, None]))
    assert (found.control.runs, found.control.scored, found.control.mean) == (3, 2, 2.0)
    assert (found.treatment.runs, found.treatment.scored) == (4, 2)


@pytest.mark.parametrize(
    ("control", "treatment", "reason"),
    [
        ([], [1.0, 2.0], "0 of 0 control and 2 of 2 treatment runs have a value; 2 are needed on each side"),
        ([1.0, None], [1.0, 2.0], "1 of 2 control and 2 of 2 treatment runs have a value"),
        ([1.0, 2.0], [None, None], "2 of 2 control and 0 of 2 treatment runs have a value"),
    ],
)
def test_too_few_values_are_missing_data_with_their_counts(control, treatment, reason):
    found = latency(runs("latency_ms", control), runs("latency_ms", treatment))
    assert (found.status, found.difference, found.shown) == ("missing_data", None, None)
    assert reason in found.reason


def test_no_run_at_all_is_no_result():
    found = compare([], [])
    assert (found.status, found.metrics) == ("missing_data", {})
    assert found.reason == "0 of 0 metrics over 0 control and 0 treatment runs"


def test_a_metric_that_was_asked_for_and_no_run_has_is_missing():
    found = compare(SLOW, FAST, metrics=["cost_usd"])
    assert (list(found.metrics), found.status) == (["cost_usd"], "missing_data")


def test_only_the_metrics_asked_for_are_compared():
    both = [{**run, "token_f1": 1.0} for run in SLOW]
    assert list(compare(both, both, metrics=["token_f1"]).metrics) == ["token_f1"]


def test_a_value_that_is_no_number_is_unscored():
    hostile = [{"latency_ms": value} for value in ("slow", None, float("nan"), 10**400, 5, 6)]
    assert latency(SLOW, hostile).treatment.scored == 2


def test_values_too_large_to_square_are_unscored():
    huge = runs("latency_ms", [1e200] * 3)
    result = latency(huge, SLOW, metrics=["latency_ms"])
    assert (result.status, result.control.mean) == ("missing_data", None)


def test_the_same_seed_gives_the_same_comparison():
    assert compare(SLOW, FAST, seed=3) == compare(iter(SLOW), iter(FAST), seed=3)


def report(latency_ms, output):
    return evaluate(
        {
            "agent_run": {"final_output": output, "latency_ms": latency_ms, "tool_calls": ["look"]},
            "reference_output": "yes",
            "expected_trajectory": ["look"],
            "thresholds": {"latency_ms": 900},
        }
    )


@pytest.mark.parametrize(
    "shown",
    [lambda one: one, lambda one: one.model_dump(mode="json"), lambda one: one["metrics"]],
    ids=["report", "its JSON", "its metrics"],
)
def test_reports_of_evaluate_are_compared_by_their_metrics(shown):
    found = compare(
        [shown(report(1000.0 + n, "no")) for n in range(6)],
        [shown(report(500.0 + n, "yes")) for n in range(6)],
    )
    assert found.metrics["latency_ms"].better
    assert found.metrics["exact_match"].difference == 1.0
    assert "trajectory_recall" in found.metrics
    assert "latency_limit_ms" not in found.metrics


def test_the_scores_of_judges_are_compared_from_their_reports():
    case = {"agent_run": {"final_output": "Done."}, "subjective_criteria": ["clarity"]}
    low, high = (evaluate(case, judge=DeterministicJudge(score=score)) for score in (2, 5))

    assert compare([low] * 5, [high] * 5).metrics["judge_score"].difference == 3


@pytest.mark.parametrize("options", [{"alpha": 0.0}, {"alpha": 5.0}, {"seed": -1}])
def test_an_impossible_option_is_refused(options):
    with pytest.raises(ContractError, match="alpha must be"):
        compare([], [], **options)


def test_metrics_that_are_a_text_are_refused():
    with pytest.raises(ContractError, match="give a list of names"):
        compare([{"latency_ms": 1}], [{"latency_ms": 2}], metrics="latency_ms")


def test_a_run_that_is_no_object_is_named():
    with pytest.raises(ContractError, match=r"treatment\[1\] is a str"):
        compare(SLOW, [{}, "x"])


def test_without_scipy_the_error_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(MissingExtraError, match="scipy"):
        compare(SLOW, FAST)
