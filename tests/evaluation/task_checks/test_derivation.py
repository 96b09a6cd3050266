"""What a task states becomes checks; what it only mentions does not."""

import json
import random
from functools import reduce
from pathlib import Path

import pytest

from evaluation.checks import read_checks
from evaluation.task_checks import derive_checks
from tests.evaluation.checks.ifeval import PROMPTS, read_prompts, to_checks
from tests.evaluation.task_checks.labels import JUDGED
from tests.evaluation.task_checks.scoring import Score, add, compare

FOLDER = Path(__file__).parent


def read_lines(name):
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


DEMANDS = read_lines("demands.jsonl")
WORDINGS = read_lines("wordings.jsonl")
"""Other wordings of the same demands; three of them at once in "joined".

The rules were mended with the part "seen" in view, and without the part "unseen".
"""
REQUESTS = read_lines("requests.jsonl")
"""Terse, polite and German requests, mentions of forms, and requirements of parts, with what each requires.

The rules were mended with the part "seen" in view, and without the part "unseen".
"""
MENTIONS = [row["task"] for row in read_lines("mentions.jsonl")]


def derive(task):
    """Return the checks as plain data without their quotes."""
    derived = derive_checks(task)
    plain = [check.model_dump(exclude_defaults=True, exclude={"quote"}) for check in derived.checks]
    return [{"check": check.check, **fields} for check, fields in zip(derived.checks, plain, strict=True)]


def score(pairs):
    return reduce(add, (compare(wanted, derive_checks(task).checks, kinds) for task, wanted, kinds in pairs))


def assert_targets(total: Score):
    assert total.right / (total.right + total.wrong + total.beyond) >= 0.97, total
    assert total.right / (total.right + total.missed) >= 0.92, total
    assert total.whole / total.tasks >= 0.85, total


def test_the_requirements_of_own_tasks_become_checks():
    assert len(DEMANDS) >= 150

    assert_targets(score((row["task"], read_checks(row["checks"]), ()) for row in DEMANDS))


@pytest.mark.parametrize("part", ["seen", "unseen", "joined"])
def test_other_wordings_of_a_demand_become_checks(part):
    rows = [row for row in WORDINGS if row["part"] == part]
    assert len(rows) >= 100

    total = score((row["task"], read_checks(row["checks"]), ()) for row in rows)

    assert total.right / (total.right + total.wrong + total.beyond) >= 0.97, total
    assert total.right / (total.right + total.missed) >= 0.92, total
    assert total.whole / total.tasks >= 0.91, total


@pytest.mark.parametrize(
    ("part", "precision", "recall", "whole"), [("seen", 0.97, 0.95, 0.94), ("unseen", 0.87, 0.76, 0.75)]
)
def test_requests_in_unusual_wordings_become_checks(part, precision, recall, whole):
    rows = [row for row in REQUESTS if row["part"] == part]
    assert len(rows) >= 140

    total = score((row["task"], read_checks(row["checks"]), ()) for row in rows)

    assert total.right / (total.right + total.wrong + total.beyond) >= precision, total
    assert total.right / (total.right + total.missed) >= recall, total
    assert total.whole / total.tasks >= whole, total


def test_at_most_two_in_a_hundred_mentions_of_a_form_get_a_check():
    assert len(MENTIONS) >= 100

    assert len([task for task in MENTIONS if derive_checks(task).checks]) <= 0.02 * len(MENTIONS)


@pytest.mark.skipif(not PROMPTS.is_file(), reason="needs IFEval's prompts in $EVALUATION_DATA/ifeval")
def test_the_labels_of_ifeval_are_derived_from_its_prompts():
    def labelled():
        for prompt in read_prompts():
            pairs = zip(prompt["instruction_id_list"], prompt["kwargs"], strict=True)
            wanted = [check for name, arguments in pairs for check in read_checks(to_checks(name, arguments))]
            yield prompt["prompt"], wanted, JUDGED.get(prompt["key"], ())

    assert_targets(score(labelled()))


@pytest.mark.parametrize("task", [row["task"] for row in DEMANDS])
def test_what_is_derived_quotes_the_task_literally(task):
    derived = derive_checks(task)

    assert all(check.quote in task for check in derived.checks)
    assert all(words in task for words in derived.unchecked)


