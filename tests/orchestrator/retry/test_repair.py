"""Rewriting parts of an output, and keeping the others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.retry.step_request import number_parts, replace_parts

PARAGRAPHS = "one\n\ntwo\n\nthree"
LINES = "one\ntwo\nthree"


@pytest.mark.parametrize("draft", [PARAGRAPHS, LINES])
def test_parts_are_numbered(draft):
    assert number_parts(draft) == "[1] one\n[2] two\n[3] three"


@pytest.mark.parametrize(
    ("draft", "reply", "output"),
    [
        (PARAGRAPHS, "[2] zwei", "one\n\nzwei\n\nthree"),
        (LINES, "[2] zwei", "one\nzwei\nthree"),
        (PARAGRAPHS, "[3] drei\n[1] eins", "eins\n\ntwo\n\ndrei"),
        (PARAGRAPHS, "Here:\n[2] zwei\nzwo", "one\n\nzwei\nzwo\n\nthree"),
        (PARAGRAPHS, "[2]", "one\n\nthree"),
        (PARAGRAPHS, "[4] four", "one\n\ntwo\n\nthree\n\nfour"),
        ("one", "[2] two", "one\ntwo"),
        (PARAGRAPHS, "all new", "all new"),
        (PARAGRAPHS, "", ""),
    ],
)
def test_parts_are_replaced(draft, reply, output):
    assert replace_parts(draft, reply) == output


@given(st.lists(st.from_regex(r"[a-z ]*[a-z]", fullmatch=True).map(str.strip), min_size=1, max_size=5))
def test_the_numbered_draft_as_the_reply_changes_nothing(lines):
    draft = "\n".join(lines)

    assert replace_parts(draft, number_parts(draft)) == draft


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_reply_is_read(draft, reply):
    assert isinstance(replace_parts(draft, reply), str)
