"""The legal survey's rubric."""

from __future__ import annotations

from evaluation.judges.failures import JudgeFailure
from evaluation.judges.judge_scores import JudgeScore, read_judge_result
from evaluation.judges.rubrics import LEGAL_SURVEY
from evaluation.testing import judge_answer


def test_it_has_the_chapters_five_criteria_of_equal_weight_on_one_to_five():
    assert [criterion.name for criterion in LEGAL_SURVEY.criteria] == [
        "clarity and precision",
        "neutrality and bias",
        "relevance and focus",
        "completeness",
        "appropriateness for the audience",
    ]
    assert {criterion.weight for criterion in LEGAL_SURVEY.criteria} == {1.0}
    assert (LEGAL_SURVEY.scale.min, LEGAL_SURVEY.scale.max, LEGAL_SURVEY.lowest_passing) == (1, 5, 4)


def test_each_criterion_says_what_its_scores_mean():
    assert all({"1", "5"} <= set(criterion.anchors) for criterion in LEGAL_SURVEY.criteria)


def test_it_asks_for_detailed_feedback():
    answer = judge_answer(LEGAL_SURVEY, 4)
    assert isinstance(read_judge_result(answer, LEGAL_SURVEY), JudgeFailure)
    score = read_judge_result({**answer, "detailed_feedback": ["Fine."]}, LEGAL_SURVEY)
    assert isinstance(score, JudgeScore)
    assert score.details == {"detailed_feedback": ["Fine."]}


def test_it_can_be_given_in_a_file():
    assert type(LEGAL_SURVEY).model_validate_json(LEGAL_SURVEY.model_dump_json()) == LEGAL_SURVEY
