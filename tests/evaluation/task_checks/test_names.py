"""Words that a task names without quotation marks, and single parts that it orders."""

import pytest

from evaluation.task_checks import derive_checks


def derive(task):
    return [
        {"check": check.check, **check.model_dump(exclude_defaults=True, exclude={"quote"})}
        for check in derive_checks(task).checks
    ]


def contains(*texts):
    return {"check": "contains", "texts": list(texts), "whole_words": False}


@pytest.mark.parametrize(
    ("task", "checks"),
    [
        ("Write a job ad. Mention SQL and Python.", [contains("SQL", "Python")]),
        (
            "Write a plan that includes Paris, New York and the Hague.",
            [contains("Paris", "New York", "Hague")],
        ),
        ("Sum up the play, but don't mention Ophelia.", [{"check": "excludes", "texts": ["Ophelia"]}]),
        ("Write a post. Mention Oslo or Bergen.", [{**contains("Oslo", "Bergen"), "at_least": 1}]),
        (
            "Write a tale. Mention Ida at least twice.",
            [{"check": "occurrences", "text": "Ida", "min": 2, "whole_words": False}],
        ),
        ("Write a post. Include the hashtag #vanlife.", [contains("#vanlife")]),
        ("Write a post that ends with #flowers.", [{"check": "ends_with", "text": "#flowers"}]),
        (
            "Write a note. Include our site https://a.example/b and the hashtag #ab.",
            [contains("https://a.example/b", "#ab")],
        ),
    ],
)
def test_names_and_addresses_need_no_quotation_marks(task, checks):
    assert derive(task) == checks


@pytest.mark.parametrize(
    "task",
    [
        "Mention Paris fashion in the text.",
        "Include Spanish subtitles.",
        "Include FAQs and mention JSON.",
        "MENTION PRICE AND DATE.",
        "Erwähne Preis und Lieferzeit in einem kurzen Text für meine Kunden.",
        "Write about a man who mentions Paris in a letter.",
    ],
)
def test_capital_letters_that_are_no_name_give_no_check(task):
    assert derive(task) == []


@pytest.mark.parametrize(
    ("task", "checks"),
    [
        (
            "Write a page. Include two links and an e-mail address.",
            [{"check": "url_count", "exactly": 2}, {"check": "email_count", "min": 1}],
        ),
        ("Write a query and put it in a code block.", [{"check": "code_block_count", "min": 1}]),
        ("Write a poem. Do not include a link.", [{"check": "url_count", "max": 0}]),
        ("Describe a page. Include a link in each paragraph.", []),
    ],
)
def test_an_article_counts_a_part(task, checks):
    assert derive(task) == checks
