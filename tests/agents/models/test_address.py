"""Keys stay out of messages."""

from __future__ import annotations

import pytest
from langchain_openai import ChatOpenAI

from agents import BaseAgent, ModelRefusedError
from agents.models.identity import mask_keys


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Incorrect key: Bearer abc.def-123", "Incorrect key: ***"),
        ("key sk-abcdefgh12345678 is unknown", "key *** is unknown"),
        ("gsk_ABCDEFGH1234 or hf_abcdefgh1234", "*** or ***"),
        ("a plain risk-free sentence", "a plain risk-free sentence"),
        ("task-oriented, desk-bound", "task-oriented, desk-bound"),
    ],
)
def test_what_looks_like_a_key_is_masked(text, shown):
    assert mask_keys(text) == shown


def test_a_known_secret_is_masked_whatever_it_looks_like():
    assert mask_keys("the word is swordfish!", ["swordfish"]) == "the word is ***!"


def test_a_key_that_a_server_echoes_is_not_in_the_error(chat_server):
    chat_server.answers.append((401, {}, {"error": {"message": "wrong key swordfish", "type": "x"}}))
    llm = ChatOpenAI(model="m", base_url=chat_server.url, api_key="swordfish", max_retries=0)

    with pytest.raises(ModelRefusedError, match=r"wrong key \*\*\*"):
        BaseAgent(llm).invoke("x")
