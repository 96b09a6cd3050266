"""Test ideas and failure cases of the requirement, through the public interface."""

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


def changed(case, *, run=None, **fields):
    return {**case, "agent_run": {**case["agent_run"], **(run or {})}, **fields}


def without(case, name):
    return {key: value for key, value in case.items() if key != name}


def look(report, path):
    """The value at a path such as ``judge.called``; ``kinds`` are those of the alerts."""
    value = {**report.model_dump(), "kinds": sorted({alert["kind"] for alert in report.alerts})}
    for name in path.split("."):
        value = value[name]
    return value


REPHRASED = {"final_output": "device_2 set: off. I have the status to."}
LATER = {"baseline": {"latency_ms": 300}}
IDEAS = {
    "everything is fulfilled": (
        BEDROOM, {}, "passed", {"alerts": [], "recommended_action": "No action needed."},
    ),
    "keywords take the place of a text that differs": (
        changed(BEDROOM, run=REPHRASED, thresholds={"keyword_coverage": 0.9}), {}, "passed",
        {"metrics.response.exact_match": False},
    ),
    "it is slow": (
        changed(BEDROOM, run={"latency_ms": 1840}), {}, "warning", {"kinds": ["operational"]},
    ),
    "no judge is needed": (BEDROOM, {"judge": ScriptedJudge([])}, "passed", {"judge.called": False}),
    "a judge is asked": (
        {**BEDROOM, "rubric": RUBRIC}, {"judge": ScriptedJudge([GOOD])}, "passed", {"judge.called": True},
    ),
    "it became worse than a baseline": (
        {**BEDROOM, "drift": {"tolerances": {"latency_ms": {"relative": 0.1}}}}, LATER, "warning",
        {"kinds": ["regression"], "drift_signals.status": "scored"},
    ),
    "a change from a single run without a tolerance only informs": (
        BEDROOM, LATER, "passed", {"kinds": ["regression"]},
    ),
    "there is no baseline": (BEDROOM, {}, "passed", {"drift_signals.status": "not_applicable"}),
    "there is no reference": (
        {**without(BEDROOM, "reference_output"), "thresholds": {"latency_ms": 1500}}, {}, "passed",
        {"metrics.response.status": "not_applicable"},
    ),
    "a paraphrase is not judged by its equality": (
        {**ORDER, "thresholds": {"rouge_1": 0.8}}, {}, "passed", {"metrics.response.exact_match": False},
    ),
    "a text differs, and no threshold says how much it may": (
        {**ORDER, "thresholds": {}}, {}, "needs_review", {},
    ),
    "a text differs, and a judge decides": (
        {**ORDER, "thresholds": {}}, {"judge": ScriptedJudge([GOOD])}, "passed", {},
    ),
    "no trajectory is expected": (
        without(BEDROOM, "expected_trajectory"), {}, "passed",
        {"metrics.trajectory.status": "not_applicable", "metrics.trajectory.passed": None},
    ),
    "the mode of the match is unknown": (
        {**BEDROOM, "trajectory_match_mode": "fuzzy"}, {}, "needs_review", {"kinds": ["metric_error"]},
    ),
    "a limited value is missing": (
        {**ORDER, "thresholds": {"rouge_1": 0.8, "latency_ms": 1500}}, {}, "needs_review",
        {"kinds": ["missing_data"]},
    ),
}  # fmt: skip


def test_each_idea_and_each_failure_case_has_its_status(subtests):
    for says, (case, options, status, seen) in IDEAS.items():
        with subtests.test(says):
            report = evaluate(case, **options)

            assert report.status == status
            assert {path: look(report, path) for path in seen} == seen


def test_the_final_state_holds_every_field_whatever_happened(subtests):
    for case in [BEDROOM, ORDER, {}, {"agent_run": 3}, {**ORDER, "rubric": RUBRIC}]:
        with subtests.test(case):
            state = build_evaluation_graph(FailingJudge()).invoke(case)

            assert set(EvaluationState.__annotations__) <= set(state)
            assert state["evaluation_report"]["status"] == state["evaluation_status"]


def test_a_missing_or_malformed_run_is_invalid_and_no_judge_is_asked(subtests):
    for case in [{}, {"agent_run": None}, {"agent_run": {"final_output": 3}}, {"agent_run": []}]:
        with subtests.test(case):
            judge = ScriptedJudge([GOOD])
            report = evaluate({**case, "rubric": RUBRIC}, judge=judge)

            assert report.status == "invalid"
            assert report.errors
            assert judge.requests == []


def test_the_example_input_goes_in_and_the_example_shape_comes_out():
    case = changed(BEDROOM, run={"tool_calls": [], "latency_ms": 1840, "total_tokens": 260})
    report = json.loads(evaluate(case).model_dump_json())

    assert report["status"] == "failed"
    assert {"summary", "metrics", "alerts", "recommended_action"} <= set(report)
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
