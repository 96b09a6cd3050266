"""Where the product differs from its source documents, as docs/reference/differences.md says."""

from evaluation import evaluate

RUN = {"input": "Where is it?", "final_output": "Order 12345 is in transit."}
RUBRIC = {"rubric": {"criteria": ["clarity"]}, "fake_judge_response": {"score": 5, "rationale": "clear"}}


def test_the_status_of_a_recorded_run(subtests):
    for case, status in [
        ({"agent_run": RUN, "keywords": []}, "needs_review"),
        (
            {
                "agent_run": RUN,
                "reference_output": "Order 54321 is in transit.",
                "thresholds": {"rouge_1": 0.5},
            },
            "needs_review",
        ),
        ({"agent_run": {**RUN, "final_output": "AKIAIOSFODNN7EXAMPLE"}, "keywords": ["AKIA"]}, "failed"),
        ({"agent_run": {**RUN, "tokens": 143}}, "invalid"),
    ]:
        with subtests.test(case):
            assert evaluate(case).status == status


def test_a_run_that_ended_in_an_error_is_not_judged():
    report = evaluate({"agent_run": {**RUN, "error": "the server is down"}, **RUBRIC})

    assert (report.status, report.judge.called, report.judge.needed) == ("failed", False, False)
