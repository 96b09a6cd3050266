"""Proper names without quotation marks that the output has to mention: "mention SQL and Python"."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.moods import is_demanded
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.rules.wording.occurrences import is_negated, read_times
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import Fields

_VERB: Final = regex.compile(
    r"\b(?:mention|include|name-?drop|reference|feature)(?:s|ing)?(?: (?:both|either))?"
    r"(?: the names?(?: of)?)? "
)
_NAME: Final = (
    r"(?:the )?\p{Lu}[\p{L}\d+#&.-]*(?<!\.)(?: (?:\p{Lu}[\p{L}\d+#&-]*|\d+|of(?= \p{Lu})|de|van|von)){0,3}"
)
_NAMES: Final = regex.compile(rf"{_NAME}(?:(?:, (?:and |or )?| and | or | & | as well as ){_NAME}){{0,20}}")
_NO_NAME: Final = regex.compile(
    r"\b(?:I|JSON|XML|HTML|CSV|YAML|FAQs?|CTAs?|TL;?DR|P\.?S|Q&A|URLs?|SEO|USPs?|H[1-6]|BLUF|ASCII)\b"
)
"""Capital letters that name a form, which the output has without naming it."""
_JOIN: Final = regex.compile(r", (?:and |or )?| and | or | & | as well as ")
_CLOSED: Final = regex.compile(
    r" ?(?:$|[.;:!)])|,? (?:in|at|and|but|or|somewhere|as|when|for|by|with|once|twice|within|throughout|so|"
    r"because|please|along|alongside|exactly|only|just)\b|, "
)
"""What may follow a whole name: "mention Paris fashion" names something else."""
_JOINED: Final = regex.compile(r",? (?:(?:and|or|as well as) )?(?:the )?")


def find_names(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the names, known by their capital letters, that a sentence requires or forbids."""
    for verb in _VERB.finditer(sentence.text):
        place = sentence.start + verb.end()
        names = _read_names(sentence, reading, verb, place)
        if names is None:
            continue
        stop = bisect_left(reading.offsets, reading.offsets[place] + len(names)) - sentence.start
        if is_demanded(sentence, verb.end(), stop) or is_demanded(sentence, verb.start(), stop):
            texts = [regex.sub("^the ", "", text) for text in _JOIN.split(names)]
            yield from _build(sentence, (verb.start(), stop), texts, is_choice=" or " in names)


def _read_names(sentence: Sentence, reading: Reading, verb: regex.Match[str], place: int) -> str | None:
    """Read names after an English verb; German has capitals in every noun, some tasks in every word."""
    start = reading.offsets[sentence.start + verb.start()]
    written = reading.task[start : start + len(verb.group())]
    # Without an end, a task of nothing but names takes a time that grows with its square.
    end_place = reading.offsets[sentence.start + len(sentence.text)]
    match = _NAMES.match(reading.task, reading.offsets[place], end_place)
    if match is None or written.lower() != verb.group() or written[1:] != verb.group()[1:]:
        return None
    end = bisect_left(reading.offsets, match.end())
    after = sentence.text[end - sentence.start :]
    if _NO_NAME.search(match.group()) or not _CLOSED.match(after):
        return None
    joined = _JOINED.match(after)
    is_open = joined is not None and reading.original(end + joined.end()).isupper()
    return None if is_open else match.group()


def _build(
    sentence: Sentence, span: tuple[int, int], texts: list[str], *, is_choice: bool
) -> Iterator[Finding]:
    start, stop = span
    before, after = sentence.text[:start], sentence.text[stop:]
    bounds, length = read_times(before, after)
    first, last = sentence.start + start, sentence.start + stop + length
    fields: Fields
    if is_negated(before, ""):
        fields = {"check": "excludes", "texts": texts}
        yield Finding(first, last, fields if bounds is None else None)
    elif bounds is not None:
        for text in texts:
            fields = {"check": "occurrences", "text": text, "whole_words": False, **bounds.to_fields()}
            yield Finding(first, last, fields)
    else:
        fields = {"check": "contains", "texts": texts, "whole_words": False}
        yield Finding(first, last, {**fields, "at_least": 1} if is_choice else fields)
