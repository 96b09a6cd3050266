"""Finds the marks of items: numbers, letters, numbered labels ("Question 3:") and bullet points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import regex

from evaluation.checks.segmentation import CONTENT

_TAB: Final = 4
_HAS_CONTENT: Final = regex.compile(CONTENT)
_COUNT_WORD: Final = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"eins?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn)"
)
EMOJI: Final = r"(?:(?![0-9#*])[\p{Extended_Pictographic}\uFE0F\u200D]{1,8}[ \t]*)?"
_LABEL: Final = (
    rf"(?:(?P<word>\p{{L}}{{1,20}}) ?(?:#|no\. ?|nr\. ?)?(?P<of>\d{{1,3}}|{_COUNT_WORD})(?![\p{{L}}\d])"
    r"(?=[ \t]*(?:[:.)：—–*_]|- |$))"
    r"|第 ?(?P<of>[\d一二三四五六七八九十百]{1,4}) ?\p{Han}?(?=[：:、，. 　]|$))"
)
_NUMBER: Final = r"(?:\((?P<of>\d{1,3})\)|(?P<of>\d{1,3})(?:[.)](?!\d)|、|．|️?⃣))"
_HAN_NUMBER: Final = r"(?P<of>[一二三四五六七八九十百]{1,4})[、．.](?=.)"
_ROMAN: Final = r"(?=[ivxIVX]{2})[xX]{0,3}(?:[iI][xX]|[iI][vV]|[vV]?[iI]{0,3})"
_OPENING: Final = rf"^[ \t]*{EMOJI}"
_MARKS: Final = (
    regex.compile(rf"^#{{1,6}}[ \t]+[*_]{{0,3}}{EMOJI}(?:{_LABEL}|{_NUMBER})", regex.I),
    regex.compile(rf"{_OPENING}[*_]{{2,3}}{EMOJI}(?:{_LABEL}|{_NUMBER})", regex.I),
    regex.compile(rf"{_OPENING}{_LABEL}(?!$)", regex.I),
    regex.compile(rf"^[ \t]*(?:{_NUMBER}|{_HAN_NUMBER})[ \t]*\S"),
    regex.compile(rf"^[ \t]*\(?(?P<of>[a-zA-Z]|{_ROMAN})[.)][ \t]+\S"),
    regex.compile(r"^[ \t]*(?P<of>[-*+•◦▪‣–●○])[ \t]+\S"),
)
"""The marks of items: those of one kind are nested in those of a kind before it."""
LETTER, BULLET = len(_MARKS) - 2, len(_MARKS) - 1


@dataclass(frozen=True, slots=True)
class ItemMark:
    """A line that starts an item."""

    line: int
    kind: int
    indent: int
    word: str
    number: str


def is_marked(line: str) -> bool:
    """Check whether a line starts with the mark of an item, also if nothing else stands in it."""
    return any(pattern.match(line) for pattern in _MARKS)


def find_marks(lines: Sequence[str]) -> Iterator[ItemMark]:
    """Yield the lines that start an item and have content behind the mark."""
    for place, line in enumerate(lines):
        for kind, pattern in enumerate(_MARKS):
            if (match := pattern.match(line)) and _HAS_CONTENT.search(line, match.end("of")):
                indent = len(line.expandtabs(_TAB)) - len(line.expandtabs(_TAB).lstrip())
                word = match.groupdict().get("word") or ""
                yield ItemMark(place, kind, indent, word.casefold(), match["of"].casefold())
                break
