"""Rules for limits, for statements without a subject, and for words that refuse: one sentence each."""

import pytest

from evaluation.task_checks import derive_checks


def derive(task):
    return [
        {"check": check.check, **check.model_dump(exclude_defaults=True, exclude={"quote"})}
        for check in derive_checks(task).checks
    ]


@pytest.mark.parametrize(
    ("task", "bounds"),
    [
        ("Explain DNS. Keep it to 40 words.", {"max": 40}),
        ("I only have space for 50 words, so explain DNS.", {"max": 50}),
        ("Write a letter. Must fit in 200 words.", {"max": 200}),
        ("Minimum length: 250 words. Explain DNS.", {"min": 250}),
        ("Explain DNS. Minimum word count: 350.", {"min": 350}),
        ("Upper limit: 95 words. Explain DNS.", {"max": 95}),
        ("Somewhere in the range of 100 to 130 words on DNS.", {"min": 100, "max": 130}),
        ("Word budget: 120. Explain DNS.", {"max": 120}),
        ("Word maximum: 140. Explain DNS.", {"max": 140}),
        ("55 words at the outside. Explain DNS.", {"max": 55}),
        ("Hit at least 500 words on DNS.", {"min": 500}),
        ("No sentence longer than 20 words. Explain DNS.", {"max": 20, "each": "sentence"}),
        ("An email, under 120 words, three paragraphs.", {"max": 119}),
    ],
)
def test_a_limit_may_be_said_in_many_ways(task, bounds):
    assert {"check": "word_count", **bounds} in derive(task)


@pytest.mark.parametrize(
    ("task", "check"),
    [
        pytest.param(
            'Must contain: "steel".', {"check": "contains", "texts": ["steel"], "whole_words": False}, id="1"
        ),
        pytest.param(
            "The text must not have more than 8 words and has to be in capital letters.",
            {"check": "letter_case", "style": "upper"},
            id="shared subject",
        ),
        pytest.param(
            "Nothing in your answer should be capitalised.",
            {"check": "letter_case", "style": "lower"},
            id="nothing",
        ),
        pytest.param("Style: lowercase only.", {"check": "letter_case", "style": "lower"}, id="label"),
        pytest.param(
            "Colons and semicolons are not wanted.", {"check": "punctuation", "mark": ":"}, id="two refused"
        ),
        pytest.param(
            'Write a blurb (no emojis, must include "oak").',
            {"check": "contains", "texts": ["oak"], "whole_words": False},
            id="after a refusal",
        ),
        pytest.param(
            'Under no circumstances use the word "oak".', {"check": "excludes", "texts": ["oak"]}, id="never"
        ),
        pytest.param(
            "Three stanzas of four lines each.",
            {"check": "paragraph_count", "exactly": 3},
            id="each of the second",
        ),
        pytest.param(
            "Schreibe einen Text über Wien, der mit „Servus!“ endet.",
            {"check": "ends_with", "text": "Servus!"},
            id="German clause",
        ),
        pytest.param(
            'Requirements: no lists, "oak" at least three times.',
            {"check": "occurrences", "text": "oak", "min": 3, "whole_words": False},
            id="no noun",
        ),
        pytest.param("Just the JSON, please: three fruits.", {"check": "json"}, id="just the"),
        pytest.param(
            "No fewer than three paragraphs and no more than five on the war.",
            {"check": "paragraph_count", "max": 5},
            id="second bound",
        ),
        pytest.param('Keep "oak" out of it.', {"check": "excludes", "texts": ["oak"]}, id="kept out"),
        pytest.param(
            "Forbidden: exclamation marks.", {"check": "punctuation", "mark": "!"}, id="forbidding label"
        ),
        pytest.param('No usage of the word "foo".', {"check": "excludes", "texts": ["foo"]}, id="usage"),
        pytest.param(
            'First words: "Breaking news"', {"check": "starts_with", "text": "Breaking news"}, id="first"
        ),
        pytest.param('Begin directly with "Sure"', {"check": "starts_with", "text": "Sure"}, id="adverb"),
        pytest.param(
            "Write a text in Swedish about cats.", {"check": "language", "code": "sv"}, id="new text"
        ),
        pytest.param(
            'Write about the wind; 8 lines, no letter "x".',
            {"check": "letter_count", "letter": "x", "max": 0},
            id="no letter",
        ),
        pytest.param(
            'Write about the wind, not one letter "x" in it.',
            {"check": "letter_count", "letter": "x", "max": 0},
            id="not one letter",
        ),
        pytest.param(
            "Plan a trip with a bulleted packing list and a numbered list of stops.",
            {"check": "list_item_count", "marker": "bullet", "min": 2},
            id="a noun before the list",
        ),
        pytest.param(
            "Don't use any colons or dashes.",
            {"check": "regex", "pattern": r"[–—]|\S --? \S", "matches": False},
            id="dashes",
        ),
        pytest.param(
            'The first word must be "Up" and the last word must be "down".',
            {"check": "ends_with", "text": "down"},
            id="the last word beside the first",
        ),
        pytest.param(
            'Tell me a story that mentions "oak" at least twice.',
            {"check": "occurrences", "text": "oak", "min": 2, "whole_words": False},
            id="a story to tell",
        ),
        pytest.param(
            "Write three bullets, each under 15 words.",
            {"check": "list_item_count", "marker": "bullet", "exactly": 3},
            id="each with a bound",
        ),
    ],
)
def test_a_statement_may_leave_words_out(task, check):
    assert check in derive(task)
