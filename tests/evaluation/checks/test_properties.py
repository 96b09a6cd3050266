"""A text that is made to fulfil a check passes, and one that is short by one does not."""

import json
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from evaluation.checks import CheckContext, read_checks
from tests.evaluation.checks.cases import CASES

NUMBERS = st.integers(1, 12)
WORDS = st.text("abcdefghijklmnop", min_size=1, max_size=8)
ANYTHING = st.text() | st.text("a.*-# \n|[]{}\"'!1你ا😀`<>,")


def passes(output, **data):
    (check,) = read_checks([data])
    return check.evaluate(CheckContext(output)).passed


COUNTED = {
    "word_count": lambda n: " ".join(["Wort"] * n),
    "sentence_count": lambda n: " ".join(["This is a sentence."] * n),
    "paragraph_count": lambda n: "\n\n".join(["Absatz"] * n),
    "line_count": lambda n: "\n".join(["你好"] * n),
    "character_count": lambda n: "😀" * n,
    "heading_count": lambda n: "\n\n".join(["# A"] * n),
    "list_item_count": lambda n: "\n".join(["- a"] * n),
}
"""Outputs with a number of things, by the kind of check that needs no other argument."""


@given(st.sampled_from(sorted(COUNTED)), NUMBERS)
def test_a_number_is_met_or_missed_by_one(kind, number):
    output = COUNTED[kind](number)

    assert passes(output, check=kind, exactly=number)
    assert passes(output, check=kind, min=number, max=number)
    assert passes(output, check=kind, min=number + 1) is False
    assert passes(output, check=kind, max=number - 1) is False


@given(WORDS, NUMBERS)
def test_occurrences_are_met_or_missed_by_one(word, number):
    output = " and ".join([word.title()] * number).replace("and", "&")

    assert passes(output, check="occurrences", text=word, exactly=number)
    assert passes(output, check="occurrences", text=word, min=number + 1) is False
    assert passes(output, check="letter_count", letter=word[0], min=number)


@given(st.lists(WORDS, min_size=1, max_size=5, unique=True))
def test_required_words_are_forbidden_words(words):
    output = ", ".join(words).upper()

    assert passes(output, check="contains", texts=words)
    assert passes(output, check="excludes", texts=words[:1]) is False
    assert passes(output, check="contains", texts=[*words, "zz"]) is False
    assert passes(output, check="contains", texts=[*words, "zz"], at_least=len(words))
    assert passes(output, check="excludes", texts=["zz"])


@given(ANYTHING)
def test_a_text_has_at_most_one_letter_case(text):
    has_case = text.lower() != text.upper()

    assert not (has_case and passes(text, check="letter_case", style="upper") and text.upper() != text)
    # Some capital letters, such as 𝐀, have no small one.
    small = [char for char in text.lower() if not (char.isupper() or char.istitle())]
    if any(map(str.islower, small)):
        assert passes("".join(small), check="letter_case", style="lower")


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(), st.lists))
def test_json_is_json_and_half_of_it_is_not(value):
    output = json.dumps({"a": value})

    assert passes(output, check="json", root="object", keys=["a"])
    assert passes(f"```json\n{output}\n```", check="json")
    assert passes(output[:-1], check="json") is False


@given(st.integers(2, 5), NUMBERS)
def test_tables_are_met_or_missed_by_one(columns, rows):
    row = "|" + "x|" * columns
    table = "\n".join([row, "|" + "-|" * columns, *[row] * rows])

    assert passes(table, check="table", columns=columns, rows=rows)
    assert passes(table, check="table", columns=columns, rows=rows + 1) is False


MARKUP = ["# {}", "**{}**", "- {}\n- {}", "```\n{}\n```", "`{}`", "> {}", "[{}](https://a.org)", "|{}|\n|-|"]


@given(st.lists(WORDS, min_size=1), st.sampled_from(MARKUP))
def test_words_are_plain_text_until_one_has_markup(words, markup):
    plain = " ".join(words)
    output = f"{plain}\n\n{markup.replace('{}', words[0])}"

    assert passes(plain, check="markdown")
    assert passes(output, check="markdown") is False


@given(ANYTHING)
def test_no_text_has_a_table_and_has_none(text):
    assert not (passes(text, check="table", use="absent") and passes(text, check="table"))


@given(st.sampled_from([case[0] for case in CASES]), ANYTHING)
def test_every_check_decides_every_text_the_same_way_twice(data, text):
    (check,) = read_checks([data])
    first, second = (check.evaluate(CheckContext(text, text)) for _ in range(2))

    assert first == second
    assert first.passed in {True, False, None}
    assert first.sentence.endswith(".")


def test_an_endless_output_takes_no_square_of_its_length(subtests):
    for text, check in [
        ("a" + "." * 200_000 + "b", {"check": "sentence_count", "min": 1}),
        ("|a|\n|-|\n" * 50_000, {"check": "table"}),
        ("\U0001f1e6" * 50_000, {"check": "character_count", "exactly": 25_000}),
        ("a" + "`" * 150_000, {"check": "sentence_count", "max": 1}),
        ("a" + "\u0301" * 50_000 + "_" * 50_000, {"check": "word_count", "exactly": 1}),
        ("*a _a [a]( `a <a: ~~a " * 5_000 + "a", {"check": "table", "use": "absent"}),
        ("*a " * 50_000, {"check": "markdown", "use": "absent"}),
        ("twenty " * 50_000, {"check": "states_number", "number": 7, "present": False}),
    ]:
        with subtests.test(text=text):
            begin = process_time()
            assert passes(text, **check)
            assert process_time() - begin < 3
