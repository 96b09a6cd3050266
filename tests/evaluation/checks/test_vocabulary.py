from typing import Literal, get_args, get_origin

import pytest

from evaluation.checks import CHECKS, BaseCheck, read_checks
from evaluation.errors import ContractError
from tests.evaluation.checks.cases import CASES, evaluate


def test_each_kind_is_a_literal_default_of_its_model():
    for name, model in CHECKS.items():
        annotation = model.model_fields["check"].annotation
        assert (get_origin(annotation), get_args(annotation)) == (Literal, (name,))
        assert model.__doc__
        assert model.__doc__ != BaseCheck.__doc__


def test_a_check_survives_being_written_and_read(subtests):
    for data in [case[0] for case in CASES]:
        with subtests.test(data=data):
            (check,) = read_checks([data])

            assert read_checks([check.model_dump(mode="json")]) == [check]


def test_an_unusable_check_is_refused_in_one_sentence(subtests):
    bounds = "[0]: give either 'exactly', or 'min', 'max' or both"
    for data, problem in [
        ({}, "checks: give a list, not an object"),
        ([1], "[0]: give an object, not 1"),
        ([{}], "[0].check: is missing; add it"),
        ([{"check": "word_cont"}], "[0].check: no check has this name; write 'word_count' instead"),
        ([{"check": 7}], "[0].check: no check has this name; the reference lists all names"),
        ([{"check": "word_count"}], bounds),
        ([{"check": "word_count", "min": 1, "exactly": 1}], bounds),
        ([{"check": "word_count", "min": 3, "max": 1}], "[0]: no number is at least 3 and at most 1"),
        ([{"check": "word_count", "min": -1}], "[0].min: give a number greater than or equal to 0, not -1"),
        (
            [{"check": "word_count", "mini": 1}],
            "[0].mini: no field has this name; write 'min' instead, or leave it out",
        ),
        ([{"check": "contains", "texts": []}], "[0].texts: list should have at least 1 item"),
        (
            [{"check": "language", "code": "German"}],
            "[0].code: is no known language; give its code of ISO 639-1, such as 'de'",
        ),
        (
            [{"check": "contains", "texts": ["a", "a"], "at_least": 2}],
            "[0]: 'texts' has 1 different texts; 'at_least' is more",
        ),
        (
            [{"check": "table", "use": "absent", "rows": 2}],
            "[0]: a table that is absent has no size; leave out 'columns' and 'rows'",
        ),
    ]:
        with subtests.test(data=data):
            with pytest.raises(ContractError) as error:
                read_checks(data)

            assert problem in str(error.value)


def test_a_text_of_punctuation_alone_is_no_answer_with_few_words(subtests):
    for text in ["...", "```\n```", "\u0301", "\ud800", "*" * 9, " - \n - "]:
        for data in [
            {"check": "word_count", "max": 9},
            {"check": "excludes", "texts": [","]},
            {"check": "excludes", "texts": ["x"]},
        ]:
            with subtests.test(text=text, data=data):
                assert evaluate(data, text).passed is False


def test_punctuation_that_is_asked_for_is_an_answer(subtests):
    for data, text in [
        ({"check": "occurrences", "text": "*", "exactly": 3}, "***"),
        ({"check": "one_of", "options": ["?", "!"]}, "?"),
    ]:
        with subtests.test(data=data):
            assert evaluate(data, text).passed is True


def test_a_required_number_stands_by_itself(subtests):
    for text in [
        "42²", "√42", "42^2", "x^42", "42 dozen", "v42.00.1", "42.00.1", "base 42₁₀", "42 %", "42 per cent",
        "forty-two percent", "42\u202f%",
    ]:  # fmt: skip
        with subtests.test(text=text):
            check = {"check": "states_number", "number": 42}

            assert evaluate(check, f"It is {text}, and 42.").passed is True
            assert evaluate(check, f"It is {text}.").passed is False


def test_a_share_states_its_hundredth_or_if_asked_for_the_number_before_the_sign(subtests):
    for number, share, is_stated in [
        (0.42, False, True),
        (42, True, True),
        (0.42, True, True),
        (4200, True, False),
    ]:
        with subtests.test(number=number, share=share):
            check = {"check": "states_number", "number": number, "share": share}

            assert evaluate(check, "It is 42 % of all.").passed is is_stated
