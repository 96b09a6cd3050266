"""Rules that tell a mention of a form from a demand: each with sentences that only this rule reads."""

import pytest

from evaluation.task_checks import derive_checks


def derive_kinds(task):
    return [check.check for check in derive_checks(task).checks]


@pytest.mark.parametrize(
    "task",
    [
        pytest.param("Tell my uncle to reply in one sentence.", id="an order to pass on"),
        pytest.param("Our chatbot must reply in under 50 words. Name a model.", id="an act of somebody else"),
        pytest.param("My son has to hand in 60 words in French. Cheer him up.", id="a duty of somebody else"),
        pytest.param("Write to the staff to tell them a note must have two lines.", id="a reported demand"),
        pytest.param("Write a mail reminding us that forms need a date and no emojis.", id="the same clause"),
        pytest.param("Post a note: labels on jars must be in English.", id="a demand of something else"),
        pytest.param("Give an outline of the rules of the sonnet: fourteen lines.", id="details of a topic"),
        pytest.param("Give me facts on the form that has five lines.", id="a property of a topic"),
        pytest.param("Write about a firm with three hundred paragraphs in its statutes.", id="a possession"),
        pytest.param("Write a sketch in which a cook recites a menu in Latin.", id="what a character says"),
        pytest.param("In Italian, the word is longer.", id="a statement about a language"),
        pytest.param("Name the longest poem in the English language.", id="a superlative"),
        pytest.param(
            "In three paragraphs the author lies. Is this fair?", id="a statement that is discussed"
        ),
        pytest.param('Instead of a name, can one end with "Best"?', id="a question about others"),
        pytest.param("In two sentences of the will my name is misspelled.", id="a part of a text"),
        pytest.param("Scold the agency: my translator delivered 300 words.", id="a fact after a colon"),
        pytest.param('Teach my son to write notes without the word "like".', id="what others write"),
        pytest.param('Evaluate: the pupil had to use the words "so" and "then".', id="a duty in the past"),
        pytest.param("My essay has 450 words, but the limit is 400. What can I cut?", id="a limit of others"),
        pytest.param("In 50 words? That's what the form says.", id="a quoted question"),
        pytest.param("Tell me why a CV should not have a photo, a table or a goal.", id="an enumeration"),
        pytest.param("Compare writing in lowercase with shouting.", id="an act that is the topic"),
        pytest.param("Give a talk on palindromes and texts without the letter e.", id="texts as a topic"),
        pytest.param("Twelve lines, no rhymes: which form do I mean?", id="a riddle"),
        pytest.param('Avoid the word "so", said my mother. Tell me more.', id="a saying"),
        pytest.param("Keep it under 280 characters: this was the old rule. Tell its tale.", id="an old rule"),
        pytest.param('"In five words" appears in the exam. Help me.', id="words of another text"),
        pytest.param("It annoys me that every text has to be in bullet points.", id="a feeling"),
        pytest.param("Phrase a rule that bans titles in capitals.", id="a ban as the topic"),
        pytest.param("Create rules for a contest: texts of any kind, in English.", id="rules for others"),
        pytest.param("In her letters, the queen never used commas. Explain.", id="a subject after a comma"),
        pytest.param("Discuss the claim that no mail needs more than five sentences.", id="a claim"),
        pytest.param(
            "Our parser warns that a label must be no longer than 60 characters. Why?", id="a report"
        ),
        pytest.param("Tidy up this ad: We bake. You eat 3 paragraphs, no commas.", id="a text after a colon"),
        pytest.param(
            "Is there a gap in these rules? Rule 1: No commas. Rule 2: Each line has 9 words or more.",
            id="rules that a question is about",
        ),
        pytest.param("Why does my bank always reply with bullet points?", id="how others write"),
        pytest.param("Cheer me up, since my text has more than 900 words.", id="a reason"),
    ],
)
def test_a_mention_is_no_demand(task):
    assert derive_kinds(task) == []


@pytest.mark.parametrize(
    ("task", "kinds"),
    [
        ("Tell my uncle in one sentence to clean the garage.", ["sentence_count"]),
        ("You must reply in under 50 words. Why is the sky blue?", ["word_count"]),
        ("In French, your answer should name the capital.", ["language"]),
        ("In 50 words, the difference between tea that is green and black.", ["word_count"]),
        ("Write a text about haikus with at least 100 words.", ["word_count"]),
        ("Your answer must have two lines. Is this clear?", ["line_count"]),
        ("Explain the rules of chess: at most 60 words.", ["word_count"]),
        ("Is there a gap in these rules? Rule 1: No commas. Answer in French.", ["language"]),
        ("Is there a gap in these rules?\nRule 1: No commas.\n\nAnswer in French.", ["language"]),
        ("Note that the answer must be no longer than 60 words. What is DNS?", ["word_count"]),
    ],
)
def test_a_demand_beside_a_mention_stays_a_demand(task, kinds):
    assert derive_kinds(task) == kinds
