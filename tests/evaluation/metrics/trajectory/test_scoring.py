"""The metric group of a trajectory: values, reasons for missing values, checks."""

import pytest

from evaluation.inputs.trajectory_rules import TrajectoryRules
from evaluation.metrics.trajectory import TRAJECTORY_METRICS, score_trajectory
from tests.evaluation.metrics.trajectory.builders import NOTHING, seen, step

NO_F1 = "precision or recall has no value"
METRICS = {"score", "precision", "recall", "f1", "alignment"}


def scores(actual, expected, mode="in_order", bounds=None, functions=NOTHING, **rules):
    return score_trajectory(
        [seen(check) if isinstance(check, str) else check for check in actual],
        None
        if expected is None
        else [step(check) if isinstance(check, str) else check for check in expected],
        mode,
        TrajectoryRules.model_validate(rules),
        functions,
        bounds or {},
    )


def brief(result):
    return [(check["kind"], check["metric"], check["passed"], check["severity"]) for check in result.checks]


def test_more_is_better_in_every_metric():
    assert set(TRAJECTORY_METRICS.values()) == {"higher"}
    assert {name.removeprefix("trajectory_") for name in TRAJECTORY_METRICS} == METRICS


def test_everything_that_was_found_is_there():
    result = scores(["b", "x", seen("a", {"x": 2})], ["b", step("a", {"x": 1})])

    assert result.scored == {
        "score": 0.0,
        "precision": pytest.approx(1 / 3),
        "recall": 0.5,
        "f1": pytest.approx(0.4),
        "alignment": pytest.approx(1 / 3),
    }
    assert result.facts == {
        "match_mode": "in_order",
        "missing_actions": ["a"],
        "extra_actions": ["x", "a"],
        "order_violations": [],
        "argument_mismatches": [
            {
                "name": "a",
                "expected_index": 1,
                "observed_index": 2,
                "path": "/x",
                "problem": "different",
                "expected": 1,
                "actual": 2,
            }
        ],
        "mismatches_truncated": False,
        "forbidden_actions": [],
        "failed_calls": [],
        "unreadable_arguments": [],
        "expected_count": 2,
        "optional_count": 0,
        "unexpected_writes": [],
        "recorded_writes": [],
        "actual_count": 3,
        "matched_count": 1,
    }
    assert result.unscored == {}
    assert result.errors == ()


def test_the_verdict_of_the_mode_is_a_critical_check():
    (passed,) = scores(["a"], ["a"]).checks
    (failed,) = scores([], ["a"]).checks

    assert (passed["kind"], passed["metric"], passed["passed"]) == ("trajectory", "trajectory", True)
    assert (failed["passed"], failed["severity"], failed["observed"], failed["limit"]) == (
        False,
        "critical",
        0.0,
        1.0,
    )
    assert failed["reason"] == "The actions do not agree with the expected ones in mode in_order: missing a."


@pytest.mark.parametrize(
    ("actual", "expected", "mode", "reasons"),
    [
        ([], ["a"], "in_order", {"precision": "no observed action was compared", "f1": NO_F1}),
        (["a"], [], "in_order", {"recall": "no required action is expected", "f1": NO_F1}),
        (
            [],
            ["a"],
            "precision_recall",
            {"precision": "no observed action was compared", "f1": NO_F1, "score": NO_F1},
        ),
        (
            [],
            [],
            "in_order",
            {
                "precision": "no observed action was compared",
                "recall": "no required action is expected",
                "f1": NO_F1,
                "alignment": "no action was observed and none required",
            },
        ),
    ],
)
def test_a_share_of_nothing_is_unscored_with_a_reason(actual, expected, mode, reasons):
    result = scores(actual, expected, mode)

    assert result.unscored == {
        name: {"status": "not_applicable", "reason": reason} for name, reason in reasons.items()
    }
    assert result.scored.keys() == METRICS - reasons.keys()


def test_a_threshold_makes_a_check():
    result = scores(
        ["a"], ["a", "b"], bounds={"trajectory_recall": {"min": 0.8, "severity": "warning", "owner": "ann"}}
    )

    check = result.checks[-1]
    assert brief(result)[-1] == ("trajectory", "trajectory_recall", False, "warning")
    assert (check["observed"], check["limit"], check["owner"]) == (0.5, 0.8, "ann")


@pytest.mark.parametrize("metric", TRAJECTORY_METRICS)
def test_every_metric_can_have_a_threshold_which_is_critical_by_itself(metric):
    result = scores(["a"], ["a"], bounds={metric: {"min": 0.5}})

    assert brief(result)[-1] == ("trajectory", metric, True, "critical")


