"""Numbers that only the word before them makes sensitive: ``phone: 5551234567``, ``"ssn": "123456789"``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Protocol, cast

import re2

from evaluation.sensitive.spans import Span

_BETWEEN = (
    r"[\"'\\\]`*\s:=#.()_\-]{0,8}"
    r"(?:(?:number|num|no|nr|nummer|n\xfamero|numero|num\x3fro|num\xe9ro|value|code|id|is|was|ist|lautet|es|est|\xe8|of|at|am|on|the|den|le|el|il)\b"
    r"[\"'\\\]`*\s:=#.()_\-]{0,8}){0,3}"
)


class LabelPattern:
    """A word of ``words``, what may stand between, and the place where a value may begin."""

    __slots__ = ("_pattern",)

    def __init__(self, words: str) -> None:
        self._pattern = Pattern(rf"(?i)(?:{words}){_BETWEEN}")

    def find_places(self, subject: SearchedText) -> Iterator[tuple[int, int]]:
        """Yield where the word begins, and where the value may begin."""
        return subject.find_spans(self._pattern)


def label_trigger(words: str, value: str = "[0-9+(]") -> str:
    """Make the trigger of a labelled value."""
    return rf"(?i:{words})(?:[^0-9A-Za-z]{{0,16}}(?i:[a-z]{{1,7}}\b)?){{0,3}}[^0-9A-Za-z]{{0,16}}{value}"


MAX_CANDIDATES: Final = 100_000
"""Places in one text that are looked at for whether they are sensitive: some microseconds each."""
_MEMORY: Final = 64 << 20
"""Bytes that one automaton may use before it starts afresh; 8 MB made hostile digits ten times slower."""
_DIGITS_FROM: Final = (0x660, 0x6F0, 0x966, 0x9E6, 0xFF10)
_DASHES: Final = (*range(0x2010, 0x2016), 0x2212, 0xFE63, 0xFF0D)
_SPACES: Final = (0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)
_LOOKALIKES: Final = (
    {zero + digit: 0x30 + digit for zero in _DIGITS_FROM for digit in range(10)}
    | dict.fromkeys(_DASHES, ord("-"))
    | dict.fromkeys(_SPACES, ord(" "))
    | {0xFF0B: ord("+"), 0xFF20: ord("@"), 0xFF0E: ord("."), 0xFF1A: ord(":"), 0xFF1D: ord("=")}
)
LOOKALIKE_BYTES: Final = (
    r"[0-9](?:\xc2\xa0|\xe2\x80[\x80-\x95\xaf]|\xe2\x81\x9f|\xe2\x88\x92|\xe3\x80\x80|\xef\xb9\xa3|\xef\xbc\x8d)[(0-9]"
    r"|(?:\xd9[\xa0-\xa9]|\xdb[\xb0-\xb9]|\xe0\xa5[\xa6-\xaf]|\xe0\xa7[\xa6-\xaf]|\xef\xbc[\x90-\x99]){2}"
    r"|\xef\xbc[\x8b\x8e\x9a\x9d\xa0]"
)
"""Where those characters matter in a text that is still UTF-8."""


class _Match(Protocol):
    def span(self, group: int = 0) -> tuple[int, int]: ...


class _Program(Protocol):
    groups: int

    def search(self, text: bytes, pos: int = 0) -> _Match | None: ...

    def match(self, text: bytes, pos: int = 0) -> _Match | None: ...

    def finditer(self, text: bytes) -> Iterator[_Match]: ...


class Pattern:
    """A regular expression in RE2's syntax over one-byte characters, compiled when it is first needed.

    Of several alternatives the first one matches, or with ``longest`` the longest.
    """

    def __init__(self, source: str, *, longest: bool = False) -> None:
        self._source = source
        self._longest = longest

    @cached_property
    def _program(self) -> _Program:
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.max_mem = _MEMORY
        options.longest_match = self._longest
        return cast("_Program", re2.compile(self._source.encode("latin-1"), options))

    def occurs_in(self, data: bytes) -> bool:
        """Say whether it matches anywhere."""
        return self._program.search(data) is not None

    def find_start(self, data: bytes, start: int) -> int:
        """Give where the first match from ``start`` on begins; -1 where there is none."""
        found = self._program.search(data, start)
        return -1 if found is None else found.span()[0]

    def match_end(self, data: bytes, start: int) -> int:
        """Give where a match that begins at ``start`` ends; -1 where there is none."""
        found = self._program.match(data, start)
        return -1 if found is None else found.span()[1]

    def find_spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield the bounds of each match: of its group that took part, or of the whole."""
        groups = range(1, self._program.groups + 1)
        for found in self._program.finditer(data):
            parts = (found.span(group) for group in groups)
            yield next((part for part in parts if part[0] >= 0), found.span())


class TooManyCandidatesError(Exception):
    """There is more than is looked at; what was given has not been searched to its end."""


class Quota:
    """How much may still be looked at."""

    __slots__ = ("_left",)

    def __init__(self, most: int) -> None:
        self._left = iter(range(most))

    def use_one(self) -> None:
        """Look at one thing more.

        Raises:
            TooManyError: It is one too many.
        """
        if next(self._left, None) is None:
            raise TooManyCandidatesError


@dataclass(frozen=True, slots=True)
class SearchedText:
    """A text that is searched, with its bytes: as many as the text has characters."""

    text: str
    data: bytes = field(init=False)
    turns: Quota = field(init=False, repr=False, compare=False)
    """One a place that any pattern matches, ``MAX_CANDIDATES`` in all."""

    def __post_init__(self) -> None:
        """Encode the text once for all detectors."""
        plain = self.text if self.text.isascii() else self.text.translate(_LOOKALIKES)
        object.__setattr__(self, "data", plain.encode("latin-1", "replace"))
        object.__setattr__(self, "turns", Quota(MAX_CANDIDATES))

    def find_spans(self, pattern: Pattern) -> Iterator[tuple[int, int]]:
        """Yield what ``Pattern.spans`` does.

        Raises:
            TooManyError: All patterns together match in too many places.
        """
        for bounds in pattern.find_spans(self.data):
            self.turns.use_one()
            yield bounds

    def decode(self, start: int, end: int) -> str:
        """Give a stretch as ASCII and Latin-1 characters."""
        return self.data[start:end].decode("latin-1")


def stands_alone(data: bytes, start: int, end: int) -> bool:
    """Say whether a number stands alone: no letter or digit beside it, no digit behind a joining mark."""
    before, after = data[max(0, start - 2) : start], data[end : end + 2]
    return not (before[-1:].isalnum() or after[:1].isalnum() or _joined(before) or _joined(after[::-1]))


def _joined(beside: bytes) -> bool:
    return len(beside) == 2 and beside[1:] in {b"-", b".", b"/", b":", b","} and beside[:1].isdigit()  # noqa: PLR2004


@dataclass(frozen=True, slots=True)
class Detector:
    """One family of sensitive data.

    ``trigger`` is a regular expression (RE2, one-byte characters, no groups) that matches somewhere in every
    text in which ``find`` finds something, and also in that text written as JSON. So it asks for no word
    boundary: the line break before a word becomes a letter there.
    """

    trigger: str
    find: Callable[[SearchedText], Iterator[Span]]
