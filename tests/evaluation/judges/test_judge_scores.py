import json
from contextlib import suppress
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from evaluation.contract.rubric import Criterion, Rubric, Scale
from evaluation.errors import JudgeError
from evaluation.judges.judge_call import MAX_ANSWER, JudgeScore, add_cost, read_judge_result, read_object
from evaluation.plugins import Price
from tests.evaluation.cases import any_json

RUBRIC = Rubric(criteria=[Criterion(name="clarity"), Criterion(name="warmth")])
ONE = Rubric(criteria=[Criterion(name="clarity")])
FEEDBACK = {"feedback": {"type": "string", "minLength": 3}}
SCHEMA = {"type": "object", "properties": FEEDBACK, "required": ["feedback"], "additionalProperties": False}
WITH_SCHEMA = Rubric(criteria=ONE.criteria, json_schema=SCHEMA)
GOOD = {
    "score": 4,
    "rationale": "Clear.",
    "criteria": {"clarity": 5, "warmth": 3, "wit": 99},
    "concerns": ["short"],
    "recommended_action": "Keep it.",
    "usage": {"input_tokens": 10, "model": "m"},
    "feedback": "more",
}


def test_a_whole_answer_is_read_field_by_field_without_a_criterion_that_nobody_asked_for():
    assert read_judge_result(GOOD, RUBRIC) == JudgeScore(
        score=4.0,
        rationale="Clear.",
        criteria={"clarity": 5.0, "warmth": 3.0},
        concerns=["short"],
        recommended_action="Keep it.",
        usage={"input_tokens": 10, "model": "m"},
        details={"feedback": "more"},
    )


def test_a_score_and_a_rationale_are_enough():
    result = read_judge_result({"score": 1, "rationale": "No."}, RUBRIC)
    assert isinstance(result, JudgeScore)
    assert (result.score, result.criteria, result.concerns, result.recommended_action) == (1.0, {}, [], None)


def test_each_fault_has_its_kind_and_says_what_is_wrong(subtests):
    for change, kind, reason in [
        ({"score": None}, "missing_score", "no 'score'"),
        ({"score": "4"}, "malformed", "'score' is a str"),
        ({"score": True}, "malformed", "'score' is a bool"),
        ({"score": 5.1}, "out_of_range", "5.1, not within 1 to 5"),
        ({"score": 10**400}, "malformed", "'score' is a int"),
        ({"passed": "false"}, "malformed", "'passed' is 'false'"),
        ({"score": 5, "criteria": {"clarity": 3, "warmth": 1}}, "malformed", "no criterion passes"),
        ({"criteria": {"clarity": 5}}, "missing_score", "no 'criteria.warmth'"),
        ({"criteria": {"clarity": 5, "warmth": None}}, "missing_score", "no 'criteria.warmth'"),
        ({"criteria": {"clarity": 5, "warmth": 6}}, "out_of_range", "'criteria.warmth' is 6"),
        ({"criteria": {"clarity": "5", "warmth": 5}}, "malformed", "'criteria.clarity' is a str"),
        ({"criteria": [5, 5]}, "malformed", "'criteria' is a list"),
        ({"rationale": None}, "missing_rationale", "no 'rationale'"),
        ({"rationale": ""}, "missing_rationale", "no 'rationale'"),
        ({"rationale": " .\u200b\n"}, "missing_rationale", "no 'rationale'"),
        ({"rationale": ["Clear."]}, "missing_rationale", "no 'rationale'"),
        ({"concerns": "short"}, "malformed", "'concerns' is a str"),
        ({"concerns": [1]}, "malformed", "'concerns.0' is a int"),
        ({"recommended_action": 3}, "malformed", "'recommended_action' is a int"),
    ]:
        with subtests.test(change=change):
            with pytest.raises(JudgeError, match=reason) as failure:
                read_judge_result({**GOOD, **change}, RUBRIC)
            assert failure.value.kind == kind


def test_a_field_that_denies_nothing_is_no_contradiction(subtests):
    for change in [
        {"score": 2, "criteria": {"clarity": 2, "warmth": 1}, "passed": False, "rating": 1},
        {"total": 8, "percent": 80, "failed": False, "verdict": "pass", "result": "no issues found"},
        {"final": {"score": 4, "confidence": 0.2}, "evidence": [{"quote": "so", "score": 1}]},
    ]:
        with subtests.test(change=change):
            assert isinstance(read_judge_result({**GOOD, **change}, RUBRIC), JudgeScore)


def test_one_score_for_several_criteria_may_refuse_but_not_approve(subtests):
    for answer in [{"score": 5}, {"score": 4, "criteria": None}]:
        with subtests.test(answer=answer):
            approval = {"rationale": "Fine.", **answer}
            with pytest.raises(JudgeError, match="no 'criteria' with a score"):
                read_judge_result(approval, RUBRIC)
            assert isinstance(read_judge_result(approval, ONE), JudgeScore)
            assert isinstance(read_judge_result({**approval, "score": 2}, RUBRIC), JudgeScore)


