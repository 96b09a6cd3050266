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


@pytest.mark.parametrize(
    ("task", "bounds"),
    [
        ("Limit every sentence to 12 words.", {"max": 12, "each": "sentence"}),
        ("Sentences must be no longer than 20 words.", {"max": 20, "each": "sentence"}),
    ],
)
def test_a_number_holds_for_the_unit_that_is_its_subject(task, bounds):
    assert derive(task) == words(**bounds)


@pytest.mark.parametrize(
    ("task", "check"),
    [
        ("No more than a sentence, please.", {"check": "sentence_count", "max": 1}),
        ("Write at most a hundred and twenty words.", {"check": "word_count", "max": 120}),
        ("Write two to three hundred words on bees.", {"check": "word_count", "min": 200, "max": 300}),
        ("Write 100 words or so on bees.", {"check": "word_count", "min": 90, "max": 110}),
        ("Write 2k words at most.", {"check": "word_count", "max": 2000}),
        ("A note on bees, word limit 65", {"check": "word_count", "max": 65}),
        ("100 words on bees, at most.", {"check": "word_count", "max": 100}),
    ],
)
def test_numbers_are_written_in_many_ways(task, check):
    assert derive(task) == [check]


@pytest.mark.parametrize(
    "task",
    [
        "Write about tea. Give it a melancholic mood.",
        "Write about tea. Keep a formal tone.",
        "Write about tea. Each should be warm.",
        "Write about tea. Open with a quote from a philosopher.",
        "Write about tea. Cite your sources.",
    ],
)
def test_an_order_that_no_rule_reads_is_unchecked(task):
    assert derive_checks(task).unchecked


def test_the_keys_of_json_are_no_words_to_contain():
    assert derive('Reply with a JSON object containing "title" and "year".') == [
        {"check": "json", "root": "object", "keys": ["title", "year"]}
    ]


@pytest.mark.parametrize(
    ("task", "texts"),
    [
        ('No "however", no "moreover".', ["however", "moreover"]),
        ('The reply may contain neither "cost" nor "price".', ["cost", "price"]),
    ],
)
def test_words_after_no_and_neither_are_forbidden(task, texts):
    forbidden = [text for check in derive_checks(task).checks for text in check.texts]

    assert forbidden == texts


def test_a_text_may_begin_and_end_with_the_same_words():
    assert derive('It should both begin and end with "Alas".') == [
        {"check": "starts_with", "text": "Alas"},
        {"check": "ends_with", "text": "Alas"},
    ]


def test_what_is_optional_is_not_checked():
    assert derive('Optional: end with "Yours". Write a note to the janitor.') == []


@pytest.mark.parametrize(
    "task",
    [
        "The witness must answer yes or no, the judge insisted. What are his rights?",
        "Name books with one-word titles.",
        "Create a contest for stories of at most 100 words.",
        "The abstracts of most journals have between 150 and 250 words. Why is this so?",
    ],
)
def test_what_persons_and_other_texts_must_do_is_not_checked(task):
    assert derive(task) == []


def test_each_after_a_number_of_units_is_each_of_them():
    assert derive('Write four lines on gold, each starting with "Gold".') == [
        {"check": "line_count", "exactly": 4},
        {"check": "starts_with", "text": "Gold", "each": "line"},
    ]


def test_a_requirement_that_follows_a_title_is_not_of_the_title():
    assert {"check": "heading_count", "min": 3} in derive(
        "Write it with a title and at least three headings."
    )


def test_the_start_of_a_part_is_unchecked():
    assert derive_checks('The second section has to start with "Therefore".').unchecked


@pytest.mark.parametrize(
    ("task", "check"),
    [
        ("I'd be glad if your answer had three paragraphs.", {"check": "paragraph_count", "exactly": 3}),
        ("Would you mind answering in French?", {"check": "language", "code": "fr"}),
        ("I'd prefer if you didn't use commas.", {"check": "punctuation", "mark": ","}),
        ("A poem in Welsh with four lines.", {"check": "line_count", "exactly": 4}),
        ("Hopefully under 100 words! Topic: salt.", {"check": "word_count", "max": 99}),
        ("Nothing longer than 40 words, please!", {"check": "word_count", "max": 40}),
        ("It may be neither shorter than 90 nor longer than 99 words.", {"check": "word_count", "min": 90}),
    ],
)
def test_wishes_and_notes_are_demands(task, check):
    assert check in derive(task)
