"""Numbers that stand for themselves, and demands that stand between other words."""

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
            "The text has to contain the number 2.71 twice.",
            {"check": "occurrences", "exactly": 2, "text": "2.71"},
        ),
        ("The year 1848 must stay in.", {"check": "contains", "texts": ["1848"]}),
        ("Die Zahl 1848 muss drinbleiben.", {"check": "contains", "texts": ["1848"]}),
        ("Don't mention the number 13.", {"check": "excludes", "texts": ["13"]}),
    ],
)
def test_a_number_may_stand_for_itself(task, check):
    fields = {"whole_words": False} if check["check"] != "excludes" else {}
    assert derive(task) == [{**check, **fields}]


@pytest.mark.parametrize("task", ["Give the number 10 bus a name.", "Explain the number 7 to my son."])
def test_a_number_of_a_name_stands_not_for_itself(task):
    assert derive(task) == []


@pytest.mark.parametrize(
    ("task", "check"),
    [
        ("Explain tides, not a word over 90.", {"check": "word_count", "max": 90}),
        ("Der Text fängt mit „Hallo“ an.", {"check": "starts_with", "text": "Hallo"}),
        ("Die Antwort schließt mit „Danke“.", {"check": "ends_with", "text": "Danke"}),
        ("Kannst du mir auf Englisch erklären, was Zinsen sind?", {"check": "language", "code": "en"}),
        ("Could you explain in French why tides exist?", {"check": "language", "code": "fr"}),
        ("Answer in French, even though I'm asking in English.", {"check": "language", "code": "fr"}),
        ("Limerick about a heron, please.", {"check": "line_count", "exactly": 5}),
        ("Use „Ende“ as your last word.", {"check": "ends_with", "text": "Ende"}),
        ('I want the word "gold" as the first word.', {"check": "starts_with", "text": "gold"}),
        ("Verwende kein einziges Mal das Wort „Gold“.", {"check": "excludes", "texts": ["Gold"]}),
        ("Das Wort „Gold“ darf kein einziges Mal vorkommen.", {"check": "excludes", "texts": ["Gold"]}),
        ("Benutze nie das Wort „Gold“ im Text.", {"check": "excludes", "texts": ["Gold"]}),
        ("Taboo words: gold, silver", {"check": "excludes", "texts": ["gold", "silver"]}),
        ("Forbidden: the words gold and silver.", {"check": "excludes", "texts": ["gold", "silver"]}),
        ("Explain tides. Hard cap: 4 sentences; be kind.", {"check": "sentence_count", "max": 4}),
        ("Begrüße sie in höchstens fünf Sätzen.", {"check": "sentence_count", "max": 5}),
        ("Convert these notes to a markdown table.", {"check": "table"}),
        ("Is a whale a fish? Yes or no.", {"check": "one_of", "options": ["Yes", "no"]}),
        (
            "Tell me a tale. Fish should come up, and wrap the whole reply in double quotation marks.",
            {"check": "quoted", "style": "double"},
        ),
    ],
)
def test_one_demand_has_one_check(task, check):
    assert derive(task) == [check]


def test_each_of_several_words_has_its_own_number():
    checks = derive('Use "gold" twice and "silver" three times.')
    assert [(check["text"], check["exactly"]) for check in checks] == [("gold", 2), ("silver", 3)]


@pytest.mark.parametrize(
    "task", ["Rewrite it as a story about a table.", 'No-go terms: "gold", silver(s), tin']
)
def test_what_cannot_be_read_has_no_check(task):
    assert not [check for check in derive(task) if check["check"] in {"table", "contains"}]
