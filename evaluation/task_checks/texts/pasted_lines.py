"""Finds the lines of a task that somebody else wrote: quoted lines, dialogues and logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import regex

_QUOTED: Final = regex.compile(r"\s*>\s?\S")
_TIMED: Final = regex.compile(r"\s*[\[(]?(?:\d{4}-\d\d-\d\d[ T])?\d{1,2}[:.]\d\d(?:[:.]\d\d)?[\])]?,?\s+\S")
_SPOKEN: Final = regex.compile(
    r"\s*(?:[-*•]\s+)?(?!(?i:use|avoid|include|exclude|write|add|no|must|rule|note|title|section|format|keyword)\b)"
    r"(?P<name>[\p{L}][\p{L}'-]*(?: \p{Lu}[\p{L}'-]*){0,2})(?: ?\([^)\n]{1,20}\))?(?::\s|\.\s+(?=[\p{L}(]))"
)
_FEWEST_TURNS: Final = 2


def find_pasted_lines(task: str) -> list[tuple[int, int]]:
    """Return the places of the lines, from and to; none if every line is one of them."""
    lines = list(_split_lines(task))
    pasted = {*_find_quoted(lines), *_find_log(lines), *_find_turns(lines)}
    return [lines[place][:2] for place in sorted(pasted)] if len(pasted) < len(lines) else []


def _split_lines(task: str) -> Iterator[tuple[int, int, str]]:
    start = 0
    for text in task.split("\n"):
        if text.strip():
            yield start, start + len(text), text
        start += len(text) + 1


def _find_quoted(lines: Sequence[tuple[int, int, str]]) -> Iterator[int]:
    return (place for place, line in enumerate(lines) if _QUOTED.match(line[2]))


def _find_log(lines: Sequence[tuple[int, int, str]]) -> range:
    return _reach([place for place, line in enumerate(lines) if _TIMED.match(line[2])])


def _find_turns(lines: Sequence[tuple[int, int, str]]) -> range:
    """Find a dialogue: at least one of its speakers has two turns."""
    names = {place: match["name"] for place, line in enumerate(lines) if (match := _SPOKEN.match(line[2]))}
    counts = Counter(names.values())
    if not any(count >= _FEWEST_TURNS for count in counts.values()):
        return range(0)
    return _reach(list(names))


def _reach(places: Sequence[int]) -> range:
    """Return the places from the first to the last one; none for a single one."""
    return range(places[0], places[-1] + 1) if len(places) >= _FEWEST_TURNS else range(0)
