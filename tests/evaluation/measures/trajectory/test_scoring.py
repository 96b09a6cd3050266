import pytest

from evaluation import evaluate
from evaluation.report.redaction import build_excerpt

NO_F1 = "precision or recall has no value"
NO_PRECISION, NO_RECALL = "no observed action was compared", "no action is expected"
METRICS = {"score", "precision", "recall", "f1"}


def call(name="a", args=None, **fields):
    return {"name": name, "args": args, **fields}


def scores(actual, expected, mode="in_order", bounds=None, **rules):
    report = evaluate(
        {
            "agent_run": {"final_output": "done", "tool_calls": actual},
            "expected_trajectory": expected,
            "trajectory_match_mode": mode,
            "trajectory": rules,
            "thresholds": bounds or {},
        }
    )
    return {**report["metrics"]["trajectory"], "errors": report.errors}


def unscored(result):
    return {name: result["unscored"][name] for name in METRICS if name in result["unscored"]}


def brief(result):
    return [
        tuple(check[name] for name in ("kind", "metric", "passed", "severity")) for check in result["checks"]
    ]


def test_everything_that_was_found_is_there():
    result = scores(["b", "x", call("a", {"x": 2})], ["b", call("a", {"x": 1})])
    shares = {"score": 0.0, "precision": 1 / 3, "recall": 0.5, "f1": 0.4}
    sides = {"expected": build_excerpt(1), "actual": build_excerpt(2)}
    facts = {
        "match_mode": "in_order",
        "missing_actions": ["a"],
        "extra_actions": ["x", "a"],
        "argument_mismatches": [{"name": "a", "path": "/x", "problem": "different", **sides}],
        "order_violations": [],
        "forbidden_actions": [],
        "unreadable_arguments": [],
        "unexpected_writes": [],
        "expected_count": 2,
        "actual_count": 3,
        "matched_count": 1,
    }

    assert {name: result[name] for name in METRICS} == pytest.approx(shares)
    assert {name: result[name] for name in facts} == facts
    assert result["errors"] == []


def test_the_verdict_of_the_mode_is_a_critical_check():
    [passed] = scores(["a"], ["a"])["checks"]
    [failed] = scores([], ["a"])["checks"]

    assert (passed["kind"], passed["metric"], passed["passed"]) == ("trajectory", "trajectory", True)
    assert (failed["passed"], failed["severity"]) == (False, "critical")
    assert (failed["observed"], failed["limit"]) == (0.0, 1.0)
    assert failed["reason"] == "The actions do not agree with the expected ones in mode in_order: missing a."


def test_a_share_of_nothing_is_unscored_with_a_reason(subtests):
    for actual, expected, mode, reasons in [
        ([], ["a"], "in_order", {"precision": NO_PRECISION, "f1": NO_F1}),
        (["a"], [], "in_order", {"recall": NO_RECALL, "f1": NO_F1}),
        ([], ["a"], "precision_recall", {"precision": NO_PRECISION, "f1": NO_F1, "score": NO_F1}),
        ([], [], "in_order", {"precision": NO_PRECISION, "recall": NO_RECALL, "f1": NO_F1}),
    ]:
        with subtests.test(actual=actual, expected=expected, mode=mode):
            result = scores(actual, expected, mode)

            assert unscored(result) == {
                name: {"status": "not_applicable", "reason": reason} for name, reason in reasons.items()
            }
            assert {*reasons} == METRICS - result.keys()


def test_a_threshold_on_a_share_of_nothing_is_missing_data():
    result = scores([], ["a"], bounds={"trajectory_precision": {"min": 0.5}})

    assert brief(result)[-1][:3] == ("missing_data", "trajectory_precision", None)
    assert result["unscored"]["precision"]["status"] == "missing_data"
    assert result["unscored"]["f1"]["status"] == "not_applicable"


def test_without_an_expectation_nothing_applies():
    result = scores(["a"], None)

    assert (result["checks"], result["errors"]) == ([], [])
    assert "match_mode" not in result
    assert unscored(result) == {
        name: {"status": "not_applicable", "reason": "no expected trajectory was given"} for name in METRICS
    }


