"""Values of a reply as text."""

from __future__ import annotations

import pytest

from orchestrator.supervision.reply_values import format_value


@pytest.mark.parametrize(
    "text",
    ["", " \n", "-", "—", "...", "none", "None.", "**nothing**", "N/A", "na", "null", "No", "no concerns."],
)
def test_a_text_that_says_there_is_nothing_is_empty(text):
    assert format_value(text) == ""


@pytest.mark.parametrize(
    "text", ["?", "0", "no title", "nonesuch", "nothing rhymes", "no concerns but one", "⚠"]
)
def test_a_text_that_says_something_is_kept(text):
    assert format_value(text) == text
