"""Tells a list of demands after a colon from a text: "Describe it in 2 lines: the first in ..."."""

from __future__ import annotations

from typing import Final

import regex

from evaluation.task_checks.language.words import REWORKING

_PART: Final = regex.compile(r"[,;] ?")
_DEMANDS: Final = regex.compile(
    r"\b(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|first|second|third|last|no|each|every|"
    r"per) (?:[a-z]+ )?(?:\d+ )?(?:words?|sentences?|lines?|paragraphs?|bullets?|points?|items?|sections?|"
    r"headings?|verses?|characters|titles?)\b|\b(?:bullet (?:points?|list)|numbered|bold|italics|headings?|"
    r"upper ?case|lower ?case|capitals|(?:at (?:most|least)|no more than|not more (?:than|as)|up to|"
    r"max\.?) (?:\w+ )?\w+)\b"
)
_STATES: Final = regex.compile(
    r"\b(?:is|are|was|were|has|had|have|did|does|do|i|he|she|we|they|you|my|our|his|her|said|says|\w+ed)\b"
)
_NORM: Final = regex.compile(
    r"\b(?:rules?|requirements?|guidelines?|criteria|instructions?|prompts?|conventions?|standards?|forms?|"
    r"means?|difference|question|what|why|whether|who)\b"
)
_VARIANT: Final = regex.compile(r"(?:once )?(?:in|as|for) ")
"""Parts that are versions of one output: "three ways: in one word, in one line"."""
_GIVEN: Final = regex.compile(rf"^(?:please )?(?:{REWORKING})\b|\b(?:this|these|following|below|my|our)\b")
_RESULT: Final = regex.compile(r"\b(?:in|into|as|with|using|within)\b")
"""Words that say what to make; the list after them says more of it."""
_FEWEST: Final = 2
_LONGEST: Final = 45


def lists_demands(head: str, rest: str, *, has_below: bool) -> bool:
    """Check whether words after a colon are several demands without a verb."""
    parts = [part for part in _PART.split(rest.strip()) if part]
    if len(parts) < _FEWEST or _NORM.search(head) or _STATES.search(rest):
        return False
    is_text = (_GIVEN.search(head) or not _RESULT.search(head)) and not has_below
    if is_text or all(_VARIANT.match(part) for part in parts):
        return False
    demands = sum(_DEMANDS.search(part) is not None for part in parts)
    return demands > 1 and 2 * demands >= len(parts) and all(len(part) <= _LONGEST for part in parts)
