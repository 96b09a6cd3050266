"""The JSON document."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.cli.view.terminal_text import to_json
from tests.fakes.records import record
from tests.orchestrator.cli.builders import state


def strictly(text):
    """Read JSON as RFC 8259 has it: UTF-8, and no NaN."""

    def refuse(name):
        raise ValueError(name)

    return json.loads(text.encode("utf-8"), parse_constant=refuse)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("half \ud800 pair", "half \ud800 pair"),
        ("\ud83c\udf0a", "🌊"),
        ("\x00\x1b\x7f\x85\u2028", "\x00\x1b\x7f\x85\u2028"),
        ('"quotes" \\ and\nlines', '"quotes" \\ and\nlines'),
        ("العربية", "العربية"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        ({"\udfff": (1, 2.5, None, True)}, {"\udfff": [1, 2.5, None, True]}),
    ],
)
def test_what_json_cannot_carry_is_replaced_and_the_rest_is_kept(value, read):
    assert strictly(to_json(value)) == read


@pytest.mark.parametrize("mark", ["\x7f", "\x9b", "\u202e", "\u2066", "\u200b", "\u061c", "\ufeff"])
def test_what_a_terminal_would_obey_is_escaped_and_read_back_as_it_was(mark):
    text = to_json(f"a{mark}b")

    assert mark not in text
    assert strictly(text) == f"a{mark}b"


@given(st.text(alphabet=st.characters()))
def test_a_state_is_valid_json_whatever_a_model_wrote(text):
    document = strictly(to_json(state(task=text, results=[record(result=text)])))

    assert document["task"] == document["results"][0]["result"]
