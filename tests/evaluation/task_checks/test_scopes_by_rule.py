"""Exceptions, parts and tolerances: what holds for some of the output has no check of the whole output."""

import pytest

from evaluation.task_checks import derive_checks


def derive(task):
    return [check.model_dump(exclude={"quote", "severity"}, exclude_defaults=True) for check in read(task)]


def read(task):
    return derive_checks(task).checks


@pytest.mark.parametrize(
    "task",
    [
        pytest.param("Write a note without commas, except in the list.", id="exception after"),
        pytest.param("Apart from the last line, no line may contain a comma.", id="exception before"),
        pytest.param("All lowercase, except for names.", id="exception of a case"),
        pytest.param("Each stanza has many words, except the last, which gets just two.", id="about it"),
        pytest.param("Please add no trailing spaces.", id="only some spaces"),
        pytest.param("Name some birds. No bullet ends with a full stop.", id="property of bullets"),
        pytest.param('Start the lines with "Dear" or "Hello".', id="one of two texts"),
        pytest.param('Write my rules. Rule 8 begins with "Thanks".', id="one item"),
        pytest.param("Name the river (two words) on line one.", id="line in words"),
        pytest.param("Title on the first line, in ALL CAPS.", id="title"),
        pytest.param("Small boats in lowercase, big ones in UPPERCASE.", id="some of them"),
        pytest.param("Schreib es, und im letzten Absatz soll zweimal das Wort „Eis“ stehen.", id="clause"),
        pytest.param("One for juniors (3 words), one for seniors.", id="one for"),
        pytest.param("Show the grid as an HTML table.", id="table of another kind"),
    ],
)
def test_parts_and_exceptions_have_no_check(task):
    checks = [check for check in derive(task) if check["check"] != "one_of"]

    assert checks == []
    assert derive_checks(task).unchecked or derive(task)


@pytest.mark.parametrize(
    ("task", "check"),
    [
        ("Write about ten sentences on cats.", {"check": "sentence_count", "min": 9, "max": 11}),
        ("Write 300 words, give or take 20.", {"check": "word_count", "min": 280, "max": 320}),
        ("Write 300 words (± 10) on bees.", {"check": "word_count", "min": 290, "max": 310}),
        ("Der Text muss länger als 40 und kürzer als 90 Wörter sein.", {"check": "word_count", "min": 41}),
        ("All lowercase, except names, and at most 50 words.", {"check": "word_count", "max": 50}),
        ("Write a tale. No bullet points may be used.", {"check": "list_item_count", "max": 0}),
        ('Write a story. The word "sand" may be used once.', {"check": "occurrences", "max": 1}),
        ("Table with the columns Name, Price, Size.", {"check": "table"}),
    ],
)
def test_bounds_that_hold_for_the_output_are_read(task, check):
    assert any(check.items() <= found.items() for found in derive(task))


@pytest.mark.parametrize(
    ("task", "check"),
    [
        ("Kannst du mir bitte ein Lied mit genau vier Zeilen schreiben?", {"check": "line_count"}),
        ("Erstelle einen Aushang. Ausrufezeichen vermeiden.", {"check": "punctuation", "mark": "!"}),
        ("Schreibe einen Text. Das Wort „Eis“ nicht erwähnen.", {"check": "excludes", "texts": ["Eis"]}),
        ("Er darf nicht mit „Oh“ beginnen und soll das Wort „Ei“ enthalten.", {"check": "contains"}),
        ("Schreibe es. Darin soll zweimal das Wort „Eis“ vorkommen.", {"check": "occurrences", "exactly": 2}),
    ],
)
def test_german_verbs_at_the_end_are_read(task, check):
    assert any(check.items() <= found.items() for found in derive(task))


@pytest.mark.parametrize(
    ("task", "check"),
    [
        ("Write 4 riddles with three hints each. Put a line of five dashes between the riddles.", 4),
        ("Write two poems. Put ten stars between the poems.", 2),
    ],
)
def test_parts_between_separators_are_counted_by_their_name(task, check):
    assert check in [found.get("exactly") for found in derive(task) if found["check"] == "part_count"]
