"""Tables whose size a later sentence tells, and first and last words that are refused or alternatives."""

import pytest

from evaluation.checks import CheckContext
from evaluation.task_checks import derive_checks


def derive(task):
    derived = derive_checks(task)
    return [
        {"check": check.check, **check.model_dump(exclude_defaults=True, exclude={"quote"})}
        for check in derived.checks
    ]


@pytest.mark.parametrize(
    ("task", "fields"),
    [
        ("Show it in a table. Two columns (Pro, Contra), 4 rows plus header.", {"rows": 4, "columns": 2}),
        ("Put it in a table. Columns: name, price. No cell may be empty.", {"header": ["name", "price"]}),
        ("Show my costs in a table. Rows are months.", None),
        ("Make a table of my costs. My old one had 12 columns.", None),
        ("Compare them in a table with 3 columns and at least five rows.", {"columns": 3}),
        ("Put it in a table with 5 rows including the header.", None),
        ("Make a table with one row per month.", None),
    ],
)
def test_the_size_of_a_table(task, fields):
    tables = [check for check in derive(task) if check["check"] == "table"]
    assert tables
    found = {name: value for table in tables for name, value in table.items() if name != "check"}
    assert (found | (fields or {})) == found if fields else not found


@pytest.mark.parametrize(
    ("task", "good", "bad"),
    [
        ('The caption must not start with "Photo of".', "A dog.", "Photo of a dog."),
        ('It may neither begin with "Hi" nor with "Hey".', "Hiking is fun.", "Hey, you."),
        ("Der Text darf nicht mit „Über“ enden.", "Überall", "Das ist über."),
        ('Do not end your reply with "Bye!".', "Good bye", "See you. Bye!"),
        ('Begin with either "Sure" or "Of course".', "Of course I can.", "I can."),
        ('Start your answer with "Yes" or "No".', "No. Yes is wrong.", "Maybe."),
    ],
)
def test_refused_and_alternative_edges(task, good, bad):
    checks = derive_checks(task).checks
    assert [check.check for check in checks] == ["regex"]
    assert checks[0].evaluate(CheckContext(good)).passed is True
    assert checks[0].evaluate(CheckContext(bad)).passed is False


@pytest.mark.parametrize(
    ("task", "check"),
    [
        ('Rules:\n1. No rhymes.\n2. Last line is "Farewell."', {"check": "ends_with", "text": "Farewell."}),
        ("Write to my landlord. Finish with the line END.", {"check": "ends_with", "text": "END"}),
        ('Write a toast, and at the end "Cheers!"', {"check": "ends_with", "text": "Cheers!"}),
        (
            'Write two sentences on bees, the second beginning with "Thus".',
            {"check": "word_at", "word": "Thus", "position": 1, "unit": "sentence", "number": 2},
        ),
        (
            "Answer in five words with a full stop at the end.",
            {"check": "punctuation", "mark": ".", "use": "end_of_text"},
        ),
        ("Write a bio without line breaks.", {"check": "line_count", "exactly": 1}),
        (
            'Write an ad. Please include:\n- a price\n- the words "new" and "red"',
            {"check": "contains", "texts": ["new", "red"], "whole_words": False},
        ),
        (
            "Make a packing list as bullets with at least 8 and at most 12 bullets.",
            {"check": "list_item_count", "min": 8, "marker": "bullet"},
        ),
    ],
)
def test_edges_and_items_have_checks(task, check):
    assert check in derive(task)


@pytest.mark.parametrize(
    "task",
    [
        "Write a sonnet with a title of one word.",
        'Write a poem, each line beginning with "You can" or "You can\'t".',
        'No sentence may begin with "I".',
        "Repeat the question word for word, then answer it in at most 9 words.\n\nWhy do cats purr?",
        "Write two sentences, then a line with a link.",
        "Inside each section: weight in kg, a one-sentence verdict.",
        'Do not use:\n- the words "new" and "red"',
    ],
)
def test_what_holds_for_a_part_has_no_check(task):
    kinds = {"line_count", "one_of", "regex", "word_count", "sentence_count", "contains"}
    derived = derive_checks(task)
    assert not [check for check in derived.checks if check.check in kinds and "each" not in check.quote]
    assert derived.unchecked


@pytest.mark.parametrize(
    ("task", "check"),
    [
        ("Describe Rome. No word may be longer than six letters.", "[\\p{L}\\p{M}]{7,}"),
        ("Describe Rome using only words of at most 5 letters.", "[\\p{L}\\p{M}]{6,}"),
    ],
)
def test_the_length_of_words_is_a_pattern(task, check):
    assert derive(task) == [{"check": "regex", "pattern": check, "matches": False}]


@pytest.mark.parametrize(
    "task",
    [
        "Use at most three words longer than 6 letters.",
        'Write 3 lines starting with "A" and 2 lines starting with "B".',
        "Write an outline: six numbered headings about Rome.",
        "Write two stanzas with lines of at most 6 words.",
    ],
)
def test_some_words_and_lines_have_no_check_of_all(task):
    derived = derive_checks(task)
    assert {check.check for check in derived.checks} <= {"paragraph_count"}
    assert derived.unchecked


def test_sentences_in_the_plural_are_each_sentence():
    each = {"check": "word_count", "max": 8, "each": "sentence"}
    assert derive("Explain tides, using only sentences of 8 words or less.") == [each]
    assert derive("Antworte in Sätzen mit höchstens 8 Wörtern.") == [each]
    assert {"check": "starts_with", "text": "- [ ]", "each": "line"} in derive(
        'Make a checklist: lines beginning with "- [ ]", twelve of them.'
    )


@pytest.mark.parametrize(
    ("task", "check"),
    [
        ('Write it in three sections: "Start", "Middle" and "End".', {"check": "contains"}),
        ('Write four parts, headed "A B", "C D" and "E F" in that order.', {"check": "template"}),
        ("Write a review with the sections called Plot, Cast and Verdict.", {"check": "contains"}),
    ],
)
def test_the_names_of_sections_have_to_occur(task, check):
    assert any(check.items() <= found.items() for found in derive(task))


def test_sections_of_a_given_text_have_no_names():
    assert not derive("My report has sections called Plot and Cast. Write an intro.")


def test_a_bound_before_a_statement_about_a_part_is_read():
    derived = derive_checks("Write a toast. At most 5 sentences, the first one is a joke.")
    assert [check.check for check in derived.checks] == ["sentence_count"]
    assert derived.unchecked == ("the first one is a joke",)
    assert not derive("Tell me more. Under 40 words, the last line was useless.")
