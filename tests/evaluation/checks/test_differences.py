# ruff: noqa: E501
"""Outputs on which the checks differ from IFEval's checkers on purpose."""

import pytest

from evaluation.checks import CheckContext, read_checks
from tests.evaluation.checks.ifeval import check_officially, load_official, to_checks

BOLD_ITEMS = "* **First** point\n* **Second** point"
DIFFERENCES = [
    # A bold part of a bullet point is one highlighted part; the official pattern finds it twice.
    ("detectable_format:number_highlighted_sections", {"num_highlights": 4}, BOLD_ITEMS, True, False),
    # An italic one is a highlighted part, too; the official pattern takes the mark of the bullet point for it.
    ("detectable_format:number_highlighted_sections", {"num_highlights": 1}, "* *First* point", False, True),
    ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "Text\n\n---\n\nText", True, False),
    ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "*Italic* text", True, False),
    ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "• An item", False, True),
    ("detectable_content:number_placeholders", {"num_placeholders": 1}, "A [link](a.org)", True, False),
    ("detectable_content:number_placeholders", {"num_placeholders": 1}, "Empty: []", True, False),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "Text.\n\nP.P.S. More", True, False),
    # The request without an answer after it.
    ("combination:repeat_prompt", {"prompt_to_repeat": "Name a colour."}, "Name a colour.", True, False),
    ("detectable_format:constrained_response", {}, "My answer is yes. My answer is no.", True, False),
    ("startend:quotation", {}, '""', True, False),
    # Chinese is written without spaces; the official pattern takes the whole for one word.
    ("length_constraints:number_words", {"relation": "at least", "num_words": 5}, "今天天气很好", False, True),
    ("language:response_language", {"language": "en"}, "1234 !!", True, None),
]  # fmt: skip


@pytest.fixture(scope="module")
def registry():
    return load_official()


@pytest.mark.parametrize("difference", DIFFERENCES, ids=str)
def test_a_known_difference(registry, difference):
    name, arguments, output, official, ours = difference
    (check,) = read_checks(to_checks(name, arguments))

    assert check_officially(registry, name, arguments, output) is official
    assert check.evaluate(CheckContext(output)).passed is ours
