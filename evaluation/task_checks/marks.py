"""Finds the parts of a task that stand for themselves: quoted texts, placeholders, titles, separators, code.

Every search is linear: closing marks are listed once and found by bisection.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import regex

QUOTED: Final = "\ue000"
PLACEHOLDER: Final = "\ue001"
ANGLED: Final = "\ue002"
SEPARATOR: Final = "\ue003"
CODE: Final = "\ue004"

_CLOSING: Final[Mapping[str, str]] = {
    '"': '"”',
    "“": '”"',
    "”": '”"',
    "„": '“”"',
    "‟": '”"',
    "«": "»",
    "»": "«",
    "‹": "›",
    "「": "」",
    "『": "』",
    "'": "'’",
    "‘": "’'",
    "‚": "‘’'",
    "`": "`",
}
_UNSPACED: Final = frozenset("「『")
_SHORT: Final = frozenset("'‘‚`‹")
"""Quotation marks that are apostrophes and accents, too: what they enclose is one line, and short."""
_MOST_SHORT: Final = 120
_OPENING: Final = regex.compile(r"(?<![\p{L}\p{N}])[\"“”„‟«»‹'‘‚`](?=[^\s])|[「『]")
_CLOSING_MARK: Final = regex.compile(r"(?<=\S|[\"“'][*•#>-] )[\"”“»«›'’‘`](?![\p{L}\p{N}])|[」』]")
_SIGNS: Final = r"(?:\*{3,}|-{3,}|={3,}|_{3,}|~{3,}|\+{3,})"
_OTHER: Final = regex.compile(
    r"(?P<placeholder>(?<!\w)\[[^\[\]\n]{1,80}\])"
    r"|(?P<angled><<[^<>\n]{1,120}>>)"
    rf"|(?P<separator>(?<![\w*])(?:{_SIGNS}|#{{3,}}(?!\s*\w))(?![\w*]))",
)
_LITERAL: Final = regex.compile(
    r"(?<![\w#&/@.])[#@]\p{L}\w*|https?://[^\s<>()\[\]\"]*[\w/]|(?<![\w.])[\w.+-]{1,60}@[\w-]+\.[\w.]*\w"
)
"""Hashtags and addresses: literal without quotation marks."""
_SEPARATOR: Final = regex.compile(_SIGNS)
_FENCE: Final = regex.compile(r"^```[^\n`]*$", regex.M)
_CHARACTERS: Final = {
    "placeholder": PLACEHOLDER,
    "angled": ANGLED,
    "separator": SEPARATOR,
}


@dataclass(frozen=True, slots=True)
class Mark:
    """A part of the task that one character replaces."""

    character: str
    start: int
    end: int
    content: str


def find_marks(task: str) -> list[Mark]:
    """Find all marks in the order of the task; none overlaps another one."""
    blocks = list(_find_code_blocks(task))
    quotations = _drop_covered(list(_find_quotations(task)), blocks)
    others = [
        Mark(_CHARACTERS[match.lastgroup or ""], match.start(), match.end(), match.group())
        for match in _OTHER.finditer(task)
    ]
    literals = _drop_covered(list(_find_literals(task)), sorted([*quotations, *blocks], key=_get_start))
    texts = sorted([*quotations, *blocks, *literals], key=_get_start)
    return sorted([*texts, *_drop_covered(others, texts)], key=_get_start)


def _get_start(mark: Mark) -> int:
    return mark.start


def _drop_covered(marks: list[Mark], texts: list[Mark]) -> list[Mark]:
    """Drop the marks that overlap one of the texts, which are in order."""
    starts = [text.start for text in texts]
    places = [bisect_left(starts, mark.end) for mark in marks]
    return [
        mark
        for mark, place in zip(marks, places, strict=True)
        if not place or texts[place - 1].end <= mark.start
    ]


def _find_literals(task: str) -> Iterator[Mark]:
    if "#" in task or "@" in task or "://" in task:
        for match in _LITERAL.finditer(task):
            yield Mark(QUOTED, match.start(), match.end(), match.group())


def _find_code_blocks(task: str) -> Iterator[Mark]:
    fences = list(_FENCE.finditer(task))
    for first, last in zip(fences[::2], fences[1::2], strict=False):
        yield Mark(CODE, first.start(), last.end(), task[first.end() : last.start()])


def _find_quotations(task: str) -> Iterator[Mark]:
    closing: dict[str, list[int]] = {}
    for match in _CLOSING_MARK.finditer(task):
        closing.setdefault(match.group(), []).append(match.start())
    end = 0
    for match in _OPENING.finditer(task):
        start = match.start()
        if start < end:
            continue
        stop = _find_end(task, start, closing)
        if stop is not None and (content := task[start + 1 : stop]).strip():
            end = stop + 1
            separator = _SEPARATOR.fullmatch(content.strip())
            yield Mark(
                SEPARATOR if separator else QUOTED, start, end, content.strip() if separator else content
            )


def _find_end(task: str, start: int, closing: Mapping[str, list[int]]) -> int | None:
    """Find the partner of an opening mark: the usual one if no other opening mark comes first."""
    for mark in _CLOSING[task[start]]:
        stop = _next(closing.get(mark, []), start + 1)
        if stop is None or _is_too_long(task, start, stop):
            continue
        following = _next_opening(task, start, mark)
        if mark == task[start] or following is None or stop < following:
            return stop
    return None


def _next_opening(task: str, start: int, mark: str) -> int | None:
    """Return the place of the next mark like the opening one; a quotation does not reach beyond it."""
    if mark == task[start]:
        return None
    place = task.find(task[start], start + 1)
    return None if place < 0 else place


def _is_too_long(task: str, start: int, stop: int) -> bool:
    if task[start] not in _SHORT:
        return False
    return stop - start > _MOST_SHORT or "\n" in task[start:stop]


def _next(places: list[int], start: int) -> int | None:
    place = bisect_left(places, start)
    return places[place] if place < len(places) else None
