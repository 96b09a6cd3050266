"""Every test idea and every failure case of the requirement, through the public interface."""

import json

from evaluation import build_evaluation_graph, evaluate
from evaluation.report.report_model import EvaluationState
from evaluation.testing import FailingJudge, ScriptedJudge

ORDER = {
    "agent_run": {
        "input": "Where is order 12345?",
        "final_output": "Order 12345 is currently in transit.",
        "tool_calls": ["lookup_order"],
    },
    "reference_output": "Order 12345 is in transit.",
    "thresholds": {"latency_ms": 1500},
}
BEDROOM_CALL = {
    "name": "set_device_info",
    "args": {"location": "Bedroom", "device_id": "device_2", "status": "OFF"},
}
BEDROOM = {
    "agent_run": {
        "input": "Turn off device_2 in the Bedroom",
        "final_output": "I have set device_2 to off.",
        "tool_calls": [BEDROOM_CALL],
        "latency_ms": 820,
        "total_tokens": 143,
    },
    "reference_output": "I have set the device_2 status to off.",
    "expected_trajectory": [BEDROOM_CALL],
    "thresholds": {"rouge_1": 0.8, "latency_ms": 1500, "total_tokens": 300},
}
RUBRIC = {"criteria": [{"name": "clarity"}], "scale": {"min": 1, "max": 5}}
GOOD = {"score": 5, "rationale": "Clear and complete.", "concerns": [], "recommended_action": "Ship it."}
KEY = "AKIA" + "IOSFODNN7" + "EXAMPLE"


def changed(case, *, run=None, **fields):
    return {**case, "agent_run": {**case["agent_run"], **(run or {})}, **fields}


def without(case, name):
    return {key: value for key, value in case.items() if key != name}


def kinds(report):
    return {alert["kind"] for alert in report.alerts}


# Test ideas


def test_a_run_that_fulfils_everything_passes():
    report = evaluate(BEDROOM)

    assert report.status == "passed"
    assert report.alerts == []
    assert [group["passed"] for group in report["metrics"].values()] == [True, True, True]
    assert report.recommended_action == "No action needed."


def test_a_text_mismatch_passes_where_a_proxy_reaches_its_threshold(subtests):
    for threshold in [{"keyword_coverage": 0.9}, {"rouge_1": 0.5}, {"token_jaccard": 0.5}]:
        with subtests.test(threshold=threshold):
            report = evaluate(
                changed(
                    BEDROOM,
                    run={"final_output": "device_2 set: off. I have the status to."},
                    thresholds=threshold,
                )
            )

            assert report.metrics.response["exact_match"] is False
            assert report.status == "passed"


def test_a_missing_required_tool_fails_although_the_output_looks_right():
    report = evaluate(changed(BEDROOM, run={"tool_calls": []}))

    assert report.metrics.response["passed"] is True
    assert report.metrics.trajectory["missing_actions"] == ["set_device_info"]
    assert report.status == "failed"
    assert report.alerts[0]["severity"] == "critical"
    assert report.recommended_action == "Block release and inspect tool routing."


def test_a_breach_of_latency_or_tokens_is_an_alert_and_affects_the_status(subtests):
    for measure in [{"latency_ms": 1840}, {"total_tokens": 301}]:
        with subtests.test(measure=measure):
            report = evaluate(changed(BEDROOM, run=measure))

            (alert,) = report.alerts
            assert (alert["severity"], alert["metric"]) == ("warning", next(iter(measure)))
            assert report.status == "warning"


def test_no_judge_is_called_where_the_checks_are_conclusive_and_there_is_no_rubric():
    judge = ScriptedJudge([GOOD])
    report = evaluate(BEDROOM, judge=judge)

    assert judge.requests == []
    assert (report.judge.needed, report.judge.called) == (False, False)
    assert report.judge.reason == "the deterministic checks are conclusive"


def test_the_result_of_a_judge_is_validated_and_in_the_report():
    report = evaluate({**BEDROOM, "rubric": RUBRIC}, judge=ScriptedJudge([GOOD]))

    assert report.judge.called is True
    assert report.judge.result["score"] == 5
    assert report.judge.result["rationale"] == "Clear and complete."
    assert report.status == "passed"


def test_a_regression_against_a_baseline_is_detected():
    case = {**BEDROOM, "drift": {"tolerances": {"latency_ms": {"relative": 0.1}}}}
    report = evaluate(case, baseline={"latency_ms": 300})

    assert "regression" in kinds(report)
    assert report.drift_signals["status"] == "scored"
    assert report.status == "warning"


def test_a_change_from_a_single_run_is_reported_and_fails_nothing_without_a_tolerance():
    report = evaluate(BEDROOM, baseline={"latency_ms": 300})

    assert [alert["severity"] for alert in report.alerts if alert["kind"] == "regression"] == ["info"]
    assert report.status == "passed"


