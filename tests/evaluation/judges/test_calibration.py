"""A judge against people's labels."""

from __future__ import annotations

import math
import sys

import numpy as np
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


class Doubtful:
    def judge(self, request):
        return {"score": float(request.output), "rationale": "as written", "repaired": True}


class Waiting:
    async def ajudge(self, request):
        return Reader().judge(request)


CASES = [("5", True), ("5", True), ("4", True), ("1", False), ("2", False), ("5", False), ("1", True)]


def labelled(cases=CASES, rubric=RUBRIC):
    return [(request(output, rubric), label) for output, label in cases]


def test_accuracy_is_the_share_of_verdicts_that_people_gave_too():
    accuracy = calibrate(Reader(), labelled()).agreement.accuracy
    assert (accuracy.successes, accuracy.trials) == (5, 7)


def test_the_confusion_has_people_in_rows():
    assert calibrate(Reader(), labelled()).agreement.confusion == {
        "fail": {"fail": 2, "pass": 1},
        "pass": {"fail": 1, "pass": 3},
    }


def test_kappa_is_the_agreement_beyond_chance():
    result = calibrate(Reader(), labelled()).agreement
    # observed 5/7, by chance (4 * 4 + 3 * 3) / 49
    assert result.kappa == pytest.approx((5 / 7 - 25 / 49) / (1 - 25 / 49))


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


@pytest.mark.parametrize(
    ("rubric", "options", "passed"),
    [(RUBRIC, {}, 1), (STRICT, {}, 0), (RUBRIC, {"pass_score": 4.5}, 0), (STRICT, {"pass_score": 2.0}, 1)],
)
def test_what_passes_is_what_the_rubric_says_unless_a_score_is_given(rubric, options, passed):
    result = calibrate(Reader(), labelled([("4", True)], rubric), **options)
    assert result.agreement.accuracy.successes == passed


def test_a_label_may_be_a_score():
    result = calibrate(Reader(), labelled([("4", 4.5), ("2", 4), ("1", 1)]))
    assert result.agreement.accuracy.successes == 2


@pytest.mark.parametrize("label", [math.nan, 0, 7.0, "pass", None])
def test_a_label_that_is_no_score_of_the_scale_is_refused(label):
    with pytest.raises(ContractError, match="label is"):
        calibrate(Reader(), labelled([("4", label)]))


@pytest.mark.parametrize("score", [math.nan, 99.0])
def test_a_pass_score_outside_of_the_scale_is_refused(score):
    with pytest.raises(ContractError, match="pass_score is"):
        calibrate(Reader(), labelled([("4", True)]), pass_score=score)


def test_labels_of_numpy_are_flags_and_scores():
    labels = [("5", np.True_), ("1", np.False_), ("5", np.int64(5)), ("1", np.float64(1))]

    assert calibrate(Reader(), labelled(labels)).agreement.accuracy.successes == 4


def test_nothing_labelled_gives_no_figure():
    result = calibrate(Reader(), [])
    assert (result.answered.value, result.agreement.accuracy.value) == (None, None)


def test_a_judge_that_is_awaited_is_calibrated_as_well():
    assert calibrate(Waiting(), labelled()) == calibrate(Reader(), labelled())


def test_an_approval_by_a_lower_pass_score_is_checked_like_any_other():
    result = calibrate(Doubtful(), [(request("3"), True), (request("1"), False)], pass_score=2.0)
    assert (result.answered.successes, dict(result.failures)) == (1, {"malformed": 1})


def test_kappa_comes_with_an_interval_that_few_runs_make_wide():
    measured = calibrate(Reader(), labelled()).agreement
    low, high = measured.kappa_interval
    assert low < 0.0 < measured.kappa < high


def test_scores_are_compared_by_weighted_kappa_and_alpha():
    scores = calibrate(Reader(), labelled([("4", 5), ("2", 2), ("1", 1), ("5", True), ("crash", 3)])).scores
    assert scores.pairs == 3  # neither the flag nor the failure is a pair of scores
    assert 0.9 < scores.weighted_kappa < 1.0
    assert 0.9 < scores.krippendorff_alpha < 1.0


def test_labels_that_are_flags_have_no_agreement_of_scores():
    scores = calibrate(Reader(), labelled()).scores
    assert (scores.pairs, scores.weighted_kappa) == (0, None)
    assert scores.reason


def test_without_the_extra_the_answers_are_kept_and_the_reason_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "krippendorff", None)
    result = calibrate(Reader(), labelled([("4", 5), ("2", 2)]))
    assert result.agreement.accuracy.successes == 2
    assert "pip install scipy statsmodels krippendorff" in result.scores.reason
