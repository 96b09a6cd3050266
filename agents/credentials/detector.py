"""Compiles the regular expressions of the detectors, and runs those whose quick tests match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, Protocol, cast

import re2

Category = Literal["credential", "personal"]


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text that must not be shown: ``text[start:end]``."""

    start: int
    end: int
    kind: str
    """For example ``github_token``, ``email``, ``us_ssn``."""
    category: Category


class Recognizer(Protocol):
    """An additional search that a caller plugs in, for example one by Presidio."""

    def find(self, text: str) -> Iterable[Span]:
        """Return the sensitive spans of ``text``, in any order. An exception becomes a finding."""


def merge_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Merge overlapping spans and sort them; the first and longest gives the kind, or a credential's."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        last = merged[-1] if merged else None
        if last is None or span.start >= last.end:
            merged.append(span)
            continue
        main = span if span.category == "credential" != last.category else last
        merged[-1] = Span(last.start, max(last.end, span.end), main.kind, main.category)
    return tuple(merged)


def replace_spans(text: str, spans: Iterable[Span]) -> str:
    """Replace each of the spans, which do not overlap, by ``[kind]``."""
    pieces, end = [], 0
    for span in spans:
        pieces += [text[end : span.start], f"[{span.kind}]"]
        end = span.end
    return "".join([*pieces, text[end:]]) if pieces else text


# Below this, RE2 discards its automaton and builds it again: 8 MB made hostile digits ten times slower.
_MEMORY_BYTES: Final = 64 << 20
_LOOKALIKES: Final = dict.fromkeys((*range(0x2010, 0x2016), 0x2212), "-") | dict.fromkeys(
    (0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " "
)
"""Dashes and spaces as ASCII."""
_LOOKALIKE: Final = re.compile(f"[{''.join(map(chr, _LOOKALIKES))}]")


class Pattern:
    """A regular expression in RE2's syntax over one-byte characters, compiled at its first use."""

    def __init__(self, source: str) -> None:
        self._source = source

    @cached_property
    def _program(self) -> re.Pattern[bytes]:
        options = re2.Options()
        # One byte per character keeps positions in the text and in the data the same.
        options.encoding = re2.Options.Encoding.LATIN1
        options.max_mem = _MEMORY_BYTES
        # RE2's module has no types; its patterns have the methods of the standard library's.
        return cast("re.Pattern[bytes]", re2.compile(self._source.encode("latin-1"), options))

    def occurs_in(self, data: bytes) -> bool:
        """Return whether the pattern matches anywhere."""
        return self._program.search(data) is not None

    def match_end(self, data: bytes, start: int) -> int:
        """Return the end of a match that begins exactly at ``start``, or -1."""
        match = self._program.match(data, start)
        return -1 if match is None else match.span()[1]

    def find_spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield start and end of each match: of the group that took part, or of the full match."""
        for match in self._program.finditer(data):
            bounds = (match.span(group) for group in range(1, self._program.groups + 1))
            yield next((pair for pair in bounds if pair[0] >= 0), match.span())


def encode_text(text: str) -> bytes:
    """Return the bytes of a text, exactly one per character, with look-alikes as ASCII characters."""
    if not text.isascii():
        # Far faster than to translate each character.
        text = _LOOKALIKE.sub(lambda match: _LOOKALIKES[ord(match[0])], text)
    # A character that is not in Latin-1 becomes "?".
    return text.encode("latin-1", "replace")


@dataclass(frozen=True, slots=True)
class Detector:
    """A search for one family of sensitive data, and a quick test that says whether to run it.

    ``trigger`` is a regular expression (RE2, one-byte characters, no groups) that matches in every text in
    which ``find`` finds a value, and in that text written as JSON. Word boundaries at its start are adapted
    for JSON, because there a line break before a word ends in a letter.
    """

    trigger: str
    find: Callable[[bytes], Iterator[Span]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A form of a credential: its kind, its pattern, and whether a match is one."""

    kind: str
    pattern: Pattern
    accepts: Callable[[bytes, int, int], bool]


def detect(trigger: str, rules: Sequence[Rule]) -> Detector:
    """Build a detector of credentials from rules."""

    def find(data: bytes) -> Iterator[Span]:
        for rule in rules:
            for start, end in rule.pattern.find_spans(data):
                if rule.accepts(data, start, end):
                    yield Span(start, end, rule.kind, "credential")

    return Detector(trigger, find)


class Family:
    """Detectors whose triggers are tested in one pass, over a text or over its JSON."""

    def __init__(self, *detectors: Detector) -> None:
        triggers = "|".join(f"(?:{detector.trigger})" for detector in detectors)
        # JSON writes a line break as "\n": the letter in it would hide the start of the next word.
        self.source = triggers.replace(r"\b", r"(?:\b|\\[bfnrt])")
        self.any = Pattern(self.source)
        self._detectors = tuple((Pattern(detector.trigger), detector.find) for detector in detectors)

    def find_spans(self, data: bytes) -> Iterator[Span]:
        """Yield the values that the detectors find whose triggers match."""
        if self.any.occurs_in(data):
            for trigger, find in self._detectors:
                if trigger.occurs_in(data):
                    yield from find(data)


def search_text(text: str, families: Sequence[Family]) -> list[Span]:
    """Return the values that the detectors find, in no order."""
    data = encode_text(text)
    return [span for family in families for span in family.find_spans(data)]
