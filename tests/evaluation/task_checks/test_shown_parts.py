"""An example of the format names the separator; the number of parts is the number that the task states."""

import pytest

from evaluation.task_checks import derive_checks


def read_parts(task):
    checks = [check for check in derive_checks(task).checks if check.check == "part_count"]
    return [(check.separator, check.exactly, check.min) for check in checks]


@pytest.mark.parametrize(
    ("task", "number"),
    [
        ("Give three answers to the question why leaves fall. Separate them like A *** B.", 3),
        ("Give three answers.\nSeparate them like this:\nAnswer 1\n***\nAnswer 2", 3),
        ("Write four slogans for a bakery. Put *** between them, like this: first *** second.", 4),
        ("Write four slogans for a bakery. The format is as follows:\nSlogan\n***\nSlogan", 4),
        ("I need 5 jokes. Use this format:\nJoke 1\n***\nJoke 2", 5),
        ("Suggest five names for a cat. Use *** between the names, for example Tom *** Kit.", 5),
        ("Write both a formal and an informal note. Separate them like this:\nA\n***\nB", 2),
        ("Write two jokes. Separate them like this: first *** second.", 2),
        ("Gib drei Antworten auf die Frage, warum Blätter fallen. Trenne sie so: A *** B.", 3),
        ("Schreibe vier Varianten. Setze *** dazwischen, zum Beispiel so: Eins *** Zwei.", 4),
    ],
)
def test_a_stated_number_wins_over_an_example(task, number):
    assert read_parts(task) == [("***", number, None)]


@pytest.mark.parametrize(
    "task",
    [
        "Give me some slogans for a bakery. Separate them like A *** B.",
        "Give me several slogans. Separate them with *** like this:\n\nSlogan A\n***\nSlogan B",
        "Write jokes about trains. Use this format:\nJoke 1\n***\nJoke 2",
        "Suggest names for a cat. Use *** between the names, for example Tom *** Kit.",
        "Suggest slogans about the sea and the wind. Separate the slogans with ***.",
        "Schreibe mehrere Varianten, getrennt durch ***, zum Beispiel so: Eins *** Zwei.",
    ],
)
def test_an_example_alone_states_no_number(task):
    assert read_parts(task) == [("***", None, 2)]


def test_a_form_of_the_whole_output_states_the_number_of_its_parts():
    assert read_parts("Your response should look like this:\n[essay]\n***\n[poem]") == [("***", 2, None)]


@pytest.mark.parametrize(
    "task",
    [
        'Use the phrase "storm at sea" in your answer.',
        "Use the phrase “storm at sea” word for word.",
        "Include the phrase storm at sea in your answer.",
        "Use the words storm at sea.",
        "Mention the phrase *storm at sea*.",
        "Verwende den Ausdruck „storm at sea“ im Text.",
    ],
)
def test_the_first_word_of_a_literal_has_no_check(task):
    assert [check.texts for check in derive_checks(task).checks] in (
        [],
        [("storm at sea",)],
        [["storm at sea"]],
    )