def test_a_threshold_on_a_share_of_nothing_is_missing_data():
    result = scores([], ["a"], bounds={"trajectory_precision": {"min": 0.5}})

    assert brief(result)[-1][:3] == ("missing_data", "trajectory_precision", None)
    assert result.unscored["precision"]["status"] == "missing_data"
    assert result.unscored["f1"]["status"] == "not_applicable"


@pytest.mark.parametrize("metric", ["trajectory_precision", "trajectory_recall", "trajectory_f1"])
def test_thresholds_stand_for_the_verdict_of_precision_and_recall(metric):
    result = scores(["a", "x", "y"], ["a", "b"], "precision_recall", bounds={metric: {"min": 0.3}})

    assert [check["metric"] for check in result.checks] == [metric]
    assert result.checks[0]["passed"]


@pytest.mark.parametrize(
    "bound",
    [{"min": 0.0}, {"max": 1.0}, {"min": 0.9, "severity": "info"}, {"min": 0.9, "severity": "warning"}],
)
def test_a_threshold_that_fails_no_run_does_not_stand_for_the_verdict(bound):
    result = scores(["x"], ["a"], "precision_recall", bounds={"trajectory_precision": bound})

    assert brief(result)[0] == ("trajectory", "trajectory", False, "critical")


@pytest.mark.parametrize("metric", ["trajectory_alignment", "trajectory_score"])
def test_other_thresholds_do_not_stand_for_it(metric):
    result = scores(["a", "x"], ["a"], "precision_recall", bounds={metric: {"min": 0.3}})

    assert [check["metric"] for check in result.checks] == ["trajectory", metric]


def test_a_threshold_does_not_stand_for_the_verdict_of_another_mode():
    result = scores(["a"], ["a"], "in_order", bounds={"trajectory_recall": {"min": 0.3}})

    assert [check["metric"] for check in result.checks] == ["trajectory", "trajectory_recall"]


# Nothing expected


def test_without_an_expectation_nothing_applies():
    result = scores(["a"], None)

    assert (result.scored, result.facts, result.checks, result.errors) == ({}, {}, (), ())
    assert result.unscored == {
        name: {"status": "not_applicable", "reason": "no expected trajectory was given"} for name in METRICS
    }


def test_a_threshold_without_an_expectation_is_missing_data():
    result = scores(["a"], None, bounds={"trajectory_recall": {"min": 1.0}})

    assert brief(result) == [("missing_data", "trajectory_recall", None, "warning")]
    assert "no expected trajectory was given" in result.checks[0]["reason"]
    assert result.unscored["recall"]["status"] == "missing_data"
    assert result.unscored["precision"]["status"] == "not_applicable"


def test_a_forbidden_name_that_looks_misspelt_needs_a_review_without_an_expectation_too():
    result = scores(["transfer"], None, forbidden_tools=["trasnfer"])

    assert brief(result)[0] == ("metric_error", "trajectory", None, "warning")
    assert "write transfer if that is meant" in result.checks[0]["reason"]


def test_forbidden_actions_need_no_expectation():
    result = scores(["drop", "a"], None, forbidden_tools=["drop"])

    assert result.facts == {"forbidden_actions": ["drop"]}
    assert brief(result) == [("trajectory", "forbidden_actions", False, "critical")]
    assert result.checks[0]["reason"] == "Forbidden tools were called: drop; do not call them"


def test_failed_calls_that_are_failures_need_no_expectation():
    result = scores([seen("a", failed=True)], None, failed_calls="fail")

    assert result.facts == {"failed_calls": ["a"]}
    assert brief(result) == [("trajectory", "failed_calls", False, "critical")]


def test_unreadable_arguments_need_no_expectation():
    result = scores([seen("a", args_error="no JSON")], None)

    assert result.facts == {"unreadable_arguments": ["a"]}
    assert brief(result) == [("trajectory", "unreadable_arguments", False, "warning")]


# Rules


def test_rules_that_hold_are_checks_that_pass():
    result = scores(["a"], ["a"], forbidden_tools=["drop"], failed_calls="fail")

    assert [check["metric"] for check in result.checks] == ["trajectory", "forbidden_actions", "failed_calls"]
    assert all(check["passed"] for check in result.checks)
    assert result.checks[1]["reason"] == "forbidden_actions: none"


