"""The size of one text is no check of an output that has further texts."""

import pytest

from evaluation.task_checks import derive_checks

SIZES = {"word_count", "sentence_count", "paragraph_count", "line_count", "character_count"}


def read_sizes(task):
    return [check.check for check in derive_checks(task).checks if check.check in SIZES]


@pytest.mark.parametrize(
    "task",
    [
        "Write an email with a subject line of at most 50 characters.",
        "Write an email to my landlord. Keep the subject line under 50 characters.",
        "Subject line: max 50 characters. Then write the body of the email.",
        "Write a thread of tweets about tea. The first tweet must be under 200 characters.",
        "Write a thread of five tweets about tea; start with a tweet of at most 200 characters.",
        "Write a story about tea and a caption of at most 80 characters.",
        "Give me a caption of at most 80 characters for the photo and a short story about it.",
        "Write a tweet of at most 180 characters and a blog post about tea.",
        "Write a meta description of at most 155 characters along with the article.",
        "Write a product description with a slogan of at most 5 words.",
        "Write a summary in at most 20 words, followed by a detailed explanation.",
        "Write a one-sentence summary, then the whole article.",
        "Schreibe eine E-Mail. Der Betreff darf höchstens 50 Zeichen haben.",
        "Schreibe eine Geschichte über Tee und eine Bildunterschrift mit höchstens 80 Zeichen.",
        "Schreibe einen Tweet mit höchstens 180 Zeichen und danach einen Artikel über Tee.",
        "Write a poem about rain, then explain it in two sentences.",
        "Write a poem about rain and explain it in two sentences.",
        "Write a poem about rain. Explain it in two sentences.",
        "Compose a song about rain. Describe its mood in two sentences.",
        "Write a story about rain. Summarize the story in one sentence.",
        "Write a poem of four lines about rain, then explain it.",
        "Schreibe ein Gedicht über den Regen und erkläre es in zwei Sätzen.",
        "Schreibe ein Gedicht über den Regen. Erkläre es danach in zwei Sätzen.",
    ],
)
def test_the_size_of_one_of_several_texts_is_unchecked(task):
    assert read_sizes(task) == []
    assert derive_checks(task).unchecked


@pytest.mark.parametrize(
    "task",
    [
        "Write a story of at most 100 words with a title.",
        "Write a story about a letter in at most 80 words and use simple words.",
        "Write about rain. Explain it in two sentences.",
        "What is rain? Explain it in two sentences.",
        'Read this poem: "Rain falls." Explain it in two sentences.',
        "Write an essay of at least 300 words. The title must be short.",
        "In at most 50 words, write a story and a funny ending.",
        "Write a poem about rain. It must have at most 50 words.",
        "Schreibe eine Geschichte mit höchstens 80 Wörtern und einem guten Ende.",
        "Was ist Regen? Erkläre es in zwei Sätzen.",
    ],
)
def test_the_size_of_the_only_text_is_a_check(task):
    assert len(read_sizes(task)) == 1
