"""A run of which nothing was asked has not passed; what asks something, and what does not."""

import pytest

from evaluation import evaluate
from evaluation.testing import ScriptedJudge

RUN = {"final_output": "Done.", "tool_calls": ["a", "a", "a"], "latency_ms": 5}
GOOD = {"score": 5, "rationale": "Fine."}
ASKING = {
    "a reference": {"reference_output": "Done."},
    "keywords": {"keywords": ["done"]},
    "content": {"required_content": [{"text": "done"}]},
    "what must not be said": {"forbidden_content": [{"text": "sorry"}]},
    "a length": {"output_length": {"max_words": 5}},
    "actions": {"expected_trajectory": ["a", "a", "a"]},
    "a threshold": {"thresholds": {"latency_ms": 10}},
    "a forbidden tool": {"trajectory": {"forbidden_tools": ["b"]}},
    "that no call fails": {"trajectory": {"failed_calls": "fail"}},
    "an audit": {"audit": {"rules": [{"id": "r", "forbidden": {"text": "sorry"}}]}},
    "a baseline": {"baseline_metrics": {"latency_ms": 5}},
}
SILENT = {
    "nothing": {},
    "no keywords": {"keywords": []},
    "no threshold": {"thresholds": {}},
    "a rule for comparing": {"trajectory": {"arguments": {"match": "ignore"}}},
    "what credentials count for": {"audit": {"credentials": "warning"}},
    "an empty baseline": {"baseline_metrics": {}},
    "an owner": {"owner": "ops"},
}


@pytest.mark.parametrize("asked", ASKING.values(), ids=ASKING)
def test_a_run_that_does_what_was_asked_is_conclusive(asked):
    report = evaluate({"agent_run": RUN, **asked})

    assert report.status in {"passed", "warning"}, report.summary
    assert report.judge.reason == "the deterministic checks are conclusive"


@pytest.mark.parametrize("silent", SILENT.values(), ids=SILENT)
def test_a_run_of_which_nothing_was_asked_needs_review(silent):
    report = evaluate({"agent_run": RUN, **silent})

    assert report.status == "needs_review"
    assert "nothing was asked of this run" in report.summary


@pytest.mark.parametrize("silent", SILENT.values(), ids=SILENT)
def test_where_nothing_was_asked_a_judge_is(silent):
    judge = ScriptedJudge([GOOD])
    report = evaluate({"agent_run": RUN, **silent}, judge=judge)

    assert len(judge.requests) == 1
    assert report.status == "warning"  # the same call three times in a row


def test_a_custom_resource_that_grew_is_a_regression():
    case = {"agent_run": {**RUN, "tool_calls": ["a"], "resources": {"gpu_seconds": 30}}}
    report = evaluate(case, baseline={"gpu_seconds": 10})

    assert [(alert["kind"], alert["metric"]) for alert in report.alerts] == [("regression", "gpu_seconds")]
    assert report.status == "warning"
