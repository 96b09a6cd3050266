"""Reads a text without the disguises of single characters, and finds the places of its parts again."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

from evaluation.sensitive.spans import Span
from evaluation.texts.normal import INVISIBLE

_DISGUISED: Final = re.compile(
    rf"{INVISIBLE}|[\uff01-\uff5e\U0001d400-\U0001d7ff]|%(?P<code>[2-7][0-9A-Fa-f])"
)
"""Matches what no reader sees, wide and mathematical letters, and characters that are URL-encoded."""
DISGUISED_BYTES: Final = (
    r"%[2-7][0-9A-Fa-f]|\xc2\xad|\xcd\x8f|\xd8\x9c|\xe1(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0[\x8b-\x8f])"
    r"|\xe2(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xaf])|\xe3\x85\xa4|\xf0\x9d[\x90-\x9f]|\xf3\xa0"
    r"|\xef(?:\xb8[\x80-\x8f]|\xbb\xbf|\xbc[\x81-\xbf]|\xbd[\x80-\x9e]|\xbe\xa0|\xbf[\xb0-\xbb])"
)
"""Matches the same in UTF-8, besides control characters, which JSON escapes."""


@dataclass(frozen=True, slots=True)
class PlainReading:
    """A text without disguises.

    Attributes:
        text: The text.
        starts: Where each of its pieces begins.
        sources: Where the piece begins in the disguised text.
        widths: How many characters of the disguised text each character of the piece stands for.
    """

    text: str
    starts: list[int]
    sources: list[int]
    widths: list[int]

    def locate(self, span: Span) -> Span:
        """Returns the span of the disguised text that a span of the plain one stands for."""
        start, _ = self._find_source(span.start)
        last, width = self._find_source(span.end - 1)
        return Span(start, last + width, span.kind, span.category)

    def _find_source(self, place: int) -> tuple[int, int]:
        piece = bisect_right(self.starts, place) - 1
        width = self.widths[piece]
        return self.sources[piece] + (place - self.starts[piece]) * width, width


def read_plainly(text: str) -> PlainReading | None:
    """Reads a text without the disguises of its characters; returns None if it has none."""
    if _DISGUISED.search(text) is None:
        return None
    reading, parts = PlainReading("", [], [], []), []
    length = done = 0

    def add(part: str, source: int, width: int) -> int:
        if part:
            parts.append(part)
            reading.starts.append(length)
            reading.sources.append(source)
            reading.widths.append(width)
        return length + len(part)

    for match in _DISGUISED.finditer(text):
        length = add(text[done : match.start()], done, 1)
        done = match.end()
        length = add(_read_character(match), match.start(), done - match.start())
    add(text[done:], done, 1)
    return PlainReading("".join(parts), reading.starts, reading.sources, reading.widths)


def _read_character(match: re.Match[str]) -> str:
    if match["code"]:
        return chr(int(match["code"], 16))
    plain = unicodedata.normalize("NFKC", match[0])
    return plain if plain.isascii() and plain.isprintable() else ""