def test_a_failed_call_that_counts_is_told_and_not_checked():
    result = scores([seen("a", failed=True)], ["a"], failed_calls="count")

    assert result.facts["failed_calls"] == ["a"]
    assert brief(result) == [("trajectory", "trajectory", True, "critical")]


def test_a_failed_call_that_does_not_count_is_named_in_the_reason():
    result = scores([seen("a", {"x": 1}, failed=True)], [step("a", {"x": 1})])

    assert result.facts["argument_mismatches"] == [
        {
            "name": "a",
            "expected_index": 0,
            "observed_index": 0,
            "path": "error",
            "problem": "failed",
            "expected": None,
            "actual": None,
        }
    ]
    assert result.checks[0]["reason"] == (
        "The actions do not agree with the expected ones in mode in_order: "
        "missing a; that ended in an error a (a ended in an error; correct the call)."
    )


@pytest.mark.parametrize(
    ("not_run", "words"),
    [("denied", "was denied"), ("forbidden", "was forbidden"), ("unknown", "was not made again")],
)
def test_a_call_whose_tool_did_not_run_is_no_error_to_correct(not_run, words):
    result = scores([seen("a", failed=True, not_run=not_run)], ["a"])

    assert result.checks[0]["reason"] == (
        "The actions do not agree with the expected ones in mode in_order: "
        f"missing a; that did not run a (a {words} and did not run; go on without it)."
    )


def test_unreadable_arguments_are_a_finding_even_where_any_fit():
    result = scores([seen("a", args_error="no JSON")], ["a"])

    assert brief(result) == [
        ("trajectory", "trajectory", True, "critical"),
        ("trajectory", "unreadable_arguments", False, "warning"),
    ]


def test_what_is_not_allowed_is_counted_against_none():
    checks = scores(
        ["drop", "drop", seen("a", failed=True), seen("b", args_error="no JSON")],
        None,
        forbidden_tools=["drop"],
        failed_calls="fail",
    ).checks

    assert [(check["observed"], check["limit"], check["reason"]) for check in checks] == [
        (2, 0, "Forbidden tools were called: drop; do not call them"),
        (1, 0, "Tool calls ended in an error, or did not run: a; correct them"),
        (1, 0, "The arguments of tool calls are not a JSON object: b; send an object"),
    ]


# Errors


def test_an_unsupported_mode_is_an_error():
    result = scores(["a"], ["a"], "fuzzy", bounds={"trajectory_recall": {"min": 1.0}}, forbidden_tools=["a"])

    (error,) = result.errors
    assert error.startswith(
        "trajectory_match_mode: the match mode 'fuzzy' is not supported; use one of exact, "
    )
    assert error.endswith(", precision_recall, single_tool, subset, superset")
    assert {check["status"] for check in result.unscored.values()} == {"error"}
    assert set(result.unscored) == METRICS
    assert brief(result)[0] == ("metric_error", "trajectory", None, "warning")
    assert error == f"trajectory_match_mode: {result.checks[0]['reason']}"
    assert {check["reason"] for check in result.unscored.values()} == {result.checks[0]["reason"]}
    assert (result.scored, result.facts) == ({}, {"forbidden_actions": ["a"]})
    assert [check["metric"] for check in result.checks] == [
        "trajectory",
        "forbidden_actions",
        "trajectory_recall",
    ]


def test_an_unsupported_mode_is_an_error_without_an_expectation_too():
    assert scores(["a"], None, "fuzzy").errors


def test_a_callers_function_is_found_by_its_name():
    custom = {"match": "custom", "function": "yes"}
    calls, steps = [seen("a", {"x": 1})], [step("a", {"x": 2})]

    result = scores(calls, steps, arguments=custom, functions={"yes": lambda check, other: True})

    assert result.scored["score"] == 1.0


def test_a_comparison_that_cannot_be_made_is_an_error():
    result = scores(
        [seen("a", {"x": 1})],
        [step("a", {"x": 2})],
        "precision_recall",
        bounds={"trajectory_recall": {"min": 1.0}},
        arguments={"match": "custom", "function": "unknown"},
    )

    problem = "the argument function 'unknown' is not registered"
    assert result.errors == (f"trajectory: {problem}",)
    assert result.unscored == {name: {"status": "error", "reason": problem} for name in METRICS}
    assert brief(result) == [
        ("metric_error", "trajectory", None, "warning"),
        ("missing_data", "trajectory_recall", None, "warning"),
    ]
    assert result.checks[0]["reason"] == f"The trajectory could not be compared: {problem}."
    assert problem in result.checks[1]["reason"]
