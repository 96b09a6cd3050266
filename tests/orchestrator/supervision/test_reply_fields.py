"""Values of a reply as text."""

from __future__ import annotations

import pytest

from orchestrator.supervision.reply_fields import format_value, is_doubtful


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


@pytest.mark.parametrize("text", ["", "Here you go:", "```json", "All done. As asked."])
def test_plain_words_around_an_answer_are_not_is_doubtful(text):
    assert not is_doubtful(text)


@pytest.mark.parametrize(
    "text", ["it is not done", "don't", "Don’t", "but", "HALT", "for example", "ask human", "</think>"]
)
def test_words_that_deny_or_quote_are_is_doubtful(text):
    assert is_doubtful(text)
