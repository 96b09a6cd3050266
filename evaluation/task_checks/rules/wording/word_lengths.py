"""The length of words: "no word longer than six letters"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.moods import is_demanded
from evaluation.task_checks.quantities import find_quantities
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.amounts.units import PART_BEFORE
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.sentences import Sentence

_LETTERS: Final = regex.compile(r" (?:letters|characters)\b")
_WORD: Final = regex.compile(
    r"\b(?:no|every|each|all|only|using|use|any|with|in|of|single|avoid) (?:(?:the|any|only|simple|short) )?"
    r"(?P<word>words?)(?: (?:may|must|should|can|has|have|is|are|be|of|with|that|which|having|to|"
    r"exceed)){0,4} ?$"
)
_FEWEST: Final = 2


def find_word_lengths(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find the largest number of letters of each word."""
    if "letters" not in sentence.text and "characters" not in sentence.text:
        return
    for quantity in find_quantities(sentence.text):
        before, most = sentence.text[: quantity.start], quantity.bounds.most
        word = _WORD.search(before)
        if word is None or not _LETTERS.match(sentence.text, quantity.end) or PART_BEFORE.search(before):
            continue
        if quantity.bounds.least is not None or most is None or most < _FEWEST:
            continue
        places = (word.start(), word.start("word"), quantity.start)
        if any(is_demanded(sentence, place, quantity.end) for place in places):
            start, end = sentence.start + word.start(), sentence.start + quantity.end
            pattern = rf"[\p{{L}}\p{{M}}]{{{most + 1},}}"
            yield Finding(start, end, {"check": "regex", "pattern": pattern, "matches": False})
