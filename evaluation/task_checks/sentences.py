"""Splits a folded task into sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import regex

from evaluation.task_checks.marks import CODE, QUOTED
from evaluation.task_checks.reading import Reading

_LONGEST: Final = 700
"""A longer sentence is cut: it bounds the time of every pattern that reads a sentence."""
_BOUNDARY: Final = regex.compile(
    r"(?P<lines>\n+)"
    r"|(?P<stop>[.!?]+[\"')\]]*(?=[\s]|$)|[。！？]+)"
    rf"|(?P<mark>(?<=[{QUOTED}{CODE}]\)?)\s(?=\w))"
    r"|(?P<capital>(?<=[^\s,;:]) (?=(?:(?:your|the) (?:entire |whole )?(?:response|answer|reply|output|"
    r"text)|make sure"
    r"|please|do not|don't|use|include) ))"
)
_SHORTENED: Final = regex.compile(
    r"\b(?:e\.g|i\.e|vs|dr|mr|mrs|ms|prof|st|no|nr|approx|ca|z\.b|d\.h|u\.s|u\.k|a\.m|p\.m|"
    r"(?P<last>etc|min|max|inc|p\.p\.s|p\.s))$"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the folded text."""

    text: str
    start: int
    is_question: bool = False
    is_data: bool = False
    """Whether it belongs to a text to work on, and asks for nothing."""
    is_context: bool = False
    """Whether its orders may be addressed to somebody else: they are requirements that nothing checks."""
    paragraph: int = 0
    line: int = 0


def cut_sentences(reading: Reading) -> Iterator[Sentence]:
    """Cut a task at the ends of its sentences, without regard to what they are about."""
    start, paragraph, line = 0, 0, 0
    for match in _BOUNDARY.finditer(reading.text):
        if not _is_boundary(match, reading):
            continue
        part = Sentence("", start, "?" in match.group(), paragraph=paragraph, line=line)
        yield from _cut(reading, part, match.start())
        paragraph += match.group().startswith("\n\n")
        line += match.lastgroup == "lines"
        start = match.end()
    yield from _cut(reading, Sentence("", start, paragraph=paragraph, line=line), len(reading.text))


def _is_boundary(match: regex.Match[str], reading: Reading) -> bool:
    following = (
        reading.original(match.end() + (match.lastgroup == "stop")) if match.end() < len(reading.text) else ""
    )
    if match.lastgroup == "stop" and match.group()[-1] in ")]" and following.islower():
        # "Every other line (the 2nd, 4th ...) has a rhyme".
        return False
    if match.lastgroup == "stop":
        shortened = _SHORTENED.search(reading.text, max(0, match.start() - 8), match.start())
        return not shortened or bool(shortened["last"] and following.isupper())
    if match.lastgroup == "mark":
        before = reading.text.rfind(")", match.start() - 1, match.start())
        mark = reading.marks.get(match.start() - 1 - (before >= 0))
        return following.isupper() and mark is not None and mark.content.rstrip()[-1:] in {".", "!", "?"}
    return match.lastgroup == "lines" or following.isupper()


def _cut(reading: Reading, part: Sentence, end: int) -> Iterator[Sentence]:
    for place in range(part.start, end, _LONGEST):
        text = reading.text[place : min(end, place + _LONGEST)]
        stripped = text.lstrip()
        if stripped:
            yield replace(part, text=stripped.rstrip(), start=place + len(text) - len(stripped))
