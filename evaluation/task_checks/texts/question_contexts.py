"""Tells the subject of a question, or of an order to explain, from demands on the reply.

"The worksheet says: write two paragraphs. Is this too much?" demands nothing of the reply. If a task ends by
asking, statements describe, and orders between a statement and the question may be somebody else's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.texts.sentence_roles import (
    addresses_reply,
    asks_or_explains,
    asks_question,
    describes,
    gives_situation,
    makes_request,
    mends_text,
    states_demand,
    tells_story,
)


def mark_contexts(sentences: Sequence[Sentence]) -> Iterator[Sentence]:
    """Mark statements of a task that ends by asking as data, and orders after statements as context."""
    last = next((place for place in reversed(range(len(sentences))) if makes_request(sentences[place])), -1)
    if last < 0 or not asks_or_explains(sentences[last]):
        yield from sentences
        return
    yield from _mark_before(sentences[:last], is_asked=asks_question(sentences[last], is_last=True))
    yield sentences[last]
    for sentence in sentences[last + 1 :]:
        is_told = tells_story(sentence) or (mends_text(sentences[last]) and describes(sentence))
        yield set_apart(sentence) if is_told and not addresses_reply(sentence) else sentence


def _mark_before(sentences: Sequence[Sentence], *, is_asked: bool) -> Iterator[Sentence]:
    """Mark the sentences after the leading demands; before an order to explain, after a story."""
    is_leading, listed = True, -1
    for sentence in sentences:
        is_own = addresses_reply(sentence) or sentence.paragraph == listed
        if is_own and sentence.text.endswith(":") and not sentence.is_data:
            listed = sentence.paragraph
        leads = (
            states_demand(sentence) or gives_situation(sentence) if is_asked else not tells_story(sentence)
        )
        is_leading = is_leading and not sentence.is_data and (is_own or leads)
        yield sentence if is_leading or is_own else set_apart(sentence)


def set_apart(sentence: Sentence) -> Sentence:
    """Mark a statement as data, and an order as one that may be somebody else's."""
    if states_demand(sentence):
        return replace(sentence, is_context=True)
    return replace(sentence, is_data=True)
