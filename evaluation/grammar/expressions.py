"""Expressions of GBNF, the notation of grammars that llama.cpp reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_ASCII_END: Final = 0x7E


@dataclass(frozen=True, slots=True)
class Alphabet:
    """Characters, as ranges of code points in order; both ends are included."""

    ranges: tuple[tuple[int, int], ...]

    def exclude(self, characters: str) -> Alphabet:
        """Return the alphabet without these characters."""
        ranges = list(self.ranges)
        for point in map(ord, characters):
            ranges = [part for each in ranges for part in _cut(each, point)]
        return Alphabet(tuple(ranges))

    def keep(self, ranges: Iterable[tuple[int, int]]) -> Alphabet:
        """Return the characters that are also in these ranges."""
        pairs = ((max(a, c), min(b, d)) for a, b in self.ranges for c, d in ranges)
        return Alphabet(tuple(sorted((low, high) for low, high in pairs if low <= high)))

    def includes(self, text: str) -> bool:
        """Return whether all characters of a text are in the alphabet."""
        return all(any(low <= ord(each) <= high for low, high in self.ranges) for each in text)

    def write(self) -> str:
        """Write the alphabet as an expression for one character."""
        parts = (_escape(low) if low == high else f"{_escape(low)}-{_escape(high)}" for low, high in self.ranges)
        return f"[{''.join(parts)}]"


def literal(text: str) -> str:
    """Write the expression for a text."""
    return '"' + "".join(_escape_literal(each) for each in text) + '"'


def sequence(*items: str) -> str:
    """Write the expression for several ones in order; empty ones are left out."""
    return " ".join(filter(None, items))


def repeat(item: str, least: int, most: int | None = None) -> str:
    """Write the expression for an item that occurs ``least`` to ``most`` times, without bound by default."""
    if most == 0:
        return ""
    if (least, most) == (1, 1):
        return item
    return f"({item}){{{least},{'' if most is None else most}}}"


def join(items: Iterable[str], separator: str) -> str:
    """Write the expression for items with a literal between them."""
    return f" {literal(separator)} ".join(items)


def _cut(each: tuple[int, int], point: int) -> list[tuple[int, int]]:
    low, high = each
    if not low <= point <= high:
        return [each]
    return [part for part in ((low, point - 1), (point + 1, high)) if part[0] <= part[1]]


def _escape(point: int) -> str:
    return chr(point) if chr(point).isascii() and chr(point).isalnum() else _escape_code(point)


def _escape_literal(character: str) -> str:
    is_plain = " " <= character <= chr(_ASCII_END) and character not in '"\\'
    return character if is_plain else _escape_code(ord(character))


def _escape_code(point: int) -> str:
    if point <= 0xFF:
        return f"\\x{point:02X}"
    return f"\\u{point:04X}" if point <= 0xFFFF else f"\\U{point:08X}"