def test_a_forbidden_name_that_looks_misspelt_needs_a_review_without_an_expectation_too():
    result = scores(["transfer"], None, forbidden_tools=["trasnfer"])

    assert brief(result)[0] == ("metric_error", "trajectory", None, "warning")
    assert "write transfer if that is meant" in result["checks"][0]["reason"]


def test_what_is_not_allowed_is_counted_against_none():
    calls = ["drop", "drop", call(error=True), call("b", "no JSON")]
    checks = scores(calls, None, forbidden_tools=["drop"])["checks"]

    assert [(check["observed"], check["limit"], check["reason"]) for check in checks] == [
        (2, 0, "Forbidden tools were called: drop; do not call them"),
        (1, 0, "The arguments of tool calls are not a JSON object: b; send an object"),
    ]


def test_a_comparison_that_cannot_be_made_is_an_error():
    bounds = {"trajectory_recall": {"min": 1.0}, "latency_ms": 5}  # the latter is of another group
    result = scores(["a"], ["a", "b"], "single_tool", bounds=bounds)

    (error,) = result["errors"]
    assert error.startswith("trajectory: mode single_tool needs exactly one expected action")
    assert {score["status"] for score in unscored(result).values()} == {"error"}
    assert brief(result) == [
        ("metric_error", "trajectory", None, "warning"),
        ("missing_data", "trajectory_recall", None, "warning"),
    ]


def test_a_critical_minimum_replaces_the_verdict_of_precision_and_recall(subtests):
    for metric, bound, mode, checks in [
        *((f"trajectory_{name}", {"min": 0.3}, "precision_recall", 1) for name in ("precision", "f1")),
        # A threshold that fails no run does not replace the verdict, nor does one on another metric.
        ("trajectory_precision", {"min": 0.0}, "precision_recall", 2),
        ("trajectory_precision", {"max": 1.0}, "precision_recall", 2),
        ("trajectory_precision", {"min": 0.9, "severity": "info"}, "precision_recall", 2),
        ("trajectory_precision", {"min": 0.9, "severity": "warning"}, "precision_recall", 2),
        ("trajectory_score", {"min": 0.3}, "precision_recall", 2),
        ("trajectory_recall", {"min": 0.3}, "in_order", 2),
    ]:
        with subtests.test(metric=metric, bound=bound, mode=mode):
            result = scores(["a", "x", "y"], ["a", "b"], mode, bounds={metric: bound})

            assert [check["metric"] for check in result["checks"]] == ["trajectory", metric][-checks:]
            assert result["checks"][-1]["severity"] == bound.get("severity", "critical")


def test_prohibitions_need_no_expectation(subtests):
    for expected in [None, ["a"]]:
        for args, rules, metric, severity in [
            (None, {"forbidden_tools": ["drop"]}, "forbidden_actions", "critical"),
            ("no JSON", {}, "unreadable_arguments", "warning"),
        ]:
            with subtests.test(expected=expected, args=args):
                result = scores(["a", call("drop", args)], expected, **rules)

                assert result[metric] == ["drop"]
                assert brief(result)[-1] == ("trajectory", metric, False, severity)


def test_a_failed_call_that_does_not_count_is_named_in_the_reason(subtests):
    for not_run, words in [
        (None, "ended in an error; correct the call"),
        ("denied", "was denied and did not run; go on without it"),
        ("forbidden", "was forbidden and did not run; go on without it"),
        ("unknown", "was not made again and did not run; go on without it"),
    ]:
        with subtests.test(not_run=not_run):
            result = scores([call(args={"x": 1}, error=True, not_run=not_run)], [call(args={"x": 1})])

            assert [(each["path"], each["problem"]) for each in result["argument_mismatches"]] == [
                ("error", "failed")
            ]
            assert result["checks"][0]["reason"] == (
                f"The actions do not agree with the expected ones in mode in_order: missing a; a {words}."
            )
