"""What holds for every reader of a model's text: thoughts are dropped, any text is read, and in time."""

from __future__ import annotations

import pytest

from agents.parsing.loose_json import remove_thoughts
from agents.parsing.replies import read_plan, read_verdict
from tests.fakes.model_text import FENCE, MEGABYTE
from tests.sampling import sample_rows


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("answer", "answer"),
        ("  answer \n", "answer"),
        ("<think>a</think>answer", "answer"),
        ("\n<think>\na\n</think>\n\nanswer\n", "answer"),
        ("<THINK>a</Think> answer", "answer"),
        ("<thinking>a</thinking> answer", "answer"),
        ("<think>a", ""),
        ("a</think>answer", "answer"),
        ("a</think>b</think>answer", "answer"),
        ("<think>a</think>the tag </think> ends a thought", "the tag </think> ends a thought"),
        (
            "The tags <think> and </think> enclose thoughts.",
            "The tags <think> and </think> enclose thoughts.",
        ),
        ('{"a": "</think>"}', '{"a": "</think>"}'),
        ("", ""),
    ],
)
def test_thoughts_are_dropped(text, answer):
    assert remove_thoughts(text) == answer


PATTERNS = [
    *("{", "[", '"', "'", "\\", '\\"', '["', '{"', '["a', '{"a":', "{a", "{ ", ",", ":", "{}", '["a",1]'),
    *('{"plan":["a"]}', '{"success":true}', '{"success":true', "{'success':true}", "{\\u}", "<think>"),
    *("</think>", FENCE, FENCE + "json", "1. a\n", "**1. ", "### Step 1: a\n", "- a\n", " ", "\n", "//", "#"),
]


@pytest.mark.parametrize(
    ("opening", "pattern"),
    sample_rows(
        [
            *(("", pattern) for pattern in PATTERNS),
            *(('{"plan": [', pattern) for pattern in ('"a', "'", '["', "{}", ",", '"action_input":')),
            *(('{"success": true, "feedback": ', pattern) for pattern in ('"a', "'", "{", "\\", "//")),
        ],
        every=9,
    ),
)
def test_a_megabyte_of_one_pattern_is_read_in_time_that_does_not_explode(pattern, opening):
    """A quadratic reader needs many minutes for one of these; the suite's own patience is the bound."""
    text = (opening + pattern * (MEGABYTE // len(pattern)))[:MEGABYTE]
    read_plan(text)
    read_verdict(text)
