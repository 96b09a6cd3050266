"""What a question is about, and texts that are given with a request, demand nothing of the reply."""

import time

import pytest

from evaluation.task_checks import derive_checks


def derive_kinds(task):
    return [check.check for check in derive_checks(task).checks]


CONTEXTS = {
    "a report before a question": "The note says: two sentences, all in capitals. Is that legal?",
    "a statement": "Our minutes have four paragraphs and end with a date. Who reads such a thing?",
    "an order after a statement": "The form reads so. Write at most 30 words. What if I write 31?",
    "a fragment after a statement": "I sent a postcard. Twelve words, no commas. Why was my aunt hurt?",
    "a supposition": "Imagine a town where every letter must end with a rhyme. How long would that last?",
    "a question without its mark": "The form accepts exactly one word. Is it broken or am I wrong",
    "a condition": "A lawyer wants three headings and no lists. Can you tell me what he is afraid of?",
    "a story before an order to explain": "My tool should print two lines. It prints three. Debug it.",
    "a story after an order to explain": "Explain irony. My aunt has to write two paragraphs on it.",
    "a report": "The sign reads: at most three words, no digits. Explain it to our guests.",
    "a fact about the topic": "Analyse the speech; it has only about 270 words.",
    "a plan of the user": "Assess my plan. I want to write 50,000 words in May.",
    "a supposition of one": "Say a student hands in 1,870 words. Who counts them?",
    "a condition in a question": 'If a motion has to begin with "This house", who checks it?',
    "a way of speaking": "Do signers have a way to show that somebody speaks in capitals?",
    "a text after an order to improve it": "Improve this text. It is stiff. It has lines of 40 words.",
    "a choice": "Which is harder, a limit of exactly 100 words or a ban on the letter e?",
    "what happens in a story": 'Make up a tale: a king reads only mails that end with "so be it".',
    "how others do it": "Analyse why the slogan worked with no more than two words.",
    "a question of yes or no": "Do editors like texts with bullet points?",
    "a second question": "what is a slug and does it need to be lower case",
    "German": "Im Vertrag steht: höchstens 40 Wörter, keine Kommas. Wie wird das begründet?",
}
PASTED = {
    "quoted lines": "What does he want?\n\n> Keep it under 20 words.\n> Use no commas.",
    "a dialogue": "Ana: two lines, no emojis\nBen: never\nAna: two lines\n\nWho is right?",
    "a log": "Find the fault.\n08:01 template must have 3 bullets\n08:02 wrote 2 bullets",
    "a letter after a question": (
        "What is she angry about?\n\nDear all,\nplease use at most 40 words in a ticket. No capitals.\nJo"
    ),
    "a letter to correct": "Proofread this, it goes out at noon\n\nHi team,\nkeep it to 80 words.",
    "a prompt": "Is this prompt any good?\n\nYou are a bot. Reply in English. Use at most 60 words.",
    "rules": "Evaluate the two draft rules.\n\nRule A: Use no commas.\nRule B: At most 9 words.",
    "a text of which a question is asked": "Is this rude?\n\nStatus. One word: late. Two words: no capitals.",
    "a text that somebody sent": "My aunt sent us:\n\nuse at most 40 words, no photos\n\nIs she right?",
    "a text below a question": "Shall I?\n\nKESTREL seeks a cook. Send a CV of max. 300 words, in English.",
    "a notice": "can someone explain this to me\n\nNOTICE: Signs bear no digits, in upper case only.",
    "a text to check": "Check the logic of my text\n\nLaws fit a page. A good one has fewer than 9 words.",
    "an output below": "My build fails. It prints the text below:\n\nsubject must not be in upper case",
    "a text to check, in German": "Prüf mal die Rechtschreibung:\n\nDa soll das Wort „vegan“ stehen.",
    "a price list": "Is that fair? They quoted me this for an ad: up to 5 lines 85 euros.",
    "a brief": "I got this brief: Article of 600 words. No commas. What does it mean?",
    "a letter to answer": "Reply for me, be kind.\n\nDear Jo,\nplease send 300 words by noon, no links.",
    "a text that is shown": "Here's their policy\n\nHeadings: max 50 chars, no commas",
    "a ticket": "Summarise this ticket.\n\nNo. 12\nThe title must be in lowercase, with no commas.",
}


@pytest.mark.parametrize("task", CONTEXTS.values(), ids=CONTEXTS)
def test_what_a_question_is_about_is_no_demand(task):
    assert derive_kinds(task) == []


@pytest.mark.parametrize("task", PASTED.values(), ids=PASTED)
def test_lines_that_somebody_else_wrote_are_no_demand(task):
    assert derive_kinds(task) == []


