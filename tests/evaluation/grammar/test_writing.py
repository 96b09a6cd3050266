"""Grammars of replies: each text that a grammar allows fulfils the checks it was written from."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from langchain_openai import ChatOpenAI

from evaluation.checks.context import CheckContext
from evaluation.checks.vocabulary import read_checks
from evaluation.grammar.writing import write_grammar
from tests.evaluation.grammar.gbnf import allows_text, draw_text

TASK = "Name a river, and say why."

ALONE: list[dict[str, Any]] = [
    {"check": "letter_case", "style": "lower"},
    {"check": "punctuation", "mark": ","},
    {"check": "letter_count", "letter": "e", "max": 0},
    {"check": "highlight_count", "max": 0},
    {"check": "paragraph_count", "min": 2, "max": 5},
    {"check": "list_item_count", "min": 2, "max": 4},
    {"check": "sentence_count", "max": 3},
    {"check": "line_count", "max": 4},
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


LARGE: list[dict[str, Any]] = [
    {"check": "word_count", "min": 500},
    {"check": "paragraph_count", "min": 50},
    {"check": "line_count", "max": 50},
    {"check": "section_count", "marker": '[\\"Day', "exactly": 50},
    {"check": "highlight_count", "min": 50},
    {"check": "first_letters", "letters": "abcdefghij" * 5},
    {"check": "template", "labels": ['a"b', "c\\d", "]", "\U0001f600", "e\nf"]},
]
ALLOWED: list[tuple[list[dict[str, Any]], str]] = [
    (
        [{"check": "list_item_count", "marker": "bullet", "exactly": 2}],
        "Dear Ann,\n* **Rest**: now.\n* Eat.\n\nYours, B.",
    ),
    ([{"check": "list_item_count", "marker": "number", "min": 2, "max": 3}], "1. a\n2. b\n3. c"),
    ([{"check": "list_item_count", "max": 3}, {"check": "punctuation", "mark": "!"}], "* a\n* b"),
    ([{"check": "paragraph_count", "exactly": 2}], "Roses are red,\n  violets blue.\n\n- sugar\n- honey"),
    ([{"check": "paragraph_count", "max": 3}], "One\n\nTwo"),
    ([{"check": "paragraph_count", "exactly": 2}], "# Heading\n\n“A quoted line.”"),
    (
        [{"check": "paragraph_count", "exactly": 2}],
        "\u0e40\u0e21\n\n\u1797\u17b6",
    ),
    (
        [{"check": "sentence_count", "exactly": 2}],
        "I paid 3.50 for it (yes) today. A cat is “so sweet” today!",
    ),
    ([{"check": "sentence_count", "max": 3}], "The cat sleeps. The dog barks."),
    ([{"check": "word_count", "exactly": 7}], "Pi is 3.14159, e/2 too."),
    ([{"check": "word_count", "min": 3}], "Write to a.b@c.org or `x[0] = {1|2}` \U0001f600"),
    (
        [{"check": "part_count", "separator": "---", "exactly": 2}],
        "A well-known one.\n- x\n\n---\n\nTwo - 3",
    ),
    ([{"check": "part_count", "separator": "******", "exactly": 2}], "A **bold** one.\n\n******\n\nTwo"),
    ([{"check": "highlight_count", "min": 1}], "The river is *very long* (in km).\nprint(a_b * 2)"),
    ([{"check": "placeholder_count", "min": 1}], "Dear [name], hello (you).\nx = a[0](1)"),
    ([{"check": "title", "style": "angle_brackets"}], "<<Sums>>\n\nif a < b > c:\n\tpass"),
    ([{"check": "section_count", "marker": "Day", "min": 1}], "Day 1\nGo.\n\nDay 2\nRest."),
    ([{"check": "starts_with", "text": "Dear reader"}], "Dear reader, hello."),
    ([{"check": "ends_with", "text": "the sea"}], "It flows into the sea"),
    ([{"check": "repeats_request", "text": "Say it.", "answer_follows": False}], "Say it."),
    ([{"check": "letter_case", "style": "lower"}], "l'œuvre:\n\t20 °c, 3 × 2"),
]


@pytest.mark.parametrize(("data", "text"), ALLOWED, ids=str)
def test_a_usual_reply_that_fulfils_the_checks_is_allowed(data: list[dict[str, Any]], text: str) -> None:
    grammar = write_grammar(read_checks(data), TASK)
    assert grammar is not None
    assert allows_text(grammar, text)


LOWER: dict[str, Any] = {"check": "letter_case", "style": "lower"}


@pytest.mark.parametrize(
    "data",
    [
        [LOWER, {"check": "json"}],
        [LOWER, {"check": "code", "language": "python"}],
        [{"check": "line_count", "max": 9}, {"check": "table"}],
        [{**LOWER, "severity": "warning"}],
        [LOWER, {"check": "letter_case", "style": "upper"}],
        [LOWER, {"check": "contains", "texts": ["\u0142"]}],
        [LOWER, {"check": "emoji", "use": "present"}],
        [LOWER, {"check": "capital_word_count", "min": 1}],
        [LOWER, {"check": "section_count", "marker": "DAY", "exactly": 2}],
        [LOWER, {"check": "starts_with", "text": "Hi", "each": "line"}],
        [{"check": "quoted"}, {"check": "contains", "texts": ['say "hi"']}],
        [{"check": "quoted"}, {"check": "title", "style": "heading"}],
        [{"check": "repeats_request"}, {"check": "punctuation", "mark": ","}],
        [{"check": "starts_with", "text": "Hi"}, {"check": "starts_with", "text": "Ho"}],
        [{"check": "starts_with", "text": "a\x07b"}],
        [{"check": "punctuation", "mark": ","}, {"check": "occurrences", "text": "a, b", "min": 1}],
        [{"check": "letter_count", "letter": "e", "max": 3}],
        [{"check": "word_count", "max": 20}],
        [{"check": "word_count", "min": 5000}],
        [{"check": "highlight_count", "min": 100_000}],
        [{"check": "list_item_count", "max": 5}],
        [{"check": "one_of", "options": ["yes", "no"]}],
        [{"check": "one_of", "options": ["yes", "no"], "alone": True}, {"check": "postscript"}],
        [{"check": "repeats_request", "text": "word " * 4000}],
    ],
    ids=lambda data: str(data)[:80],
)
def test_in_doubt_there_is_no_grammar(data: list[dict[str, Any]]) -> None:
    assert write_grammar(read_checks(data), TASK) is None


@pytest.mark.parametrize("refused", ["table", "markdown"])
def test_what_must_be_absent_is_no_obstacle(refused: str) -> None:
    assert write_grammar(read_checks([LOWER, {"check": refused, "use": "absent"}]), TASK) is not None


def test_a_task_in_another_language_is_not_held_to_western_letters() -> None:
    assert write_grammar(read_checks([LOWER]), "Answer in Hindi.") is None


def test_only_rules_that_a_reply_uses_are_written() -> None:
    grammar = write_grammar(read_checks([{"check": "one_of", "options": ["yes", "no"], "alone": True}]))
    assert grammar == 'root ::= ("yes" | "no")\n'


@pytest.mark.real_model
def test_the_server_reads_each_grammar(embedded_llm: ChatOpenAI) -> None:
    model = embedded_llm.model_copy(update={"max_tokens": 1})
    for data in [*([each] for each in [*ALONE, *LARGE]), *TOGETHER]:
        grammar = write_grammar(read_checks(data), TASK)
        model.model_copy(update={"extra_body": {"grammar": grammar}}).invoke("Say hello.")


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
    assert '"THE END."' in (write_grammar(checks) or "")


def test_no_line_beside_a_list_looks_like_an_item() -> None:
    grammar = write_grammar(read_checks([{"check": "list_item_count", "marker": "bullet", "exactly": 3}]))
    assert grammar is not None
    texts = [draw_text(grammar, Random(seed)) for seed in range(200)]
    assert {
        sum(line.startswith(("*", "-", "\N{BULLET}")) for line in text.splitlines()) for text in texts
    } == {3}


def test_a_haiku_has_three_lines() -> None:
    grammar = write_grammar(read_checks([{"check": "line_syllables", "syllables": [5, 7, 5]}]))
    assert grammar is not None
    assert {len(draw_text(grammar, Random(seed)).splitlines()) for seed in range(30)} == {3}
