"""Reads a task as folded text: small letters, single spaces, one character for each mark, places kept.

A German task is read with English words in the place of German ones, so that one grammar reads both.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import regex

from evaluation.task_checks.language.german import is_german, translate_word
from evaluation.task_checks.language.phrasing import rephrase
from evaluation.task_checks.language.verb_order import reorder_verbs
from evaluation.task_checks.marks import Mark, find_marks

LONGEST_END: Final = 20_000
"""Characters that are read at the start and at the end of a task; what is between is taken as data."""
_PIECE: Final = regex.compile(
    r"(?P<mark>[\ue000-\ue00f])"
    r"|(?P<item>[^\S\n]*\n\s*(?:[-•◦▪*+–—]|#{1,6}|\(?(?:\d{1,2}|[a-z])[.)])[^\S\n]+)"
    r"|(?P<lines>[^\S\n]*\n\s*)"
    r"|(?P<spaces>[^\S\n]+)"
    r"|(?P<stars>\*+)"
    r"|(?P<word>[\p{L}\p{M}]+)"
    r"|(?P<other>.)"
)
_MARK: Final = regex.compile(r"[\ue000-\ue00f]")
_SAME: Final = str.maketrans("’‘‑‒–—−…", "''-----.")
_FINISHED: Final = frozenset(".!?:;\n")


@dataclass(frozen=True)
class Reading:
    """The folded text of a task, from which every place leads back to the task."""

    task: str
    text: str
    offsets: tuple[int, ...]
    """The place in the task of each character of the text, and of its end."""
    marks: Mapping[int, Mark]
    """The marks by their place in the text."""
    is_shortened: bool = False

    def quote(self, start: int, end: int) -> str:
        """Return the words of the task, literally."""
        return self.task[self.offsets[start] : self.offsets[end]].strip()

    def original(self, place: int) -> str:
        """Return the character of the task at a place of the text."""
        return self.task[self.offsets[place] : self.offsets[place] + 1]

    @cached_property
    def mark_places(self) -> tuple[int, ...]:
        """The places of all marks in the text, in order."""
        return tuple(self.marks)

    def get_marks(self, start: int, end: int) -> list[Mark]:
        """Return the marks between two places of the text."""
        places = self.mark_places
        return [self.marks[place] for place in places[bisect_left(places, start) : bisect_left(places, end)]]


def read_task(task: str) -> Reading:
    """Fold a task. Of a very long one, only the start and the end are read."""
    if len(task) <= 2 * LONGEST_END:
        return _fold(task, find_marks(task))
    head, tail = task[:LONGEST_END], len(task) - LONGEST_END
    marks = [
        *find_marks(head),
        Mark("\ue004", LONGEST_END, tail, ""),
        *(Mark(m.character, m.start + tail, m.end + tail, m.content) for m in find_marks(task[tail:])),
    ]
    return _fold(task, marks, is_shortened=True)


def _fold(task: str, marks: list[Mark], *, is_shortened: bool = False) -> Reading:
    characters: list[str] = []
    offsets: list[int] = []
    german = is_german(task[:LONGEST_END])
    end = 0
    for mark in [*marks, Mark("", len(task), len(task), "")]:
        for text, place in _fold_words(task, end, mark.start, german=german):
            characters.extend(text)
            offsets.extend([place] if len(text) == 1 else _spread(text, place, task))
        if mark.character:
            characters.append(mark.character)
            offsets.append(mark.start)
        end = mark.end
    text = "".join(characters)
    if german:
        text, offsets = reorder_verbs(text, offsets)
    text, offsets = rephrase(text, offsets)
    places = (match.start() for match in _MARK.finditer(text))
    return Reading(task, text, (*offsets, len(task)), dict(zip(places, marks, strict=True)), is_shortened)


def _spread(text: str, place: int, task: str) -> list[int]:
    same = len(text) <= len(task) - place and task[place : place + len(text)].lower() == text
    return list(range(place, place + len(text))) if same else [place] * len(text)


def _fold_words(task: str, start: int, end: int, *, german: bool) -> Iterator[tuple[str, int]]:
    previous = "\n"
    for match in _PIECE.finditer(task, start, end):
        text = _fold_piece(match, task, previous, german=german)
        if text:
            yield text, match.start()
            previous = text[-1]


def _fold_piece(match: regex.Match[str], task: str, previous: str, *, german: bool) -> str:
    kind, text = match.lastgroup, match.group()
    if kind == "word":
        folded = text.lower() if len(text.lower()) == len(text) else text
        return translate_word(folded) if german else folded
    if kind == "lines":
        following = task[match.end() : match.end() + 1]
        is_wrapped = text.count("\n") == 1 and following.islower() and previous not in _FINISHED
        return " " if is_wrapped else "\n" * min(text.count("\n"), 2)
    if kind in {"stars", "mark"}:
        return "" if kind == "stars" else " "
    if kind == "item":
        return "\n" * min(text.count("\n"), 2)
    return " " if kind == "spaces" else text.translate(_SAME)
