"""Finding known values again, in any text: whole, in other spellings, and cut off where a quotation ends."""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Self

from evaluation.sensitive.json_values import SensitiveValue
from evaluation.sensitive.patterns import Pattern

_HEAD: Final = 6
_SHORTEST: Final = 4
"""Bytes of the shortest value that is looked for: of "abc" every report holds some."""
_ANYWHERE: Final = 6
"""Bytes from which on a value is found within a word too."""
_LONG_NUMBER: Final = 8
"""Bytes up to which a number is another one where a digit stands beside it."""
_CUT: Final = 8
"""Bytes of a value that may not stand before the place where a quotation was cut off."""
_MOST_HEADS: Final = 500
"""Beginnings that one automaton looks for; beyond, a table is asked at every place."""
_LONGEST: Final = 20_000
_ELLIPSES: Final = (b"\xe2\x80\xa6", b"...", b"")
_PARTS: Final = re.compile(r"[^\w\-]+")
_PART: Final = 12
_PLAIN: Final = re.compile(r"[\w.@+\-:/=]*", re.ASCII)
"""What is written alike everywhere."""
_MARKS: Final = re.compile(r"[\s().+\-/]+")
_EDGE: Final = ".,;:!?)]}'\""


@dataclass(frozen=True, slots=True)
class Literals:
    """A set of values, each with its kind; matching ignores the case of ASCII letters.

    Time is linear in the text, and does not depend on how many values there are.
    """

    kinds: dict[bytes, str]
    ordered: list[bytes]
    sizes: dict[bytes, tuple[int, ...]]
    """The lengths that values have, the greatest first, by what they begin with."""
    heads: Pattern | None

    @classmethod
    def from_values(cls, found: Iterable[SensitiveValue], words: str) -> Self:
        """Take the values in all their spellings, but none that is a part of ``words``, the reader's own."""
        kinds = {
            spelling: one.kind
            for one in dict.fromkeys(found)
            for spelling in map(_folded, _spellings(one))
            if len(spelling) >= _SHORTEST and spelling.decode("utf-8", "replace") not in words
        }
        sizes: dict[bytes, tuple[int, ...]] = {}
        for literal in sorted(kinds, key=len):
            lengths = sizes.get(literal[:_HEAD], ())
            if len(literal) not in lengths:
                sizes[literal[:_HEAD]] = (len(literal), *lengths)
        heads = Pattern("|".join(map(_quoted, sizes))) if sizes and len(sizes) <= _MOST_HEADS else None
        return cls(kinds, sorted(kinds), sizes, heads)

    def may_occur_in(self, json_text: bytes) -> bool:
        """Say whether a value may begin anywhere in the strings of a JSON text; False is certain."""
        data = json_text.lower()
        texts = (data, data.replace(b"\\\\", b"\\")) if b"\\\\" in data else (data,)
        return any(place >= 0 for text in texts for place in self._places(text, 0))

    def redact(self, text: str) -> str:
        """Put ``[kind]`` in place of every value."""
        data = text.encode("utf-8", "surrogatepass")
        pieces, end = [], 0
        for start, stop, kind in self._spans(data.lower()):
            pieces += [data[end:start], b"[" + kind.encode() + b"]"]
            end = stop
        return b"".join([*pieces, data[end:]]).decode("utf-8", "surrogatepass") if pieces else text

    def kind_of(self, text: str) -> str | None:
        """Say what a text is that is one of the values from end to end."""
        return self.kinds.get(_folded(text))

    def _spans(self, data: bytes) -> Iterator[tuple[int, int, str]]:
        end = 0
        for place in self._places(data, 0):
            found = self._at(data, place) if place >= end else None
            if found:
                end = found[0]
                yield place, *found

    def _places(self, data: bytes, start: int) -> Iterator[int]:
        if self.heads is None:
            known = self.sizes
            yield from (
                place
                for place in range(start, len(data) - _SHORTEST + 1)
                if any(data[place : place + size] in known for size in range(_SHORTEST, _HEAD + 1))
            )
            return
        place = self.heads.find_start(data, start)
        while place >= 0:
            yield place
            place = self.heads.find_start(data, place + 1)

    def _at(self, data: bytes, start: int) -> tuple[int, str] | None:
        for head in range(_HEAD, _SHORTEST - 1, -1):
            for size in self.sizes.get(data[start : start + head], ()):
                kind = self.kinds.get(data[start : start + size])
                if kind and _stands_alone(data, start, start + size):
                    return start + size, kind
        return self._cut_off(data, start)

    def _cut_off(self, data: bytes, start: int) -> tuple[int, str] | None:
        """Find the beginning of a value where a quotation ends: at the text's end or before an ellipsis."""
        rest = data[start : start + _LONGEST]
        place = bisect_left(self.ordered, rest)
        for literal in self.ordered[max(0, place - 1) : place + 1]:
            end = start + _shared(literal, rest)
            if end - start >= _CUT and data[end : end + 3] in _ELLIPSES:
                return end, self.kinds[literal]
        return None


def _shared(first: bytes, second: bytes) -> int:
    """Count the bytes that both begin with."""
    size = min(len(first), len(second))
    return next((place for place in range(size) if first[place] != second[place]), size)


def _spellings(found: SensitiveValue) -> Iterator[str]:
    """Yield the value as a report may quote it: normalised, escaped, without its marks, in its long parts."""
    literal = found.literal[:_LONGEST]
    yield from (literal, literal.strip(_EDGE))
    if not _PLAIN.fullmatch(literal):
        yield from _rewritten(literal)
    if found.category == "credential":
        parts = [*_PARTS.split(literal), *literal.splitlines()]
        yield from (part for part in parts if len(part) >= _PART and not part.isalpha())
    elif any(mark.isdigit() for mark in literal):
        yield _MARKS.sub("", literal)


def _rewritten(literal: str) -> Iterator[str]:
    yield from (" ".join(literal.split()), literal.casefold(), unicodedata.normalize("NFKC", literal))
    yield from (json.dumps(literal)[1:-1], json.dumps(literal, ensure_ascii=False)[1:-1], repr(literal)[1:-1])
    yield literal.encode("utf-8", "replace").decode()


def _folded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass").lower()


def _quoted(head: bytes) -> str:
    return "".join(f"\\x{one:02x}" for one in head)


def _stands_alone(data: bytes, start: int, end: int) -> bool:
    """Say whether a short value, a word or a number is not a part of a longer one."""
    value, before, after = data[start:end], data[start - 1 : start] if start else b"", data[end : end + 1]
    if len(value) < _ANYWHERE or value.isalpha():
        return not (_in_word(before) or _in_word(after))
    joined = (before.isdigit() and value[:1].isdigit()) or (after.isdigit() and value[-1:].isdigit())
    return len(value) > _LONG_NUMBER or not joined


def _in_word(mark: bytes) -> bool:
    return mark.isalnum() or mark == b"_"
