"""An answer is relied on only after it was checked; a failed judge is never a pass."""

import pytest

from agents.sync import run_conversation
from evaluation.nodes.rubric_judging import run_rubric_judge, validate_judge_result
from evaluation.plugins import Plugins, Price
from evaluation.testing import ScriptedJudge
from tests.evaluation.judges.asking import state

RUBRIC = {"name": "tone", "criteria": [{"name": "clarity"}]}
GOOD = {
    "score": 4.5,
    "rationale": "Clear.",
    "criteria": {"clarity": 4.5},
    "concerns": ["short"],
    "recommended_action": "Keep it.",
    "feedback": "more",
    "usage": {"input_tokens": 1000, "output_tokens": 100, "model": "m"},
}


def judged(whom, /, prices=None, rubric=RUBRIC, **case):
    plugins = Plugins(judge=whom, prices=prices or {})
    before = {
        **state(rubric=rubric, **case),
        "judge_decision": {"needed": True, "called": False, "reason": "so"},
    }
    asked = {**before, **run_conversation(run_rubric_judge(before, plugins))}
    return {**asked, **validate_judge_result(asked, plugins)}


def answered(answer, **options):
    return judged(ScriptedJudge([answer]), **options)


def test_a_valid_answer_is_laid_out():
    found = answered(GOOD)
    assert found["judge_result"] == {
        "status": "scored",
        "passed": True,
        "rubric": "tone",
        "score": 4.5,
        "pass_score": 4.0,
        "scale": {"min": 1.0, "max": 5.0},
        "criteria": {"clarity": 4.5},
        "rationale": "Clear.",
        "concerns": ["short"],
        "recommended_action": "Keep it.",
        "details": {"feedback": "more"},
    }
    assert [(one.kind, one.passed) for one in found["findings"]] == [("judge", True)]
    assert found["errors"] == []


def test_the_decision_says_what_the_call_cost():
    decision = answered(GOOD, prices={"m": Price(input_usd=2.0, output_usd=10.0)})["judge_decision"]
    assert decision["called"] is True
    assert decision["usage"] == {
        **GOOD["usage"],
        "cost_usd": pytest.approx(0.003),
        "cost_source": "estimated",
    }


def test_what_passes_is_the_rubrics_score_and_the_contracts_threshold(subtests):
    for thresholds, rubric, score, passed in [
        ({}, {}, 4, True),
        ({}, {}, 3.9, False),
        ({}, {"pass_score": 3.0}, 3, True),
        ({"judge_score": 3}, {}, 3, True),
        ({"judge_score": 3}, {}, 2.9, False),
        ({"judge_score": 4.5}, {}, 4, False),
        ({"judge_score": 3}, {"pass_score": 4.0}, 3.5, False),
        ({"judge_score": {"max": 4.5}}, {}, 5, False),
        ({"judge_score": {"max": 4.5}}, {}, 3, False),
        ({"judge_score": {"max": 4.5}}, {}, 4, True),
    ]:
        with subtests.test(thresholds=thresholds, rubric=rubric, score=score):
            answer = {"score": score, "rationale": "So."}
            found = answered(answer, thresholds=thresholds, rubric={**RUBRIC, **rubric})
            assert found["judge_result"]["passed"] is passed


def test_a_threshold_says_how_severe_its_breach_is_and_who_is_told():
    bound = {"min": 3, "severity": "warning", "owner": "ana"}
    [one] = answered({"score": 2, "rationale": "So."}, thresholds={"judge_score": bound})["findings"]
    assert (one.passed, one.severity, one.owner) == (False, "warning", "ana")


def test_a_denying_answer_cannot_approve_by_the_contracts_threshold_either(subtests):
    for score, failure in [(3.5, "malformed"), (2, None)]:
        with subtests.test(score=score):
            answer = {"score": score, "rationale": "So.", "verdict": "fail"}
            found = answered(answer, thresholds={"judge_score": 3})["judge_result"]
            assert found.get("failure") == failure
