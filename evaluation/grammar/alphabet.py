"""Sets of characters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

Range: TypeAlias = tuple[int, int]
"""Two code points; both are included."""


@dataclass(frozen=True, slots=True)
class Alphabet:
    """A set of characters.

    Attributes:
        ranges: Its ranges in order, which do not overlap.
    """

    ranges: tuple[Range, ...]

    def exclude(self, characters: str) -> Alphabet:
        """Return the set without these characters."""
        ranges = self.ranges
        for point in map(ord, characters):
            ranges = tuple(part for each in ranges for part in _cut(each, point))
        return Alphabet(ranges)

    def keep(self, other: Alphabet) -> Alphabet:
        """Return the characters that both sets have."""
        pairs = ((max(a, c), min(b, d)) for a, b in self.ranges for c, d in other.ranges)
        return Alphabet(tuple(sorted((low, high) for low, high in pairs if low <= high)))

    def includes(self, text: str) -> bool:
        """Return whether the set has all characters of a text."""
        return all(any(low <= ord(each) <= high for low, high in self.ranges) for each in text)


def _cut(each: Range, point: int) -> Iterable[Range]:
    low, high = each
    if not low <= point <= high:
        return (each,)
    return (part for part in ((low, point - 1), (point + 1, high)) if part[0] <= part[1])


def pick_characters(characters: str) -> Alphabet:
    """Return the set of these characters."""
    return Alphabet(tuple((point, point) for point in sorted(map(ord, characters))))


ANY_CHARACTER: Final = Alphabet((
    (0x09, 0x0A), (0x20, 0x7E), (0xA0, 0xAC), (0xAE, 0x200A), (0x200C, 0x200D), (0x2010, 0x2027),
    (0x202F, 0x205F), (0x2070, 0xD7FF), (0xE000, 0x10FFFF),
))  # fmt: skip
"""All characters but those that no reader sees, or that control a device."""
_BLANK_POINTS: Final = (*b"\t\n ", 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x2800, 0x3000)
BLANKS: Final = "".join(map(chr, _BLANK_POINTS))
"""The characters that a reader takes for white space."""
# Without its usual letters, a small model would go on in emoji and in other scripts.
LOWER_CASE: Final = Alphabet((
    (0x09, 0x0A), (0x20, 0x40), (0x5B, 0x7E), (0xA0, 0xA9), (0xAB, 0xB4), (0xB6, 0xB9), (0xBB, 0xBF),
    (0xD7, 0xD7), (0xDF, 0xFF), (0x153, 0x153), (0x161, 0x161), (0x17E, 0x17E), (0x2010, 0x2027),
    (0x20AC, 0x20AC),
))  # fmt: skip
"""The small letters of Western Europe, digits and marks."""
LETTERS: Final = Alphabet((
    (0x41, 0x5A), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x24F), (0x1E00, 0x1EFF),
))  # fmt: skip
"""Latin letters."""
WORD_CHARACTERS: Final = Alphabet(((0x30, 0x39), *LETTERS.ranges))
"""Latin letters and digits."""
OUTSIDE_WORDS: Final = Alphabet((
    (0x09, 0x0A), (0x20, 0x2F), (0x3A, 0x40), (0x5B, 0x5E), (0x60, 0x60), (0x7B, 0x7E), (0xA0, 0xA9),
    (0xAB, 0xAC), (0xAE, 0xB1), (0xB4, 0xB4), (0xB6, 0xB8), (0xBB, 0xBB), (0xBF, 0xBF), (0xD7, 0xD7),
    (0xF7, 0xF7), (0x2010, 0x2027), (0x2030, 0x203E), (0x20A0, 0x20BF), (0x2190, 0x22FF), (0x2600, 0x26FF),
    (0x1F300, 0x1F64F),
))  # fmt: skip
"""Blanks, marks and signs, of which none is a part of a word."""
CONTENT: Final = Alphabet((
    *WORD_CHARACTERS.ranges, (0x250, 0x2AF), (0x370, 0x377), (0x388, 0x556), (0x561, 0x587), (0x5D0, 0x5EA),
    (0x620, 0x669), (0x671, 0x6D3), (0x6EE, 0x6FF), (0x710, 0x963), (0x966, 0xE4E), (0xE50, 0x1FFF),
    (0x20A0, 0x20BF), (0x2190, 0x27BF), (0x2C00, 0x2DFF), (0x3041, 0x309F), (0x30A1, 0x30FA),
    (0x30FC, 0xD7A3), (0xF900, 0xFAFF), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A), (0xFF66, 0xFFDC),
    (0x10000, 0x1FAFF), (0x20000, 0x3FFFF),
))  # fmt: skip
"""Letters, digits and symbols of all scripts; marks alone are no line of a text."""