def test_the_rubrics_schema_holds_for_what_it_speaks_of(subtests):
    answer = {"score": 4, "rationale": "Clear.", "usage": {}, "concerns": []}
    assert read_judge_result({**answer, "feedback": "more"}, WITH_SCHEMA).score == 4
    for fields in [{"feedback": "no"}, {}]:
        with subtests.test(fields=fields), pytest.raises(JudgeError, match="the rubric's schema"):
            read_judge_result({**answer, **fields}, WITH_SCHEMA)


def test_three_quarters_up_the_scale_pass_unless_the_rubric_says_otherwise(subtests):
    for scale, own, lowest in [
        ((1, 5), None, 4.0),
        ((0, 1), None, 0.75),
        ((-2, 2), None, 1.0),
        ((1, 5), 2.5, 2.5),
        ((0, 1), 0.0, 0.0),
    ]:
        with subtests.test(scale=scale, own=own):
            low, high = map(float, scale)
            rubric = Rubric(criteria=ONE.criteria, scale=Scale(min=low, max=high), pass_score=own)
            assert rubric.lowest_passing == lowest


answers = st.dictionaries(
    st.sampled_from(["score", "rationale", "criteria", "concerns", "recommended_action", "usage", "more"]),
    any_json | st.integers(1, 5) | st.just({"clarity": 3, "warmth": 4}),
)


@given(answers, st.booleans())
def test_no_answer_raises_and_a_score_is_always_on_the_scale(answer, as_text):
    with suppress(JudgeError):
        result = read_judge_result(json.dumps(answer) if as_text else answer, RUBRIC)
        assert all(1 <= score <= 5 for score in (result.score, *result.criteria.values()))
        assert result.rationale.strip()
        json.dumps([result.usage, result.details], allow_nan=False)


def test_a_cost_is_estimated_from_the_tokens_if_all_is_known(subtests):
    for usage, cost in [
        ({"input_tokens": 1000, "output_tokens": 100, "model": "m"}, 0.003),
        ({"input_tokens": 1000, "output_tokens": 100, "model": "m", "cost_usd": 0.5}, 0.5),
        ({"input_tokens": 1000, "output_tokens": 100, "model": "other"}, None),
        ({"input_tokens": 1000, "model": "m"}, None),
        ({"input_tokens": "many", "output_tokens": 100, "model": "m"}, None),
    ]:
        with subtests.test(usage=usage):
            assert add_cost(usage, {"m": Price(input_usd=2.0, output_usd=10.0)}).get("cost_usd") == cost


class Model(BaseModel):
    score: int = 4


def test_an_object_is_read_from_an_answer_that_is_nothing_else(subtests):
    for raw in [
        {"score": 4},
        MappingProxyType({"score": 4}),
        Model(),
        '{"score": 4}',
        ' \n{"score": 4}\n',
        '```json\n{"score": 4}\n```',
        '```\n{"score": 4}```',
        'Sure! Here is my evaluation:\n\n```JSON\n{"score": 4}\n```\n',
        '<think>Is {"score": 1} right?</think>\n{"score": 4}',
    ]:
        with subtests.test(raw=raw):
            assert read_object(raw) == {"score": 4}


AMONG_OTHER_TEXT = [
    'I use {braces}.\n```\n{"score": 4}\n```',
    'I refuse to say:\n```\n{"score": 4}\n```',
    '```\n{"score": 4}\n```\nThat is what it wants.',
    'My answer: {"score": 4}. That is all.',
    '{"score": 4,} is what the output wants.',
    'The output says </think>{"score": 4}',
]


def test_anything_else_is_malformed_also_an_object_among_other_text(subtests):
    for raw in [
        *AMONG_OTHER_TEXT,
        "",
        "no JSON",
        "[1, 2]",
        '[{"score": 4}]',
        '"{\\"score\\": 4}"',
        "4",
        None,
        ["score"],
        {"score": float("nan")},
        {"score": object()},
        {("a", "b"): 1},
        '{"score": 1e999}',
        '{"score": 1} or rather {"score": 5}',
        '{"score": 1, "score": 5}',
        '{"score": 4',
        '{"score": 4,}',
        "{'score': 4}",
        '{"why": "a "quoted" word", "score": 4}',
        '{"score": 4, "rationale": "it is',
        '[{"score": 1}, {"score": 5,}]',
        '{"a":' * 101 + "1" + "}" * 101,
        "x" * (MAX_ANSWER + 1),
        {"rationale": "x" * MAX_ANSWER},
    ]:
        with subtests.test(raw=raw):
            with pytest.raises(JudgeError) as failure:
                read_object(raw)
            assert failure.value.kind == "malformed"
            assert "not one JSON object alone" in str(failure.value) or raw not in AMONG_OTHER_TEXT


@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsn \\u`\ud800', max_size=60) | st.text(max_size=60))
def test_no_text_raises_or_gives_what_json_cannot_hold(text):
    with suppress(JudgeError):
        json.dumps(read_object(text), allow_nan=False, ensure_ascii=False).encode()
