from hypothesis import given
from hypothesis import strategies as st

from evaluation.checks import CheckContext
from evaluation.task_checks.derivation import derive_checks


def derive(task):
    return [
        check.model_dump(exclude_defaults=True, exclude={"quote"}) for check in derive_checks(task).checks
    ]


def judge(task, output):
    return [check.evaluate(CheckContext(output)).passed for check in derive_checks(task).checks]


READ = [
    ("Describe a tree in at most 50 words.", [{"check": "word_count", "max": 50}]),
    ("Write a note of 80 to 120 words.", [{"check": "word_count", "min": 80, "max": 120}]),
    ("Summarise it in exactly two sentences.", [{"check": "sentence_count", "exactly": 2}]),
    ("Write a 200-word story.", [{"check": "word_count", "min": 180, "max": 220}]),
    ("Write a bulleted list of 5 items.", [{"check": "list_item_count", "exactly": 5, "marker": "bullet"}]),
    ("Describe the sea. No commas.", [{"check": "excludes", "texts": [","]}]),
    ('Mention the words "tide" and "moon".', [{"check": "contains", "texts": ["tide", "moon"]}]),
    ('Do not use the word "very".', [{"check": "excludes", "texts": ["very"]}]),
    ('Use the word "sea" at least twice.', [{"check": "occurrences", "text": "sea", "min": 2}]),
    ("The letter q should appear at most 3 times.", [
        {"check": "occurrences", "text": "q", "whole_words": False, "max": 3}]),
    ('Start with "Dear all" and end with "Best, Tom".', [
        {"check": "starts_with", "text": "Dear all"}, {"check": "ends_with", "text": "Best, Tom"}]),
    ("Answer in German.", [{"check": "language", "code": "de"}]),
    ("Write a slogan in all capital letters.", [{"check": "letter_case", "style": "upper"}]),
    ("Return a JSON object.", [{"check": "json", "root": "object"}]),
    ("Return a JSON object with the keys id and name.", [
        {"check": "json", "root": "object", "keys": ["id", "name"]}]),
    ("Add a table with 3 columns.", [{"check": "table", "columns": 3}]),
    ("Is it a city? Answer with one word.", [{"check": "word_count", "exactly": 1}]),
    ("Nenne Flüsse in höchstens 20 Wörtern.", [{"check": "word_count", "max": 20}]),
    ("Antworte auf Englisch und ohne Kommas.", [
        {"check": "language", "code": "en"}, {"check": "excludes", "texts": [","]}]),
]  # fmt: skip


def test_a_demand_becomes_a_check(subtests):
    for task, checks in READ:
        with subtests.test(task=task, checks=checks):
            assert derive(task) == checks


UNCHECKED = [
    ("Write a note with 3 consecutive words in bold.", "3 consecutive"),
    ("Give each title in 5 words.", "in 5 words"),
    ("List the rivers, with at most 10 words per item.", "at most 10 words"),
    ("Write two paragraphs on A and two paragraphs on B.", "two paragraphs"),
    ("Use the word red or the word blue, with three metaphors.", "three metaphors"),
    ("Summarise this e-mail.\n\nDear team, use at most 20 words in your reports.", "at most 20 words"),
    ('The last sentence should mention the word "sea".', 'mention the word "sea"'),
    ("Write a script that prints names. At most 3 lines.", "At most 3 lines"),
    ("Skriv en dikt om havet", "Skriv en dikt om havet"),
]


def test_a_demand_that_may_mean_something_else_is_unchecked(subtests):
    for task, words in UNCHECKED:
        with subtests.test(task=task, words=words):
            derived = derive_checks(task)

            assert not [check for check in derived.checks if check.check != "json"]
            assert any(words in phrase for phrase in derived.unchecked)


MENTIONS = [
    "What is the difference between a haiku and a limerick of five lines?",
    "My teacher said essays should have five paragraphs. Why five?",
    "The password must contain at least 8 characters. Why is that safer?",
    'Proofread: "Please answer in at most fifty words."',
    "Write a story about a typist who was not allowed to use the letter a.",
    "In der Ausschreibung steht: höchstens 10 Seiten. Wie streng ist das?",
]


def test_what_is_only_mentioned_gives_no_check(subtests):
    for task in MENTIONS:
        with subtests.test(task=task):
            assert derive(task) == []


def test_an_output_is_judged_by_the_checks_of_its_task(subtests):
    link = "Include https://example.org/a in your post."
    keys = 'Return a JSON object with exactly the keys "id" and "name".'
    for task, output, passed in [
        ("List three fruits as 3 bullet points.", "- \n- \n- ", False),
        (link, "See https://example.org/a today", True),
        (link, "See https://evil.test/a today", False),
        (keys, '{"id": 1, "name": "a"}', True),
        (keys, '{"id": 1, "name": "a", "age": 3}', False),
        (keys, '{"id": 1}', False),
    ]:
        with subtests.test(task=task, output=output):
            assert judge(task, output) == [passed]


def test_two_exact_numbers_of_one_thing_are_unchecked():
    derived = derive_checks("Use exactly 50 words. Use exactly 10 words.")

    assert not derived.checks
    assert derived.unchecked == ("exactly 50 words", "exactly 10 words")


def test_of_a_very_long_task_the_start_is_read():
    derived = derive_checks("Answer in at most 5 words. " + "x " * 30_000 + "No commas.")

    assert [check.check for check in derived.checks] == ["word_count"]


@given(st.text(max_size=300))
def test_any_text_is_read_and_every_quote_stands_in_it(task):
    derived = derive_checks(task)

    assert all(check.quote in task for check in derived.checks)
    assert all(phrase in task for phrase in derived.unchecked)
