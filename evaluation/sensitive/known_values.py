"""Finds known values again in any text: complete, respelled, or truncated."""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Self

from evaluation.sensitive.detector import Pattern
from evaluation.sensitive.json_values import SensitiveValue

_HEAD: Final = 6
_SHORTEST: Final = 4
"""Bytes of the shortest value that is searched for: "abc" occurs in every report."""
_ANYWHERE: Final = 6
"""Bytes from which a value is found inside a word too."""
_LONG_NUMBER: Final = 8
"""Bytes up to which a number with a digit next to it is another number."""
_SHORTEST_TRUNCATED: Final = 8
"""Bytes of a value that are recognised at the place where a quotation was truncated."""
_MAX_HEADS: Final = 500
"""Beginnings that one automaton searches for. With more, a table is asked at every place."""
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
    """A set of values, each with its kind. Matching ignores the case of ASCII letters.

    The time is linear in the text and does not depend on the number of values.
    """

    kinds: dict[bytes, str]
    ordered: list[bytes]
    sizes: dict[bytes, tuple[int, ...]]
    """The lengths of the values, longest first, by their first bytes."""
    heads: Pattern | None

    @classmethod
    def from_values(cls, values: Iterable[SensitiveValue], words: str) -> Self:
        """Collect all spellings of ``values``, except parts of ``words``, the report's own vocabulary."""
        kinds = {
            spelling: value.kind
            for value in dict.fromkeys(values)
            for spelling in map(_fold, _spellings(value))
            if len(spelling) >= _SHORTEST and spelling.decode("utf-8", "replace") not in words
        }
        sizes: dict[bytes, tuple[int, ...]] = {}
        for literal in sorted(kinds, key=len):
            lengths = sizes.get(literal[:_HEAD], ())
            if len(literal) not in lengths:
                sizes[literal[:_HEAD]] = (len(literal), *lengths)
        heads = Pattern("|".join(map(_quote_bytes, sizes))) if sizes and len(sizes) <= _MAX_HEADS else None
        return cls(kinds, sorted(kinds), sizes, heads)

    def may_occur_in(self, json_text: bytes) -> bool:
        """Return whether a value may begin in a string of a JSON text. False is certain."""
        data = json_text.lower()
        # JSON doubles the backslashes of a value, so look for its beginning in both spellings.
        texts = (data, data.replace(b"\\\\", b"\\")) if b"\\\\" in data else (data,)
        return any(place >= 0 for text in texts for place in self._find_heads(text))

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
        for place in self._find_heads(data):
            match = self._match_at(data, place) if place >= end else None
            if match:
                end = match[0]
                yield place, *match

    def _find_heads(self, data: bytes) -> Iterator[int]:
        if self.heads is None:
            known = self.sizes
            yield from (
                place
                for place in range(len(data) - _SHORTEST + 1)
                if any(data[place : place + size] in known for size in range(_SHORTEST, _HEAD + 1))
            )
            return
        place = self.heads.find_start(data, 0)
        while place >= 0:
            yield place
            place = self.heads.find_start(data, place + 1)

    def _match_at(self, data: bytes, start: int) -> tuple[int, str] | None:
        for head in range(_HEAD, _SHORTEST - 1, -1):
            # Longest first: otherwise a value that begins with another one would be replaced in part.
            for size in self.sizes.get(data[start : start + head], ()):
                kind = self.kinds.get(data[start : start + size])
                if kind and _stands_alone(data, start, start + size):
                    return start + size, kind
        return self._match_truncated(data, start)

    def _match_truncated(self, data: bytes, start: int) -> tuple[int, str] | None:
        """Match the beginning of a value at the text's end or before an ellipsis."""
        rest = data[start : start + _LONGEST]
        place = bisect_left(self.ordered, rest)
        # The value with the longest common beginning is next to the rest's place in the sorted values.
        for literal in self.ordered[max(0, place - 1) : place + 1]:
            end = start + _common_length(literal, rest)
            if end - start >= _SHORTEST_TRUNCATED and data[end : end + 3] in _ELLIPSES:
                return end, self.kinds[literal]
        return None


def _common_length(first: bytes, second: bytes) -> int:
    """Count the bytes with which both begin."""
    size = min(len(first), len(second))
    return next((place for place in range(size) if first[place] != second[place]), size)


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
    yield from (" ".join(literal.split()), literal.casefold(), unicodedata.normalize("NFKC", literal))
    yield from (json.dumps(literal)[1:-1], json.dumps(literal, ensure_ascii=False)[1:-1], repr(literal)[1:-1])
    yield from (ascii(literal)[1:-1], literal.replace("~", "~0").replace("/", "~1"))
    yield literal.encode("utf-8", "replace").decode()


def _fold(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass").lower()


def _quote_bytes(head: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in head)


def _stands_alone(data: bytes, start: int, end: int) -> bool:
    """Return whether a short value, a word or a number is not a part of a longer one."""
    value, before, after = data[start:end], data[start - 1 : start] if start else b"", data[end : end + 1]
    if len(value) < _ANYWHERE or value.isalpha():
        return not (_is_in_word(before) or _is_in_word(after))
    is_joined = (before.isdigit() and value[:1].isdigit()) or (after.isdigit() and value[-1:].isdigit())
    return len(value) > _LONG_NUMBER or not is_joined


def _is_in_word(neighbour: bytes) -> bool:
    return neighbour.isalnum() or neighbour == b"_"
