"""A judge against people's labels."""

from __future__ import annotations

import math

import pytest

from evaluation.errors import ContractError, JudgeError
from evaluation.inputs.rubric import Criterion, Rubric
from evaluation.judges.calibration import calibrate
from evaluation.plugins import JudgeRequest

RUBRIC = Rubric(criteria=[Criterion(name="clarity")])
STRICT = Rubric(criteria=[Criterion(name="clarity")], pass_score=5.0)


def request(output, rubric=RUBRIC):
    return JudgeRequest(rubric=rubric, input="", output=output, reference=None, actions=())


class Reader:
    """Reads the score from the output, or fails as the output says."""

    def judge(self, request):
        if request.output == "abstain":
            raise JudgeError("two against two", "no_majority")
        if request.output == "crash":
            raise RuntimeError("down")
        if request.output == "prose":
            return "I like it."
        return {"score": float(request.output), "rationale": "as written"}


class Waiting:
    async def ajudge(self, request):
        return Reader().judge(request)


CASES = [("5", True), ("5", True), ("4", True), ("1", False), ("2", False), ("5", False), ("1", True)]


def labelled(cases=CASES, rubric=RUBRIC):
    return [(request(output, rubric), label) for output, label in cases]


def test_verdicts_are_compared_with_those_of_people():
    result = calibrate(Reader(), labelled()).agreement
    assert (result.accuracy.successes, result.accuracy.trials) == (5, 7)
    assert result.confusion == {"fail": {"fail": 2, "pass": 1}, "pass": {"fail": 1, "pass": 3}}
    # observed 5/7, by chance (4 * 4 + 3 * 3) / 49
    assert result.kappa == pytest.approx((5 / 7 - 25 / 49) / (1 - 25 / 49))


@pytest.mark.parametrize(("rubric", "agreeing"), [(RUBRIC, 1), (STRICT, 0)])
def test_what_passes_is_what_the_rubric_says(rubric, agreeing):
    result = calibrate(Reader(), labelled([("4", True)], rubric))
    assert result.agreement.accuracy.successes == agreeing


def test_failures_and_abstentions_are_counted_by_kind():
    result = calibrate(
        Reader(), labelled([*CASES, ("abstain", True), ("crash", True), ("prose", False), ("9", True)])
    )
    assert result.failures == {"malformed": 1, "no_majority": 1, "out_of_range": 1, "provider_failure": 1}
    assert (result.answered.successes, result.answered.trials) == (7, 11)


def test_what_was_not_answered_agrees_with_nobody():
    result = calibrate(Reader(), labelled([("crash", False), ("crash", True)]))
    assert (result.answered.value, result.agreement.accuracy.value, result.agreement.kappa) == (
        0.0,
        None,
        None,
    )


def test_a_label_may_be_a_score():
    result = calibrate(Reader(), labelled([("4", 4.5), ("2", 4), ("1", 1)]))
    assert result.agreement.accuracy.successes == 2


@pytest.mark.parametrize("label", [math.nan, 0, 7.0, "pass", None])
def test_a_label_that_is_no_score_of_the_scale_is_refused(label):
    with pytest.raises(ContractError, match="label is"):
        calibrate(Reader(), labelled([("4", label)]))


def test_a_judge_that_is_awaited_is_calibrated_as_well():
    assert calibrate(Waiting(), labelled()) == calibrate(Reader(), labelled())
