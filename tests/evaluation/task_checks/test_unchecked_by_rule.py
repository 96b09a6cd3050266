"""What is listed as unchecked: every requirement without a check, and nothing that a check holds."""

import pytest

from evaluation.task_checks import derive_checks


@pytest.mark.parametrize(
    "task",
    [
        pytest.param(
            'Write exactly 2 bullet points. Use "*" to indicate a bullet point.', id="sign of a list"
        ),
        pytest.param(
            'Name rivers in 3 bullet points (use "* " to indicate each bullet).', id="sign with a space"
        ),
        pytest.param("Write a post with 4 hashtags, starting with '#'.", id="sign of a letter"),
        pytest.param(
            'Write a song. End it with "Peace!" No additional words should follow "Peace!"', id="the end"
        ),
        pytest.param("Write exactly 3 paragraphs, separated by two new lines.", id="blank lines"),
        pytest.param(
            "Highlight at least 2 phrases by wrapping each of them with asterisks.", id="each of them"
        ),
        pytest.param(
            "Rewrite the haiku below into two versions. Separate the two versions using ******.",
            id="given form",
        ),
        pytest.param("Write a poem in 3 sentences. It should be about nature.", id="topic"),
        pytest.param("Sell our toy in 3 sentences. It's made of latex.", id="material"),
        pytest.param("Sell our boat in 3 sentences. It's a sailboat with one mast.", id="description"),
        pytest.param("11 results have an average of 51. Answer in 3 sentences.", id="fact"),
        pytest.param("In 3 sentences, list the pros of using two different names.", id="topic of a use"),
    ],
)
def test_what_a_check_holds_or_nothing_demands_is_not_listed(task):
    derived = derive_checks(task)

    assert derived.checks
    assert derived.unchecked == ()


@pytest.mark.parametrize(
    ("task", "unchecked"),
    [
        ('Include a quote and the word "milestone".', ("Include a quote",)),
        ("Name 5 towns in 5 bullet points, sorted alphabetically.", ("sorted alphabetically",)),
        ("Write 5 bullet points in alphabetical order.", ("in alphabetical order",)),
        ('Write a scene in which neither of them says "fog".', ('neither of them says "fog"',)),
        ("No commas, slashes or ampersands. Write a note.", ("slashes", "ampersands")),
        ("Name a town. Avoid slashes and commas.", ("Avoid slashes and commas",)),
        ("My coach says a bio must have at least 90 words. Write it.", ("at least 90 words",)),
        ("It needs to mention Sicily and the broken canoe.", ("the broken canoe",)),
        ('Write 2 bullet points. Use "->" to start a bullet point.', ('Use "->" to start a bullet point',)),
    ],
)
def test_what_no_check_holds_is_listed(task, unchecked):
    assert derive_checks(task).unchecked == unchecked


@pytest.mark.parametrize(
    ("task", "unchecked"),
    [
        ("Write two texts. The second text must be twice as long as the first.", "must be twice as long"),
        ("Give it a Tools section and a Steps section.", "a Tools section"),
        ("Describe rain without using any form of the verb fall.", "any form of"),
        ("Three rules:\n- the words “gold” and “tin”", "words “gold”"),
        ("Two stanzas, and use the same number of lines in both.", "same number of lines"),
        ("Write a story. There mustn't be any dragon in it.", "mustn't be any dragon"),
        ("Sag mir, wann Rom fiel - in einer neuen Zeile das Jahr.", "neuen Zeile"),
        ("At least 5 numbered steps, then a part that has exactly two bullets.", "exactly two bullets"),
    ],
)
def test_no_demand_is_lost(task, unchecked):
    assert any(unchecked in phrase for phrase in derive_checks(task).unchecked)


@pytest.mark.parametrize(
    ("task", "unchecked"),
    [
        ("Write 4 lines, the third in capitals, none of them empty.", "none of them empty"),
        ("Write a plan with three bullet points, the last of which is a question.", "the last of which is a"),
        ("A note of 3 sentences: the first must not mention money, the second the shortest.", "the shortest"),
        ("Give me 6 recipe names in lower case, cheapest first.", "cheapest first"),
        ("Write two paragraphs. The hull number has to be 8812.", "has to be 8812"),
        ('Write a haiku. Under it put "Written by Tom".', 'put "Written by Tom"'),
        ("List 5 lakes as bullets, with the depth in brackets.", "with the depth in brackets"),
        ("List 5 lakes as bullets. Country names upper case, lengths in metres.", "names upper case"),
        ('Write a poem in 5 lines in which nobody says "gold".', 'nobody says "gold"'),
        ("Explain the tides in two lines: the first 6 words, the second 9 words.", "the second 9 words"),
        (
            "My boss wanted a report, but I only need a note of 2 lines, the first in bold.",
            "first in bold",
        ),
        (
            "My boss wants a report, but for now I need a plan: five numbered headings.",
            "five numbered headings",
        ),
        ("Schreib 4 Zeilen, die letzte ohne Verb.", "letzte ohne Verb"),
        ("Schreib zwei Absätze. Im ersten steht die Frage, im anderen nicht.", "im anderen nicht"),
    ],
)
def test_no_clause_after_a_demand_is_lost(task, unchecked):
    assert any(unchecked in phrase for phrase in derive_checks(task).unchecked)


@pytest.mark.parametrize(
    "task",
    [
        "In 4 lines, list the ores that both miners named.",
        "Write 3 paragraphs about a sailor, because we need one for our two pupils.",
        "Write 2 sentences about a dog, though our cat eats every mouse.",
        "Write a CSV with a semicolon as the delimiter.",
    ],
)
def test_a_topic_or_a_reason_after_a_demand_is_not_listed(task):
    assert derive_checks(task).unchecked == ()


def test_demands_between_an_order_and_the_text_below_it_are_read():
    task = (
        "Turn the chat below into minutes: bullet list, no more than 40 words, names bold.\n\n"
        "Tom: I bring 3 plates.\nAnn: Use no commas."
    )

    derived = derive_checks(task)

    assert [check.check for check in derived.checks] == ["list_item_count", "word_count"]
    assert derived.unchecked == ("names bold",)


@pytest.mark.parametrize(
    "task",
    [
        "Rewrite this text: two lines, one verse, no title.",
        "Shorten this: two lines, three words each.",
        "Explain the triolet: eight lines, two rhymes, no title.",
    ],
)
def test_a_text_after_a_colon_demands_nothing(task):
    assert derive_checks(task).checks == derive_checks(task).unchecked == ()
