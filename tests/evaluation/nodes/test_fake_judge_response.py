"""The response of a fake judge that stands in a case."""

from evaluation import evaluate
from evaluation.testing import ScriptedJudge

GOOD = {"score": 5, "rationale": "Clear."}
POOR = {"score": 1, "rationale": "Muddled."}
CASE = {"agent_run": {"input": "q", "final_output": "x"}, "subjective_criteria": ["clarity"]}
OPEN = {"agent_run": {"input": "q", "final_output": "x"}, "reference_output": "a"}


def test_it_is_validated_as_an_answer(subtests):
    for case in [CASE, OPEN]:
        for response, status in [
            (GOOD, "passed"),
            (POOR, "failed"),
            ('{"score": 5, "rationale": "Clear."}', "passed"),
            ("fine", "needs_review"),
            ({}, "needs_review"),
            ({"score": 9, "rationale": "x"}, "needs_review"),
        ]:
            with subtests.test(case=case, response=response):
                assert evaluate({**case, "fake_judge_response": response}).status == status


def test_the_report_says_that_no_judge_answered():
    report = evaluate({**CASE, "fake_judge_response": GOOD})

    assert report.judge.called is False
    assert report.judge.reason.endswith("the answer is the fake_judge_response of the case")
    assert report.summary.endswith("a fake judge response approved")


def test_a_judge_answers_in_its_place():
    report = evaluate({**CASE, "fake_judge_response": GOOD}, judge=ScriptedJudge([POOR]))

    assert (report.status, report.judge.called) == ("failed", True)
    assert "fake" not in report.judge.reason
