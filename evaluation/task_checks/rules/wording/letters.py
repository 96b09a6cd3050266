"""Letters that the output counts or may not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.moods import is_demanded
from evaluation.task_checks.marks import QUOTED
from evaluation.task_checks.quantities import Bounds, find_quantities
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.rules.wording.occurrences import (
    APPEARS,
    is_negated,
    read_times,
    states_appearance,
)
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import Fields

_LETTER: Final = rf"(?:(?<![\w'])[a-zäöüß](?![\w'])|{QUOTED})"
_LETTERS: Final = regex.compile(
    r"\b(?:letters?|characters?|vowels?|consonants?) "
    rf"(?P<list>{_LETTER}(?:(?:, (?:and |or )?| and | or | nor )(?:the letters? )?{_LETTER})*)"
)
_PLURAL: Final = regex.compile(r" (?:letters? )?(?P<letter>[a-z])'s\b")
_ONE: Final = regex.compile(_LETTER)
_NO_BEFORE: Final = regex.compile(
    r"\b(?:no|without(?: the)?|(?:not|without)(?: even)? (?:a|one|a single|one single)) $"
)
_OF_A_PART: Final = regex.compile(
    r"\b(?:title|heading|first|last|second|start|begin|end|each|every)\w*\b[^,;]{0,40}$"
)
_IN_EACH: Final = regex.compile(r"[^.;]{0,40}\b(?:each|every) (?:sentence|line|word|paragraph)")


def find_letters(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the letters that a sentence counts or forbids."""
    for match in _LETTERS.finditer(sentence.text):
        before, after = sentence.text[: match.start()], sentence.text[match.end() :]
        bounds, length = read_times(before, after)
        if bounds is None and is_negated(before, after):
            bounds = Bounds(None, 0)
        if bounds is None or not _is_required(sentence, match, after):
            continue
        is_part = _OF_A_PART.search(before[-40:]) or _IN_EACH.match(after)
        start, end = sentence.start + match.start(), sentence.start + match.end() + length
        for letter in _read_letters(sentence, reading, match):
            fields: Fields = {"check": "letter_count", "letter": letter, **bounds.to_fields()}
            yield Finding(start, end, None if is_part else fields)


def find_plural_letters(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find letters in the plural: "more than 10 n's"."""
    for quantity in find_quantities(sentence.text):
        match = _PLURAL.match(sentence.text, quantity.end)
        if match and is_demanded(sentence, quantity.start, match.end()):
            start, end = sentence.start + quantity.start, sentence.start + match.end()
            fields: Fields = {
                "check": "letter_count",
                "letter": match["letter"],
                **quantity.bounds.to_fields(),
            }
            is_part = _OF_A_PART.search(sentence.text[: quantity.start]) or _IN_EACH.match(
                sentence.text[match.end() :]
            )
            yield Finding(start, end, None if is_part else fields)


def _is_required(sentence: Sentence, match: regex.Match[str], after: str) -> bool:
    if APPEARS.match(after):
        return states_appearance(sentence, sentence.text[: match.start()], after)
    negation = _NO_BEFORE.search(sentence.text[: match.start()])
    places = (match.start(), negation.start() if negation else match.start())
    return any(is_demanded(sentence, place, match.end()) for place in places)


def _read_letters(sentence: Sentence, reading: Reading, match: regex.Match[str]) -> Iterator[str]:
    for one in _ONE.finditer(match["list"]):
        mark = reading.marks.get(sentence.start + match.start("list") + one.start())
        letter = mark.content.strip() if mark else one.group()
        if len(letter) == 1:
            yield letter
