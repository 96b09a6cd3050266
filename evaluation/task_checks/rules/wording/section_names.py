"""The names of sections: 'two sections, "Pros" and "Cons"', "sections called Start, Middle and End"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.moods import is_demanded
from evaluation.task_checks.marks import QUOTED
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.rules.negation import is_negated
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import Fields

_NOUN: Final = r"(?:sections|headings|headers|parts|chapters|subheadings)"
_CALLED: Final = r"(?:called|named|titled|entitled|headed|labell?ed|with the (?:headings|titles|names))"
_JOIN: Final = r"(?:, ?(?:and )?| and | & )"
_WORDS: Final = r"(?!(?:and|or)\b)[\p{L}'-]+(?: (?!(?:and|or)\b)[\p{L}'-]+){0,3}"
_NAMES: Final = regex.compile(
    rf"(?:\b{_NOUN},? ?(?:{_CALLED})?[:(]? ?|\b{_CALLED} |\b(?:label|name|call|title|head) "
    r"(?:them|these|the \w+) )"
    rf"(?P<quotes>{QUOTED}(?:{_JOIN}{QUOTED})++)\)?+(?! ?/| or\b)"
    rf"|\b{_NOUN}(?:,? {_CALLED}:?|,? in (?:this|that|the following) order:) "
    rf"(?P<bare>{_WORDS}(?:{_JOIN}{_WORDS})+)(?=$|[.;)\n])"
)
_ORDER: Final = regex.compile(r"\bin (?:this|that|the (?:following|same|given)) (?:exact )?order\b")
_OF_OTHERS: Final = regex.compile(
    r"\b(?:columns?|rows?|each|every|hash ?tags?|files?|fields?|keys?)\b[^.;]{0,25}$"
)


def find_section_names(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find names that sections or headings have to have."""
    for match in _NAMES.finditer(sentence.text):
        group = "quotes" if match["quotes"] else "bare"
        place = match.start(group)
        is_ordered = any(is_demanded(sentence, start, match.end()) for start in (match.start(), place))
        if (
            not is_ordered
            or is_negated(sentence, match.start())
            or _OF_OTHERS.search(sentence.text, 0, place)
        ):
            continue
        names = _read_names(sentence, reading, match, group)
        if len(names) > 1 and all(name[:1].isupper() and not name[-1:].isdigit() for name in names):
            # The number of sections stays a requirement of its own.
            yield Finding(
                sentence.start + place, sentence.start + match.end(group), _build(names, sentence.text)
            )


def _build(names: list[str], text: str) -> Fields:
    if _ORDER.search(text):
        return {"check": "template", "labels": names}
    return {"check": "contains", "texts": names, "whole_words": False}


def _read_names(sentence: Sentence, reading: Reading, match: regex.Match[str], group: str) -> list[str]:
    start, end = sentence.start + match.start(group), sentence.start + match.end(group)
    if group == "quotes":
        return [mark.content.strip().rstrip(",") for mark in reading.get_marks(start, end)]
    return regex.split(r",? (?:and|und) |, ?| & ", reading.quote(start, end))
