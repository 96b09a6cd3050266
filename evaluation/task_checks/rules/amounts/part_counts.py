"""Finds numbers that hold for a part of the output: "two paragraphs on Rome and two paragraphs on Athens"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Final

import regex

from evaluation.task_checks.quantities import NUMBER
from evaluation.task_checks.rules.amounts.further_texts import is_of_one_text
from evaluation.task_checks.rules.finding import Finding, overlap
from evaluation.task_checks.sentences import Sentence

_COUNTS: Final = frozenset(
    {"word_count", "sentence_count", "paragraph_count", "line_count", "character_count"}
    | {"list_item_count", "section_count"}
)
_SIZES: Final = _COUNTS - {"section_count"}
_LONGEST_BEFORE: Final = 1_000
_MOST: Final = 50
"""Numbers that are compared with each other; it bounds the time of long tasks."""
_TOPIC: Final = (
    r"(?:about|on|regarding|concerning|describing|covering|discussing|explaining|dedicated to|devoted to|"
    r"for|over|to|zum|zur)\b"
)
_JOIN: Final = r"(?:[,;.:&]|\band|\bthen|\bplus|\bfollowed by|\bas well as|\balso)"
_OTHER: Final = (
    r"(?:an?|another|a (?:second|third|further|different|another)|one more|(?:the )?(?:other|second)|"
    rf"{NUMBER})"
)
_ABOUT: Final = regex.compile(rf"^ {_TOPIC}")
_GOES_ON: Final = regex.compile(
    rf"^ {_TOPIC}[^\n]{{1,80}}?{_JOIN}[ \n]{{1,3}}"
    r"(?:(?:then|also|write|add|give|and|noch|about|exactly|at least|at most) ){0,3}"
    rf"{_OTHER} (?:\w+ ){{0,3}}?(?:about|on|regarding|describing|covering|to|zum|zur)\b"
)
_CAME_BEFORE: Final = regex.compile(
    rf"\b{_OTHER} (?:\w+ ){{1,3}}{_TOPIC}[^\n.;]{{1,60}}(?:,|\band|\bthen|\bplus|\bfollowed by|\bas well as)"
    r"(?: (?:then|also|write|add|give|about|exactly|at least|at most)){0,3} $"
)
_EACH_BEFORE: Final = regex.compile(
    r"\beach(?: (?:about|exactly|at least|at most|in|with|using)){0,2} $"
    r"|\b(?:give|grant|devote|spend)\b[^.;\n]{0,20}\beach\b[^.;,\n]{0,40}$"
)
_EACH_AFTER: Final = regex.compile(
    rf"^(?:(?! (?:that|which|where|with|having|of {NUMBER})\b)[^.;,:\n]){{0,60}} (?:each|apiece|respectively)"
    rf"(?=[.,;!\n]|$| {_TOPIC})"
)
_DESCRIBED: Final = regex.compile(
    r"\b(?:describe|explain|summari[sz]e|define|discuss|introduce|compare|outline|present|characteri[sz]e|"
    r"cover|tell \w+ about|write about|translate) (?:[\w'-]+,? ){1,8}(?:in|with|using|within)"
    r"(?: (?:about|exactly|at least|at most|only|just))? $"
)
_LABEL: Final = regex.compile(
    r"(?:^|\n|[.;,] )\W{0,4}[\p{L}' -]{1,30}: ?(?:(?:write|use|in|with|about|exactly|at least|at most) )*$"
)


@dataclass(frozen=True)
class _Place:
    """A number with the sentence that it stands in, and the task before and after it."""

    finding: Finding
    sentence: Sentence
    before: str
    after: str

    @cached_property
    def is_about_part(self) -> bool:
        """Whether its words name what it is about, so that another number can be about something else."""
        patterns = (_DESCRIBED, _LABEL)
        return bool(_ABOUT.match(self.after)) or any(pattern.search(self.before) for pattern in patterns)

    @property
    def is_distributed(self) -> bool:
        """Whether the number holds for each of several parts."""
        return bool(_EACH_BEFORE.search(self.before) or _EACH_AFTER.match(self.after))


def open_part_counts(findings: Sequence[Finding], sentences: Sequence[Sentence], text: str) -> list[Finding]:
    """Return the findings without the checks of numbers that hold for a part of the output."""
    counts = islice(filter(_is_whole, findings), _MOST)
    places = [_place(finding, sentences, text) for finding in counts]
    known = [place for place in places if place is not None]
    parts = {*_find_parts(known), *_find_single_texts(known, text)}
    return [
        replace(each, check=None) if each.start in parts and _is_whole(each) else each for each in findings
    ]


def _is_whole(finding: Finding) -> bool:
    check = finding.check or {}
    is_ban = check.get("max") == 0
    return check.get("check") in _COUNTS and "each" not in check and not finding.is_default and not is_ban


def _place(finding: Finding, sentences: Sequence[Sentence], text: str) -> _Place | None:
    for sentence in sentences:
        if sentence.start <= finding.start < sentence.start + len(sentence.text):
            before = text[max(0, finding.start - 150) : finding.start]
            return _Place(finding, sentence, before, text[finding.end : finding.end + 150])
    return None


def _find_parts(places: Sequence[_Place]) -> Iterator[int]:
    """Yield where the numbers of parts start."""
    for place in places:
        if place.is_distributed or (_ABOUT.match(place.after) and _CAME_BEFORE.search(place.before)):
            yield place.finding.start
        if goes_on := _GOES_ON.match(place.after):
            end = place.finding.end + goes_on.end()
            yield from (
                each.finding.start for each in places if place.finding.start <= each.finding.start < end
            )
    for index, first in enumerate(places):
        for second in places[index + 1 :]:
            if _share_output(first, second):
                yield from (first.finding.start, second.finding.start)


def _find_single_texts(places: Sequence[_Place], text: str) -> Iterator[int]:
    """Yield where the sizes start that hold for one text although the task demands further ones."""
    for place in places:
        start = place.finding.start
        if (place.finding.check or {}).get("check") in _SIZES and is_of_one_text(
            text[max(0, start - _LONGEST_BEFORE) : start], place.before, place.after
        ):
            yield start


def _share_output(first: _Place, second: _Place) -> bool:
    """Return whether two numbers of the same thing are of two parts, and not one number said twice."""
    if _read_kind(first.finding) != _read_kind(second.finding):
        return False
    if first.finding.check == second.finding.check and overlap(first.finding, second.finding):
        return False
    return first.sentence is second.sentence or (first.is_about_part and second.is_about_part)


def _read_kind(finding: Finding) -> tuple[object, ...]:
    """Return what is counted, and in which direction it is bounded."""
    check = finding.check or {}
    return (check.get("check"), "min" in check or "exactly" in check, "max" in check or "exactly" in check)