def test_without_a_baseline_drift_is_not_applicable():
    report = evaluate(BEDROOM)

    assert report.drift_signals["status"] == "not_applicable"


def test_a_failed_audit_outweighs_a_passing_judge():
    case = {
        **BEDROOM,
        "rubric": RUBRIC,
        "audit": {"rules": [{"id": "no-off", "category": "safety", "forbidden": {"text": "off"}}]},
    }
    report = evaluate(case, judge=ScriptedJudge([GOOD]))

    assert report.judge.result["passed"] is True
    assert report.status == "failed"


def test_the_final_state_holds_every_field_whatever_happened(subtests):
    for case in [BEDROOM, ORDER, {}, {"agent_run": 3}, {**ORDER, "rubric": RUBRIC}]:
        with subtests.test(case):
            state = build_evaluation_graph(FailingJudge()).invoke(case)

            assert set(EvaluationState.__annotations__) <= set(state)
            assert state["evaluation_report"]["status"] == state["evaluation_status"]


# Failure cases


def test_a_missing_or_malformed_run_is_invalid_and_no_judge_is_asked(subtests):
    for case in [{}, {"agent_run": None}, {"agent_run": {"final_output": 3}}, {"agent_run": []}]:
        with subtests.test(case):
            judge = ScriptedJudge([GOOD])
            report = evaluate({**case, "rubric": RUBRIC}, judge=judge)

            assert report.status == "invalid"
            assert report.errors
            assert judge.requests == []


def test_a_missing_reference_does_not_fail_the_rest():
    limits = {"latency_ms": 1500, "total_tokens": 300}
    report = evaluate({**without(BEDROOM, "reference_output"), "thresholds": limits})

    assert report.status == "passed"
    assert report.metrics.response["status"] == "not_applicable"


def test_an_exact_match_is_not_what_a_paraphrase_is_judged_by():
    report = evaluate(ORDER | {"thresholds": {"rouge_1": 0.8}})

    assert report.metrics.response["exact_match"] is False
    assert report.status == "passed"


def test_a_text_mismatch_without_a_threshold_of_its_own_is_left_to_a_judge_or_a_person():
    case = ORDER | {"thresholds": {}}

    assert evaluate(case).status == "needs_review"
    assert evaluate(case, judge=ScriptedJudge([GOOD])).status == "passed"


def test_a_missing_expected_trajectory_is_not_applicable():
    report = evaluate(without(BEDROOM, "expected_trajectory"))

    assert report.metrics.trajectory["status"] == "not_applicable"
    assert report.metrics.trajectory["passed"] is None
    assert report.status == "passed"


def test_an_unsupported_match_mode_is_an_error_and_needs_review():
    report = evaluate({**BEDROOM, "trajectory_match_mode": "fuzzy"})

    assert report.status == "needs_review"
    assert any("'fuzzy' is not supported" in error for error in report.errors)


def test_a_threshold_on_a_missing_value_is_a_finding_of_its_own():
    report = evaluate({**ORDER, "thresholds": {"rouge_1": 0.8, "latency_ms": 1500}})

    assert kinds(report) == {"missing_data"}
    assert report.status == "needs_review"


def test_a_report_holds_no_raw_prompt_payload_or_credential():
    case = changed(
        BEDROOM,
        run={
            "input": "my private question " * 20,
            "final_output": f"The key is {KEY}.",
            "tool_calls": [
                {"name": "set_device_info", "args": {"token": KEY, "note": "a private payload " * 20}}
            ],
        },
    )
    text = evaluate(case).model_dump_json()

    assert KEY not in text
    assert "my private question my private question" not in text
    assert ("a private payload " * 6) not in text


# Shapes


def test_the_example_input_goes_in_and_the_example_shape_comes_out():
    case = changed(BEDROOM, run={"tool_calls": [], "latency_ms": 1840, "total_tokens": 260})
    report = json.loads(evaluate(case).model_dump_json())

    assert {"status", "summary", "metrics", "alerts", "recommended_action"} <= set(report)
    assert report["metrics"]["response"].items() >= {"exact_match": False, "passed": True}.items()
    operational = {"latency_ms": 1840, "latency_limit_ms": 1500, "total_tokens": 260, "passed": False}
    assert report["metrics"]["operational"].items() >= operational.items()
    trajectory = report["metrics"]["trajectory"]
    assert (trajectory["match_mode"], trajectory["passed"]) == ("in_order", False)
    assert trajectory["missing_actions"] == ["set_device_info"]
    assert [(alert["severity"], alert["metric"]) for alert in report["alerts"]] == [
        ("critical", "trajectory"),
        ("warning", "latency_ms"),
    ]
    assert report["recommended_action"] == "Block release and inspect tool routing."
