"""What users write, as they write it: few checks are wrong, and few requirements are lost without a word."""

import pytest

from evaluation.task_checks import derive_checks
from tests.evaluation.task_checks.users import ROWS, measure


@pytest.fixture(scope="module")
def shares():
    return {name: number / total for name, (number, total) in measure().items()}


def test_the_set_has_demands_and_mentions():
    demands = [row for row in ROWS if row["checks"] or row["unchecked"]]

    assert len(demands) >= 120
    assert len(ROWS) - len(demands) >= 40


def test_few_derived_checks_are_wrong_or_missing(shares):
    assert shares["precision"] >= 0.95
    assert shares["recall"] >= 0.60
    assert shares["whole set right"] >= 0.50


def test_a_mention_of_a_form_gives_no_check(shares):
    assert shares["mentions with a check"] == 0
    assert shares["mentions with unchecked words"] <= 0.10


def test_almost_no_task_claims_more_than_was_checked(shares):
    assert shares["tasks that claim too much"] <= 0.02
    assert shares["tasks with a lost requirement"] <= 0.20


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("Give me three tales from Oslo, below 90 words.", "three tales"),
        ("Write a note of at most 40 words. Sign it as Robin.", "Sign it as Robin"),
        ("Invent a toast in two sentences and put a smiley at the end.", "at the end"),
        ("Five rivers of Asia, separated by commas, all lowercase.", "separated by commas"),
        ("Describe snow in one sentence. Each word starts with the next letter.", "Each word"),
        ("Write 4 lines. Answer with at least 10 and at most 5 words.", "at most 5 words"),
    ],
)
def test_what_no_rule_reads_is_unchecked(task, words):
    assert any(words in phrase for phrase in derive_checks(task).unchecked)


@pytest.mark.parametrize(
    "task",
    [
        "I have 3 kids and 2 cats. Explain tides to them in at most 80 words.",
        "My landlord wrote in 2019 and wants 300 euros. Write a reply in two paragraphs.",
        "We are a team of 5 people. Write a slogan for us in one sentence.",
    ],
)
def test_the_story_around_a_task_requires_nothing(task):
    derived = derive_checks(task)

    assert len(derived.checks) == 1
    assert not derived.unchecked
