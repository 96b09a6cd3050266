import pytest

from evaluation.contract.rubric import Criterion, Rubric, Scale
from evaluation.errors import JudgeError
from evaluation.judges.judge_call import read_judge_result
from evaluation.plugins import AsyncJudge, Judge, JudgeRequest
from evaluation.testing import DeterministicJudge, FailingJudge, ScriptedJudge

RUBRIC = Rubric(criteria=[Criterion(name="clarity"), Criterion(name="wit")], scale=Scale(min=0.0, max=10.0))
REQUEST = JudgeRequest(rubric=RUBRIC, input="Greet me.", output="Hello, dear Reader!")


def test_each_is_a_judge_both_ways(subtests):
    for judge in [ScriptedJudge([]), DeterministicJudge(5), FailingJudge()]:
        with subtests.test(judge=judge):
            assert isinstance(judge, Judge)
            assert isinstance(judge, AsyncJudge)


async def test_a_script_is_answered_in_order_both_ways():
    judge = ScriptedJudge(["one", {"score": 2}])
    assert [judge.judge(REQUEST), await judge.ajudge(REQUEST)] == ["one", {"score": 2}]
    assert judge.requests == [REQUEST, REQUEST]


def test_a_script_that_has_run_out_says_so():
    with pytest.raises(AssertionError, match=r"no answer is left .* about 'Hello, dear Reader!'"):
        ScriptedJudge([]).judge(REQUEST)


def test_a_fixed_score_is_given_for_every_criterion():
    found = read_judge_result(DeterministicJudge(7).judge(REQUEST), RUBRIC)
    assert (found.score, dict(found.criteria)) == (7, {"clarity": 7, "wit": 7})


async def test_a_failing_judge_fails_as_it_was_told_both_ways(subtests):
    for failure, error, kind in [
        ("blocked", JudgeError, "blocked"),
        (ConnectionError("down"), ConnectionError, None),
        (JudgeError("mine", "malformed"), JudgeError, "malformed"),
    ]:
        with subtests.test(failure=failure):
            judge = FailingJudge(failure)
            with pytest.raises(error) as raised:
                judge.judge(REQUEST)
            with pytest.raises(error):
                await judge.ajudge(REQUEST)
            assert getattr(raised.value, "kind", None) == kind
            assert judge.requests == [REQUEST, REQUEST]
