"""Tells the sentences of the request from the sentences of given texts and descriptions."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import Final

import regex

from evaluation.task_checks.demands.fragments import ASKS_BACK
from evaluation.task_checks.language.words import EXPLAINING, PRODUCING, REQUIRING
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.sentences import Sentence, cut_sentences
from evaluation.task_checks.texts.announced_texts import mark_announced
from evaluation.task_checks.texts.pasted_lines import find_pasted_lines
from evaluation.task_checks.texts.question_contexts import mark_contexts
from evaluation.task_checks.texts.sentence_roles import asks_question, makes_request
from evaluation.task_checks.texts.text_blocks import mark_text_blocks

_TALKS_OF_OUTPUT: Final = regex.compile(
    rf"^(?:please )?(?:{REQUIRING}|{PRODUCING}|{EXPLAINING})\b|"
    r"\b(?:you|your|please|response|answer|i (?:want|need))\b"
)
_DISCUSSES: Final = regex.compile(
    r"(?:and )?why|how come|what (?:is|was) (?:meant|the (?:point|meaning|reason)[a-z ]{0,20})|"
    r"(?:am|do) i (?:[a-z'-]+ ?){1,4}|(?:"
    r"(?:is|was|does|do|did|are|were|can|should) (?:this|that|these|those|he|she|they|we)"
    r"|(?:why|how|what) (?:is|was|does|did|are|were|should) (?:this|that|these|those))\b(?: [a-z'-]+){0,5}"
)
"""A question about the sentence before it: "Is this fair?"."""
_REFERS: Final = regex.compile(r"(?:that|this)(?:'s| is| was) (?:what|how|why)\b")
"""A statement about the question before it: "In 50 words? That's what the form says"."""


def split_sentences(reading: Reading) -> list[Sentence]:
    """Split a task into its sentences; sentences of a text to work on are marked as data."""
    cut = [_mark_question(sentence) for sentence in cut_sentences(reading)]
    sentences = list(mark_announced(_mark_pasted(cut, reading), reading))
    discussed = [
        replace(sentence, is_data=True) if _is_discussed(sentence, following) else sentence
        for sentence, following in zip(sentences, [*sentences[1:], None], strict=False)
    ]
    return list(mark_contexts(list(mark_text_blocks(discussed))))


def _mark_question(sentence: Sentence) -> Sentence:
    """Mark a question without its mark: "does anybody still write letters"."""
    if sentence.is_question or " - " in sentence.text or not asks_question(sentence):
        return sentence
    return replace(sentence, is_question=True)


def _mark_pasted(sentences: list[Sentence], reading: Reading) -> list[Sentence]:
    """Mark the sentences of lines that somebody else wrote, unless nothing else requests anything."""
    lines = find_pasted_lines(reading.task)
    if not lines:
        return sentences
    starts = [start for start, _ in lines]
    marked: list[Sentence] = []
    for sentence in sentences:
        start = reading.offsets[sentence.start]
        place = bisect_right(starts, start) - 1
        is_pasted = place >= 0 and start < lines[place][1]
        marked.append(replace(sentence, is_data=sentence.is_data or is_pasted))
    return marked if any(map(makes_request, marked)) else sentences


def _is_discussed(sentence: Sentence, following: Sentence | None) -> bool:
    """Check whether the next sentence is a question about a statement: "Poems had 14 lines. Why is that?"."""
    return bool(
        following is not None
        and not _TALKS_OF_OUTPUT.search(sentence.text)
        and (
            (following.is_question and not sentence.is_question and _asks_back(following.text))
            or (sentence.is_question and _REFERS.match(following.text))
        )
    )


def _asks_back(text: str) -> bool:
    return _DISCUSSES.fullmatch(text) is not None or ASKS_BACK.search(text) is not None
