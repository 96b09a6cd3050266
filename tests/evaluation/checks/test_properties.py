from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from tests.evaluation.checks.cases import CASES, evaluate

ANYTHING = st.text() | st.text("a.*-# \n|[]{}\"'!1你ا😀`<>,")


@given(st.sampled_from([case[0] for case in CASES]), ANYTHING)
def test_every_check_decides_every_text_the_same_way_twice(data, text):
    first, second = (evaluate(data, text, text) for _ in range(2))

    assert first == second
    assert first.passed in {True, False, None}
    assert first.sentence.endswith(".")


def test_an_endless_output_takes_no_square_of_its_length(subtests):
    for text, check in [
        ("a" + "." * 200_000 + "b", {"check": "sentence_count", "min": 1}),
        ("|a|\n|-|\n" * 8_000, {"check": "table"}),
        ("\U0001f1e6" * 50_000, {"check": "character_count", "exactly": 25_000}),
        ("a" + "`" * 150_000, {"check": "sentence_count", "max": 1}),
        ("a" + "\u0301" * 50_000 + "_" * 50_000, {"check": "word_count", "exactly": 1}),
        ("*a _a [a]( `a <a: ~~a " * 5_000 + "a", {"check": "table", "use": "absent"}),
        ("*a " * 25_000, {"check": "markdown", "use": "absent"}),
        ("twenty " * 25_000, {"check": "states_number", "number": 7, "present": False}),
    ]:
        with subtests.test(text=text):
            begin = process_time()
            assert evaluate(check, text).passed
            assert process_time() - begin < 3
