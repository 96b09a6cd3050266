import pytest

from evaluation.errors import JudgeError
from evaluation.judges.judge_call import (
    LEGAL_SURVEY,
    SUBJECTIVE,
    JudgeScore,
    choose_rubric,
    read_judge_result,
)
from evaluation.testing import judge_answer
from tests.evaluation.judges.asking import state

GIVEN = {"name": "mine", "criteria": [{"name": "clarity", "weight": 2.0}, {"name": "wit"}], "pass_score": 3.0}


def names(rubric):
    return [criterion.name for criterion in rubric.criteria]


def test_criteria_come_from_the_rubric_and_the_subjective_ones_once_each(subtests):
    for case, expected in [
        ({"rubric": GIVEN}, ["clarity", "wit"]),
        ({"rubric": GIVEN, "subjective_criteria": ["clarity", "bias"]}, ["clarity", "wit", "bias"]),
        ({"subjective_criteria": ["helpfulness", "charm", "helpfulness"]}, ["helpfulness", "charm"]),
        ({}, ["correctness"]),
    ]:
        with subtests.test(case):
            assert names(choose_rubric(state(**case))) == expected


def test_the_rest_of_a_given_rubric_stays_when_criteria_are_added():
    rubric = choose_rubric(state(rubric=GIVEN, subjective_criteria=["neutrality"]))
    assert (rubric.name, rubric.pass_score, rubric.criteria[0].weight) == ("mine", 3.0, 2.0)


def test_well_known_criteria_bring_their_question(subtests):
    for name, question in [*SUBJECTIVE.items(), ("charm", "")]:
        with subtests.test(name=name, question=question):
            [criterion] = choose_rubric(state(subjective_criteria=[name])).criteria
            assert criterion.description == question


def test_the_rubric_of_the_survey_has_five_criteria_of_equal_weight_and_asks_for_feedback():
    assert [criterion.name for criterion in LEGAL_SURVEY.criteria] == [
        "clarity and precision",
        "neutrality and bias",
        "relevance and focus",
        "completeness",
        "appropriateness for the audience",
    ]
    assert {criterion.weight for criterion in LEGAL_SURVEY.criteria} == {1.0}
    assert (LEGAL_SURVEY.scale.min, LEGAL_SURVEY.scale.max, LEGAL_SURVEY.lowest_passing) == (1, 5, 4)
    answer = judge_answer(LEGAL_SURVEY, 4)
    with pytest.raises(JudgeError, match="against the rubric's schema"):
        read_judge_result(answer, LEGAL_SURVEY)
    score = read_judge_result({**answer, "detailed_feedback": ["Fine."]}, LEGAL_SURVEY)
    assert isinstance(score, JudgeScore)
    assert score.details == {"detailed_feedback": ["Fine."]}
