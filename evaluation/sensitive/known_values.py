"""Finds known values again in any text: complete, respelled, or truncated."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Self

from rapidfuzz.distance import Prefix

from evaluation.sensitive.json_values import SensitiveValue

_HEAD: Final = 4
"""Bytes by which a value is looked up. A shorter one is not searched for: "abc" occurs in every report."""
_ANYWHERE: Final = 6
"""Bytes from which a value is found inside a word too."""
_LONG_NUMBER: Final = 8
"""Bytes up to which a number with a digit next to it is another number."""
_SHORTEST_TRUNCATED: Final = 8
"""Bytes of a value that are recognised at the place where a quotation was truncated."""
_LONGEST: Final = 20_000
_ELLIPSES: Final = (b"\xe2\x80\xa6", b"...", b"")
_PARTS: Final = re.compile(r"[^\w\-]+")
_SHORTEST_PART: Final = 12
_PLAIN: Final = re.compile(r"[\w.@+\-:/=]*", re.ASCII)
"""Text that no quoting or escaping changes."""
_MARKS: Final = re.compile(r"[\s().+\-/]+")
_EDGE: Final = ".,;:!?)]}'\""


@dataclass(frozen=True, slots=True)
class Literals:
    """A set of values, each with its kind. Matching ignores the case of ASCII letters."""

    kinds: dict[bytes, str]
    by_head: dict[bytes, list[bytes]]
    """The values by their first bytes, the longest first."""

    @classmethod
    def from_values(cls, values: Iterable[SensitiveValue], words: str) -> Self:
        """Collect all spellings of ``values``, except parts of ``words``, the report's own vocabulary."""
        kinds = {
            spelling: value.kind
            for value in dict.fromkeys(values)
            for spelling in map(_fold, _spellings(value))
            if len(spelling) >= _HEAD and spelling.decode("utf-8", "replace") not in words
        }
        by_head: dict[bytes, list[bytes]] = {}
        for literal in sorted(kinds, key=len, reverse=True):
            by_head.setdefault(literal[:_HEAD], []).append(literal)
        return cls(kinds, by_head)

    def redact(self, text: str) -> str:
        """Replace every value by ``[kind]``."""
        data = text.encode("utf-8", "surrogatepass")
        pieces, end = [], 0
        for start, stop, kind in self._find_spans(data.lower()):
            pieces += [data[end:start], b"[" + kind.encode() + b"]"]
            end = stop
        return b"".join([*pieces, data[end:]]).decode("utf-8", "surrogatepass") if pieces else text

    def kind_of(self, text: str) -> str | None:
        """Return the kind of a text that is exactly one of the values."""
        return self.kinds.get(_fold(text))

    def _find_spans(self, data: bytes) -> Iterator[tuple[int, int, str]]:
        end = 0
        # Few texts have a value, and the search for its first bytes is faster than the look at each place.
        if len(self.by_head) < len(data) and not any(head in data for head in self.by_head):
            return
        for place in range(len(data)):
            is_head = place >= end and data[place : place + _HEAD] in self.by_head
            match = self._match_at(data, place) if is_head else None
            if match:
                end = match[0]
                yield place, *match

    def _match_at(self, data: bytes, start: int) -> tuple[int, str] | None:
        # Longest first: otherwise a value that begins with another one would be replaced in part.
        for literal in self.by_head[data[start : start + _HEAD]]:
            size = Prefix.similarity(literal, data[start : start + len(literal)])
            is_whole = size == len(literal) and _stands_alone(data, start, start + size)
            is_cut = size >= _SHORTEST_TRUNCATED and data[start + size : start + size + 3] in _ELLIPSES
            if is_whole or is_cut:
                return start + size, self.kinds[literal]
        return None


def _spellings(value: SensitiveValue) -> Iterator[str]:
    """Yield the spellings that a report may quote: normalised, escaped, without separators, in long parts."""
    literal = value.literal[:_LONGEST]
    yield from (literal, literal.strip(_EDGE))
    if not _PLAIN.fullmatch(literal):
        yield from _escaped_spellings(literal)
    # A part of a key, for example one line of a private key, is as secret as the key.
    if value.category == "credential":
        parts = [*_PARTS.split(literal), *literal.splitlines()]
        yield from (part for part in parts if len(part) >= _SHORTEST_PART and not part.isalpha())
    elif any(character.isdigit() for character in literal):
        yield _MARKS.sub("", literal)


def _escaped_spellings(literal: str) -> Iterator[str]:
    yield from (" ".join(literal.split()), unicodedata.normalize("NFKC", literal), repr(literal)[1:-1])
    yield from (json.dumps(literal)[1:-1], json.dumps(literal, ensure_ascii=False)[1:-1])
    yield from (literal.replace("~", "~0").replace("/", "~1"), literal.encode("utf-8", "replace").decode())


def _fold(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass").lower()


def _stands_alone(data: bytes, start: int, end: int) -> bool:
    """Return whether a short value, a word or a number is not a part of a longer one."""
    value, before, after = data[start:end], data[start - 1 : start] if start else b"", data[end : end + 1]
    if len(value) < _ANYWHERE or value.isalpha():
        return not (_is_in_word(before) or _is_in_word(after))
    is_joined = (before.isdigit() and value[:1].isdigit()) or (after.isdigit() and value[-1:].isdigit())
    return len(value) > _LONG_NUMBER or not is_joined


def _is_in_word(neighbour: bytes) -> bool:
    return neighbour.isalnum() or neighbour == b"_"
