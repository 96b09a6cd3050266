"""Demands of a part of the output, of which no check may hold for the whole output."""

import pytest

from evaluation.task_checks import derive_checks


def derive(task):
    derived = derive_checks(task)
    return [
        {"check": check.check, **check.model_dump(exclude_defaults=True, exclude={"quote"})}
        for check in derived.checks
    ]


@pytest.mark.parametrize(
    ("task", "check"),
    [
        (
            "Write two sentences. Neither sentence may have more than 15 words.",
            {"max": 15, "each": "sentence"},
        ),
        ("Write two paragraphs, neither of them over 60 words.", {"max": 60, "each": "paragraph"}),
        ("Answer in five bullet points, none longer than 8 words.", {"max": 8, "each": "list_item"}),
        ("Schreibe drei Verse, kein Vers hat mehr als sechs Wörter.", {"max": 6, "each": "line"}),
        ("Schreibe drei Absätze; kein Absatz über 40 Wörter.", {"max": 40, "each": "paragraph"}),
        ("Kein Punkt der Liste darf mehr als fünf Wörter haben.", {"max": 5, "each": "list_item"}),
        ("Erkläre Ebbe und Flut, insgesamt nicht über 60 Wörter.", {"max": 60}),
        ("Erkläre Ebbe und Flut in bis zu 60 Wörtern.", {"max": 60}),
        ("Write a toast of 150 words, give or take ten.", {"min": 140, "max": 160}),
        ("Write a toast of 200 words (±5%).", {"min": 190, "max": 210}),
    ],
)
def test_a_number_of_words_holds_for_its_unit(task, check):
    assert {"check": "word_count", **check} in derive(task)


@pytest.mark.parametrize(
    ("task", "unchecked"),
    [
        ("I need 4 quiz questions, each ending with a question mark.", "ending with a question mark"),
        ("Gib mir 8 Namen, keiner länger als 3 Wörter.", "länger als 3 Wörter"),
        ("Write a poster text. All caps for the headline.", "All caps"),
        ("Label the two sides with FOR and AGAINST in capitals.", "in capitals"),
        ("The mail: greeting line, blank line, one paragraph, blank line, my name.", "one paragraph"),
        ("Give me the code. After the code, a single sentence of explanation.", "single sentence"),
        ('End with "Kind regards," followed by a placeholder on the next line.', 'End with "Kind regards,"'),
        ('Write ten words; at least six of them should begin with "k".', 'begin with "k"'),
        ("Write a song with 2 verses and a chorus.", "2 verses"),
        ("List the tools. Each tool is a separate paragraph.", "Each tool is a separate paragraph"),
        ("Use two sections with the same number of bullets.", "two sections"),
        ("The number of words in each answer must be 10.", "number of words in each answer must be 10"),
    ],
)
def test_what_holds_for_a_part_has_no_check_of_the_whole_output(task, unchecked):
    derived = derive_checks(task)
    assert unchecked in derived.unchecked
    assert not any(check.check != "list_item_count" for check in derived.checks if check.quote == unchecked)


def test_a_size_per_item_is_no_size_of_the_list():
    assert derive("List the planets as bullets, one planet per bullet.") == [
        {"check": "list_item_count", "min": 2, "marker": "bullet"}
    ]


def test_the_columns_of_a_table_may_have_letters_of_any_alphabet():
    task = "Gib mir eine Tabelle mit 3 Spalten: Größe, Währung, Übung."
    assert {"check": "table", "columns": 3, "header": ["Größe", "Währung", "Übung"]} in derive(task)


@pytest.mark.parametrize(
    "task",
    [
        "No bullet point may have more than 8 words.",
        "No list item in the whole answer should be longer than 8 words.",
    ],
)
def test_a_limit_of_each_thing_forbids_no_thing(task):
    assert derive(task) == [{"check": "word_count", "max": 8, "each": "list_item"}]