@pytest.mark.parametrize(
    ("words", "bounds"),
    [
        ("less than 5", {"max": 4}),
        ("fewer than twenty", {"max": 19}),
        ("more than 5", {"min": 6}),
        ("no more than twenty-five", {"max": 25}),
        ("no fewer than a dozen", {"min": 12}),
        ("between 3 and 7", {"min": 3, "max": 7}),
        ("3-7", {"min": 3, "max": 7}),
        ("3–7", {"min": 3, "max": 7}),
        ("5 or 6", {"min": 5, "max": 6}),
        ("10 or more", {"min": 10}),
        ("10+", {"min": 10}),
        ("half a dozen", {"exactly": 6}),
        ("up to 9", {"max": 9}),
        ("a maximum of 9", {"max": 9}),
        ("exactly one hundred", {"exactly": 100}),
        ("at least 1,000", {"min": 1000}),
    ],
)
def test_quantities_keep_their_comparators(words, bounds):
    assert derive(f"Describe the sea in {words} sentences.") == [{"check": "sentence_count", **bounds}]


@pytest.mark.parametrize(
    ("task", "check"),
    [
        ('Do not forget to mention "oak".', {"check": "contains", "texts": ["oak"], "whole_words": False}),
        ("Answer in sixty words at most.", {"check": "word_count", "max": 60}),
        ("It must not have commas and have fewer than 90 words.", {"check": "word_count", "max": 89}),
        ("Do not use the word oak more than 4 times.", {"check": "occurrences", "text": "oak", "max": 4}),
        ("Don't use any language other than Dutch.", {"check": "language", "code": "nl"}),
        ('Slip the word "oak" into it.', {"check": "contains", "texts": ["oak"], "whole_words": False}),
    ],
)
def test_other_wordings_mean_the_same(task, check):
    derived = derive(f"Describe a forest. {task}")

    assert {**check, "whole_words": False} in [{**other, "whole_words": False} for other in derived]


@pytest.mark.parametrize(
    ("task", "checks"),
    [
        ("You may use bullet points, and feel free to write in all caps.", []),
        ("You don't have to write at least 300 words. There is no need for a title.", []),
        ("If you mention Goethe, use at least three sentences.", []),
        ("In the second paragraph, do not use the letter e.", []),
        ("Only use commas if you must.", []),
        ("You may use at most 50 words.", [{"check": "word_count", "max": 50}]),
        ("If possible, use no commas.", [{"check": "punctuation", "mark": ","}]),
    ],
)
def test_what_is_allowed_or_holds_for_a_part_is_no_check_of_the_whole_output(task, checks):
    assert derive(f"Describe a forest. {task}") == checks


@pytest.mark.parametrize(
    ("task", "kinds"),
    [
        ("Write a note in two sentences. First one in German, second one in English.", ["sentence_count"]),
        (
            "Write a commit message: subject under 50 characters, a body of three bullets.",
            ["list_item_count"],
        ),
        ("Write about Mars in 100 words, then summarize it in one sentence.", ["word_count"]),
        ("List three pros and three cons of tea as bullets.", ["list_item_count"]),
    ],
)
def test_the_size_of_a_part_is_no_size_of_the_whole_output(task, kinds):
    derived = derive_checks(task)

    assert [check.check for check in derived.checks] == kinds
    assert derived.unchecked


@pytest.mark.parametrize(
    ("task", "checks"),
    [
        ("Der Text soll das Wort „Moos“ enthalten.", [{"check": "contains", "texts": ["Moos"]}]),
        ("Deine Antwort darf das Wort „Moos“ nicht enthalten.", [{"check": "excludes", "texts": ["Moos"]}]),
        ("Beschränke dich auf zweihundertfünfzig Wörter.", [{"check": "word_count", "max": 250}]),
        ("Der letzte Satz muss „Ende gut.“ lauten.", [{"check": "ends_with", "text": "Ende gut."}]),
        (
            "Der Buchstabe k soll zehnmal auftauchen.",
            [{"check": "letter_count", "letter": "k", "exactly": 10}],
        ),
    ],
)
def test_the_verb_may_stand_at_the_end_of_a_german_clause(task, checks):
    derived = derive(f"Beschreibe einen Wald. {task}")

    assert [{**check, "whole_words": False} for check in derived] == [
        {**check, "whole_words": False} for check in checks
    ]
    assert all(check.quote in task for check in derive_checks(f"Beschreibe einen Wald. {task}").checks)


@pytest.mark.parametrize("words", ["at least 0 words", "at least one line", "at least one character"])
def test_a_bound_that_no_output_can_break_is_no_check(words):
    derived = derive_checks(f"Describe a forest in {words}.")

    assert (derived.checks, [words in phrase for phrase in derived.unchecked]) == ((), [True])


def test_what_is_allowed_is_not_listed_as_unchecked():
    assert not derive_checks("Describe a forest. You may use bullet points. A title is not needed.").unchecked


