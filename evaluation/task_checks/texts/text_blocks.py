"""Tells the paragraphs of a request from the text that it is about: "Is this a fraud?", and a message.

A paragraph that asks or orders to explain, and orders no text, is a request about the other paragraphs. Of
these, the ones that state demands, ask, or tell of the user belong to the request, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

import regex

from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.texts.question_contexts import set_apart
from evaluation.task_checks.texts.sentence_roles import (
    addresses_reply,
    asks_or_explains,
    orders_text,
    states_demand,
    tells_story,
)

_GOES_ON: Final = regex.compile(r"(?:it|this|that|there|and|but|also|because|for)\b")


def mark_text_blocks(sentences: Sequence[Sentence]) -> Iterator[Sentence]:
    """Mark the sentences of paragraphs that belong to a text; of a single paragraph, of lines."""
    blocks = _split(sentences)
    if len(blocks) == 1:
        yield from sentences
        return
    request = next((blocks[place] for place in (0, -1) if blocks and _is_request(blocks[place])), None)
    are_lines = bool(blocks) and blocks[0][0].paragraph == blocks[-1][0].paragraph
    is_listed = False
    for block in blocks:
        is_users = request is None or block is request or is_listed or _is_users(block)
        is_listed = (
            is_users and not block[-1].is_data and (block[-1].text.endswith(":") or (is_listed and are_lines))
        )
        yield from block if is_users else map(set_apart, block)


def _split(sentences: Sequence[Sentence]) -> list[list[Sentence]]:
    is_one = len({sentence.paragraph for sentence in sentences}) == 1
    groups = groupby(sentences, lambda sentence: sentence.line if is_one else sentence.paragraph)
    return [list(group) for _, group in groups]


def _is_request(block: Sequence[Sentence]) -> bool:
    is_about = any(asks_or_explains(sentence) for sentence in block if not sentence.is_data)
    return is_about and not any(orders_text(sentence) for sentence in block)


def _is_users(block: Sequence[Sentence]) -> bool:
    """Check whether a paragraph states demands, asks, or tells of the user."""
    first = block[0]
    if (
        first.is_data
        or asks_or_explains(first)
        or addresses_reply(first)
        or tells_story(first)
        or _GOES_ON.match(first.text)
    ):
        return True
    demands = sum(states_demand(sentence) for sentence in block)
    return states_demand(first) and 2 * demands >= len(block)
