"""Grammars of replies: each text that a grammar allows fulfils the checks it was written from."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from evaluation.checks.context import CheckContext
from evaluation.checks.vocabulary import read_checks
from evaluation.grammar.writing import write_grammar
from tests.evaluation.grammar.gbnf import draw_text

TASK = "Name a river, and say why."

ALONE: list[dict[str, Any]] = [
    {"check": "letter_case", "style": "lower"},
    {"check": "punctuation", "mark": ","},
    {"check": "letter_count", "letter": "e", "max": 3},
    {"check": "quoted"},
    {"check": "quoted", "style": "double"},
    {"check": "repeats_request"},
    {"check": "repeats_request", "text": 'Say "hello", twice.'},
    {"check": "starts_with", "text": "Dear reader"},
    {"check": "ends_with", "text": "Any questions?"},
    {"check": "postscript", "marker": "P.S."},
    {"check": "postscript", "marker": "P.P.S"},
    {"check": "title", "style": "angle_brackets"},
    {"check": "title", "style": "heading"},
    {"check": "title"},
    {"check": "part_count", "separator": "******", "exactly": 2},
    {"check": "part_count", "separator": "***", "min": 3},
    {"check": "section_count", "marker": "SECTION", "exactly": 3},
    {"check": "paragraph_count", "exactly": 4},
    {"check": "paragraph_count", "min": 2},
    {"check": "paragraph_count", "max": 2},
    {"check": "list_item_count", "marker": "bullet", "exactly": 3},
    {"check": "list_item_count", "marker": "number", "exactly": 12},
    {"check": "list_item_count", "marker": "- ", "min": 2},
    {"check": "list_item_count", "exactly": 2},
    {"check": "line_count", "exactly": 5},
    {"check": "sentence_count", "exactly": 3},
    {"check": "word_count", "min": 30},
    {"check": "word_count", "max": 20},
    {"check": "word_count", "exactly": 12},
    {"check": "word_count", "min": 300, "max": 320},
    {"check": "highlight_count", "min": 3},
    {"check": "highlight_count", "style": "bold", "exactly": 2},
    {"check": "placeholder_count", "min": 4},
    {"check": "first_letters", "letters": "RIVER"},
    {"check": "first_letters", "letters": "abc", "unit": "paragraph"},
    {"check": "template", "labels": ["Name:", "Reason:"]},
    {"check": "one_of", "options": ["yes", "no"], "alone": True},
    {"check": "one_of", "options": ["My answer is yes.", "My answer is no."]},
]
TOGETHER: list[list[dict[str, Any]]] = [
    [
        {"check": "letter_case", "style": "lower"},
        {"check": "postscript"},
        {"check": "punctuation", "mark": ","},
    ],
    [
        {"check": "quoted"},
        {"check": "title", "style": "angle_brackets"},
        {"check": "paragraph_count", "min": 3},
    ],
    [{"check": "repeats_request"}, {"check": "list_item_count", "marker": "bullet", "exactly": 3}],
    [{"check": "highlight_count", "min": 5}, {"check": "part_count", "separator": "---", "exactly": 2}],
    [{"check": "highlight_count", "min": 2}, {"check": "placeholder_count", "min": 4}],
    [{"check": "highlight_count", "min": 4}, {"check": "list_item_count", "exactly": 2}],
    [{"check": "section_count", "marker": "Day", "exactly": 2}, {"check": "ends_with", "text": "Bye"}],
    [
        {"check": "paragraph_count", "exactly": 3},
        {"check": "word_at", "word": "President", "position": 1, "unit": "paragraph", "number": 2},
    ],
    [{"check": "paragraph_count", "exactly": 2}, {"check": "ends_with", "text": "The end."}],
    [{"check": "paragraph_count", "exactly": 2}, {"check": "title", "style": "angle_brackets"}],
    [{"check": "paragraph_count", "exactly": 2}, {"check": "postscript"}],
    [{"check": "starts_with", "text": "Hello"}, {"check": "quoted"}, {"check": "ends_with", "text": "Bye."}],
    [{"check": "word_count", "exactly": 9}, {"check": "starts_with", "text": "To be or not to be"}],
    [{"check": "word_count", "max": 9}, {"check": "letter_case", "style": "lower"}],
    [{"check": "word_count", "min": 9}, {"check": "quoted"}],
    [{"check": "starts_with", "text": "Hello"}, {"check": "list_item_count", "exactly": 2}],
]


@pytest.mark.parametrize("data", [*([each] for each in ALONE), *TOGETHER], ids=str)
def test_texts_of_the_grammar_fulfil_the_checks(data: list[dict[str, Any]]) -> None:
    checks = read_checks(data)
    grammar = write_grammar(checks, TASK)
    assert grammar is not None

    for seed in range(30):
        text = draw_text(grammar, Random(seed))
        outcomes = [check.evaluate(CheckContext(text, TASK)) for check in checks]
        assert [each.sentence for each in outcomes if each.passed is False] == [], text


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"check": "contains", "texts": ["river"]}],
        [{"check": "letter_case", "style": "upper"}],
        [{"check": "word_count", "each": "line", "max": 5}],
    ],
    ids=str,
)
def test_other_checks_have_no_grammar(data: list[dict[str, Any]]) -> None:
    assert write_grammar(read_checks(data), TASK) is None


def test_a_text_of_the_layout_is_in_the_letter_case_of_the_reply() -> None:
    checks = read_checks([
        {"check": "letter_case", "style": "upper"}, {"check": "ends_with", "text": "The end."}
    ])  # fmt: skip
    assert '"\\x0A\\x0ATHE END."' in (write_grammar(checks) or "")