@pytest.mark.parametrize(
    "task",
    [
        "Under no circumstances should you use a comma.",
        "Nowhere in your answer may there be a comma.",
        "Your response needs to be devoid of commas.",
        "Commas must not be part of your response.",
        "Do it with zero use of commas.",
        "Please eliminate all commas from the text.",
    ],
)
def test_a_ban_is_read_from_its_negation_and_its_noun(task):
    assert derive(f"Tell me about ants. {task}") == [{"check": "punctuation", "mark": ","}]


@pytest.mark.parametrize(
    ("task", "bounds"),
    [
        ("Please restrict yourself to fifty words.", {"max": 50}),
        ("160 words is the maximum.", {"max": 160}),
        ("The whole text must fit in 200 words.", {"max": 200}),
        ("Anything above 50 words is too long.", {"max": 50}),
        ("I won't read more than 50 words.", {"max": 50}),
    ],
)
def test_a_limit_is_read_from_the_words_around_its_number(task, bounds):
    assert derive(f"What is a fjord? {task}") == [{"check": "word_count", **bounds}]


@pytest.mark.parametrize(
    "quoted",
    [
        '"blue sky"',
        "“blue sky”",
        "„blue sky“",
        "«blue sky»",
        "'blue sky'",
        "‘blue sky’",
        "「blue sky」",
        '”blue sky"',
        "`blue sky`",
        "‚blue sky‘",
        '"blue sky,"',
    ],
)
def test_all_quotation_marks_are_paired(quoted):
    (check,) = derive(
        f"Don't describe the painters' guild's rules. Mention the phrase {quoted} in your answer."
    )

    assert check["texts"] == ["blue sky"]


def test_an_apostrophe_is_no_quotation_mark():
    assert derive(
        "It's the users' job, isn't it? Answer in the writers' style, don't use 'very' or 'quite'."
    ) == [{"check": "excludes", "texts": ["very", "quite"]}]


@pytest.mark.parametrize(
    "task",
    [
        "Write a note with at least 10 and at most 5 words.",
        "Write a note in all capital letters. Your whole answer must be in lowercase letters.",
        "Answer in German. Your entire response should be in French.",
        'Include the word "sun". Do not use the word "sun".',
        "Write at most 3 words. The text must have at least 10 sentences.",
        'End your response with "Bye". The last words should be "See you".',
        "No markdown. Use three bullet points.",
        "Plain text only. Make a table with 2 columns.",
        "Write two paragraphs separated by ***. Do not use markdown.",
        "Make a table with 2 columns. Which bike is best? No tables.",
        "Use markdown. Which bike is best? Do not use markdown.",
    ],
)
def test_checks_that_no_output_can_pass_together_are_dropped_with_a_warning(task):
    derived = derive_checks(task)

    assert not derived.checks
    assert len(derived.warnings) == 1
    assert derived.warnings[0].count(".") >= 1


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("Write a poem with at least three metaphors.", "at least three metaphors"),
        ("Write a letter. Do not use contractions.", "Do not use contractions"),
        ("List the planets in YAML format.", "in YAML format"),
        (
            "Write a text of 3 paragraphs. The first paragraph must have at least 5 sentences.",
            "at least 5 sentences",
        ),
        ("Write a haiku about tea, then explain each line.", "Write a haiku"),
    ],
)
def test_a_requirement_without_a_check_is_listed(task, words):
    assert any(words in phrase for phrase in derive_checks(task).unchecked)


@pytest.mark.parametrize(
    "task",
    [
        "请写一篇关于春天的短文，不少于100字。",
        "اكتب قصيدة قصيرة عن البحر في ثلاثة أسطر.",
        "เขียนบทกวีเกี่ยวกับฝนสามบรรทัด",
        "俳句とは何ですか。三行で説明してください。",
        "Напиши стихотворение о море из четырёх строк.",
        "Écris un poème de dix lignes.",
        "",
        " \n\t ",
        "\ue000\ue001 use \ue000",
        "\ud800 write 5 words",
    ],
)
def test_other_languages_and_odd_texts_give_no_false_check(task):
    assert not [check for check in derive_checks(task).checks if check.check != "word_count"]


@pytest.mark.parametrize(
    "piece", ["use the word ", '"a ', "5 ", "***", "`", "in the ", "and at least ", "“", "[", "\n"]
)
def test_a_task_of_two_million_characters_takes_bounded_time(piece):
    derived = derive_checks(piece * (2_000_000 // len(piece)))

    assert "only its start and its end" in derived.warnings[-1]


def test_nothing_is_raised_for_any_mixture_of_words():
    words = [word for row in DEMANDS for word in row["task"].split()] + [
        '"',
        "“",
        "'",
        "***",
        ":",
        "\n",
        "0",
        "≥",
        "[x]",
    ]
    rng = random.Random(3)

    for _ in range(300):
        task = " ".join(rng.choices(words, k=40))
        assert all(check.quote in task for check in derive_checks(task).checks)
