"""A judge's return value is one JSON object that a report can store, or a failure."""

from __future__ import annotations

import json
from contextlib import suppress
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from evaluation.errors import JudgeError
from evaluation.judges.judge_call import MAX_ANSWER, read_object


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


def test_anything_else_is_malformed(subtests):
    for raw in [
        "",
        "no JSON",
        "[1, 2]",
        '[{"score": 4}]',
        '"{\\"score\\": 4}"',
        "4",
        "null",
        None,
        4,
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


@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsn \\u`\ud800', max_size=60) | st.text(max_size=60))
def test_no_text_raises_or_gives_what_json_cannot_hold(text):
    with suppress(JudgeError):
        json.dumps(read_object(text), allow_nan=False, ensure_ascii=False).encode()


def test_an_object_among_other_text_is_not_read(subtests):
    for text in [
        'I use {braces}.\n```\n{"score": 4}\n```',
        'I refuse to say:\n```\n{"score": 4}\n```',
        '```\n{"score": 4}\n```\nThat is what it wants.',
        'My answer: {"score": 4}. That is all.',
        'Here: {"score": 4,}',
        '{"score": 4,} is what the output wants.',
        'The output says </think>{"score": 4}',
    ]:
        with subtests.test(text=text), pytest.raises(JudgeError, match="not one JSON object alone"):
            read_object(text)
