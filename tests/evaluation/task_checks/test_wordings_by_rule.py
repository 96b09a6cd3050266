"""Rules of the grammar that hold for any noun and any verb: each with sentences that only this rule reads."""

import pytest

from evaluation.task_checks import derive_checks


def derive(task):
    derived = derive_checks(task)
    return [
        {"check": check.check, **check.model_dump(exclude_defaults=True, exclude={"quote"})}
        for check in derived.checks
    ]


def words(**bounds):
    return [{"check": "word_count", **bounds}]


@pytest.mark.parametrize(
    ("task", "bounds"),
    [
        ("Explain DNS. 100 words, no more.", {"max": 100}),
        ("Write a blurb of 60 words, maximum.", {"max": 60}),
        ("Explain DNS. 100 words, no less.", {"min": 100}),
        ("Explain DNS. 100 words, no more, no less.", {"exactly": 100}),
        ("Text me the gist (≤ 40 words).", {"max": 40}),
    ],
)
def test_a_bound_may_follow_its_number(task, bounds):
    assert derive(task) == words(**bounds)


@pytest.mark.parametrize(
    ("task", "bounds"),
    [
        ("Anything beyond 300 words will be cut.", {"max": 300}),
        ("Nothing shorter than 100 words will be accepted.", {"min": 100}),
        ("An answer of 50 words or more would be too long. What is a fjord?", {"max": 49}),
        ("Texts with fewer than 80 words are rejected. Describe Rome.", {"min": 80}),
    ],
)
def test_a_verdict_on_an_amount_turns_its_bound_around(task, bounds):
    assert derive(task) == words(**bounds)


@pytest.mark.parametrize(
    ("task", "check"),
    [
        ("Summarise the memo in bullet points, six at most.", {"marker": "bullet", "max": 6}),
        ("List the rivers as bullets; limit yourself to eight.", {"marker": "bullet", "max": 8}),
    ],
)
def test_a_bound_without_a_noun_belongs_to_the_noun_before(task, check):
    assert derive(task) == [{"check": "list_item_count", **check}]


@pytest.mark.parametrize(
    "task",
    [
        "The text mustn't contain a single comma.",
        "Do not put a single comma anywhere in the text.",
    ],
)
def test_a_single_after_a_negation_is_none(task):
    assert derive(task) == [{"check": "punctuation", "mark": ","}]


def test_a_number_of_some_of_the_words_is_no_number_of_all_words():
    task = 'At least two of the words "oak", "elm" and "ash" should be used.'

    assert [check["check"] for check in derive(task)] == ["contains"]


@pytest.mark.parametrize(
    ("task", "bounds"),
    [
        ("Boil the novel down to at most 30 words.", {"max": 30}),
        ("Distil my notes into no more than 80 words.", {"max": 80}),
        ("You have 50 words at most to convince me to visit Oslo.", {"max": 50}),
        ("I would appreciate a reply that stays under 90 words.", {"max": 89}),
        ("Could you, in no more than 30 words, wish my colleague well?", {"max": 30}),
    ],
)
def test_any_verb_can_order(task, bounds):
    assert derive(task) == words(**bounds)


@pytest.mark.parametrize(
    "task",
    [
        "Give me your opinion about essays with exactly five paragraphs.",
        "Which is better in a slogan, three words or five words?",
        'Describe a village where every sentence ends with "amen".',
    ],
)
def test_the_size_of_what_a_task_is_about_demands_nothing(task):
    assert derive(task) == []