@pytest.mark.parametrize(
    ("task", "kinds"),
    [
        pytest.param("Use no commas. Why do cats purr?", ["punctuation"], id="an order at the start"),
        pytest.param("Max 3 sentences. What is a monad?", ["sentence_count"], id="a size at the start"),
        pytest.param(
            "Language: Italian. Length: max 3 lines. Who was Dante?", ["language", "line_count"], id="labels"
        ),
        pytest.param(
            "I have an exam. I want at most 60 words. What is inertia?", ["word_count"], id="a wish"
        ),
        pytest.param("It rained. Your answer must be in French. Why does it?", ["language"], id="the answer"),
        pytest.param(
            "Our cat is old. Can you write a poem with four lines?", ["line_count"], id="a text is requested"
        ),
        pytest.param("The form says 20 words. Why? Use two lines.", ["line_count"], id="an order after it"),
        pytest.param(
            "Explain rain. We are tired. At most 50 words.", ["word_count"], id="a size after a story"
        ),
        pytest.param("I'm tired. Explain rain. I want to see 9 lines.", ["line_count"], id="a wish after it"),
        pytest.param(
            "What is rain?\n\nIt is for my aunt. Use 9 lines.", ["line_count"], id="below a question"
        ),
        pytest.param("Is this true?\n\nTea cures all.\n\nUse 9 words.", ["word_count"], id="below a text"),
        pytest.param("You are a chef. Use at most 9 lines. What is roux?", ["line_count"], id="a role"),
        pytest.param("I'm tired. Two lines max. What is rain?", ["line_count"], id="a situation"),
        pytest.param("Explain it.\n\nAudience: kids. No lists.", ["list_item_count"], id="labels below"),
        pytest.param("Is it rude?\n\nHi Bo, run!\n\nUse 9 words.", ["word_count"], id="below a letter"),
        pytest.param("Notes: 3 eggs. Turn them into a poem of 9 lines.", ["line_count"], id="after notes"),
        pytest.param("Before you answer: use no commas. What is jazz?", ["punctuation"], id="before it"),
        pytest.param("Fix this text. Line 1 must be in French.", [], id="of a part"),
        pytest.param("What is rain (in 9 words)?", ["word_count"], id="in parentheses"),
        pytest.param(
            "Rules for your answer:\n1. German only\n2. max. 80 words\nQuestion: Was ist Zeit?",
            ["language", "word_count"],
            id="a list of rules",
        ),
        pytest.param(
            "Summarise this book in 50 words.\n\nUse no commas.",
            ["word_count", "punctuation"],
            id="no text below",
        ),
    ],
)
def test_a_demand_beside_a_context_stays_a_demand(task, kinds):
    assert derive_kinds(task) == kinds


def test_an_order_that_may_be_somebody_elses_is_listed_as_unchecked():
    derived = derive_checks("My boss left a note. Write at most 30 words. Is he serious?")
    assert derived.checks == ()
    assert derived.unchecked == ("at most 30 words",)


@pytest.mark.parametrize(
    "task",
    [
        pytest.param('Verwende das Wort "Honig" nicht.', id="behind it, in German"),
        pytest.param('Use the word "honey" never.', id="behind it"),
        pytest.param("Don't end with a question.", id="before it"),
        pytest.param("Nothing in capital letters.", id="nothing"),
        pytest.param("Don't use exactly 3 sentences.", id="an exact number"),
        pytest.param("Don't answer in English.", id="a language"),
        pytest.param('Use the word "honey" if possible.', id="a mere wish"),
    ],
)
def test_what_is_refused_has_no_check_of_the_opposite(task):
    derived = derive_checks(task)
    assert derived.checks == ()
    assert derived.unchecked


def test_a_refusal_is_quoted_with_its_negation():
    derived = derive_checks('Verwende das Wort "Honig" nicht. Don\'t end with a question.')
    assert derived.unchecked == ('Verwende das Wort "Honig" nicht', "Don't end with a question")


@pytest.mark.parametrize(
    "piece", ["Max 3 words. ", "in 3 words, ", "A: ", "Dear Tom,\n\nkeep it to 3 words.\n\n"]
)
def test_the_time_grows_no_faster_than_a_task(piece):
    few = min(_measure(f"{piece * (4_000 // len(piece))}{number}") for number in range(3))
    many = min(_measure(f"{piece * (32_000 // len(piece))}{number}") for number in range(3))
    assert many < 24 * few


def _measure(task):
    start = time.process_time()
    derive_checks(task)
    return time.process_time() - start
