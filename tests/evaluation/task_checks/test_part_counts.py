"""A number that holds for a part of the output is never a check of the whole output."""

import pytest

from evaluation.task_checks import derive_checks

COUNTS = {"word_count", "sentence_count", "paragraph_count", "line_count", "list_item_count", "section_count"}
PARTS = [
    "Write two paragraphs about the sea, and two paragraphs about bees.",
    "Write two paragraphs about the sea. Then write two paragraphs about bees.",
    "Write one paragraph about owls and one paragraph about foxes.",
    "Write a paragraph on Rome and another on Athens.",
    "Write a paragraph about Rome, then another paragraph about Athens.",
    "Write a paragraph on Rome and a second one on Athens.",
    "Write a poem about the moon and two paragraphs about tides.",
    "Write a paragraph about coffee and three sentences about tea.",
    "Write 3 sentences each on cats, dogs and birds.",
    "Write three sentences about cats and dogs each.",
    "Write two sentences apiece on Venus and Mars.",
    "Give each of the two planets three sentences.",
    "Two sentences on Rome, three on Athens.",
    "Write two sentences about the heart, two sentences about the lungs and two sentences about the liver.",
    "Write 50 words on tea and 50 words on coffee.",
    "Write about 80 words on trains plus about 80 words on ships.",
    "Write at least two sentences about wind and at least two sentences about rain.",
    "Describe the sun in two sentences and the moon in two sentences.",
    "Describe the sun in two sentences. Describe the moon in two sentences.",
    "Summarize the plot in three sentences. Explain the ending in three sentences.",
    "- Cats: two sentences\n- Dogs: two sentences",
    "Cats: two sentences.\nDogs: two sentences.",
    "1. Two sentences about cats.\n2. Two sentences about dogs.",
    "Write four lines about spring and four lines about autumn.",
    "List 3 bullet points about trains and 3 bullet points about ships.",
    "Write two sections about soil and two sections about water.",
    "Schreibe zwei Absätze über das Meer und zwei Absätze über Bienen.",
    "Schreibe je drei Sätze über Katzen und Hunde.",
    "Schreibe jeweils drei Sätze über Katzen und Hunde.",
    "Schreibe drei Sätze jeweils über Katzen und Hunde.",
    "Schreibe einen Absatz über Rom und einen weiteren über Athen.",
    "Schreibe einen Absatz über Rom und einen über Athen.",
    "Zwei Sätze über Rom, drei über Athen.",
    "Schreibe 50 Wörter über Tee und 50 Wörter über Kaffee.",
    "Schreibe zwei Sätze zum Herzen und zwei Sätze zur Lunge.",
    "Schreibe vier Zeilen über den Frühling und vier Zeilen über den Herbst.",
    "Beschreibe die Sonne in zwei Sätzen. Beschreibe den Mond in zwei Sätzen.",
    "Nenne drei Stichpunkte über Züge und drei Stichpunkte über Schiffe.",
    "Katzen: zwei Sätze.\nHunde: zwei Sätze.",
]


@pytest.mark.parametrize("task", PARTS)
def test_a_number_for_a_part_is_unchecked(task):
    derived = derive_checks(task)
    assert [check.check for check in derived.checks if check.check in COUNTS] == []
    assert derived.unchecked


@pytest.mark.parametrize(
    ("task", "count"),
    [
        ("Write two paragraphs about cats and dogs.", "paragraph_count"),
        ("Write a story about a fox in three paragraphs.", "paragraph_count"),
        ("Write three paragraphs about owls. Your answer must have three paragraphs.", "paragraph_count"),
        ("Explain tides in at least two sentences and at most four sentences.", "sentence_count"),
        ("Write exactly 3 sentences, no more than 3 sentences, on rain.", "sentence_count"),
        ("Write an essay on rivers with at least 300 words. Remember: at least 300 words.", "word_count"),
        ("Write three paragraphs, each about a different animal.", "paragraph_count"),
        ("Schreibe zwei Absätze über Katzen und Hunde.", "paragraph_count"),
        ("Schreibe eine Geschichte über einen Fuchs in drei Absätzen.", "paragraph_count"),
    ],
)
def test_a_number_for_the_whole_output_stays_a_check(task, count):
    assert count in {check.check for check in derive_checks(task).checks}


def test_two_bans_are_no_numbers_of_parts():
    checks = derive_checks("Do not use bullets or lists. Describe a dam.").checks
    assert [(check.check, check.max) for check in checks] == [("list_item_count", 0)] * 2
