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


ANY_CHARACTER: Final = Alphabet(((0x09, 0x0A), (0x20, 0x7E), (0xA0, 0xD7FF), (0xE000, 0x10FFFF)))
"""All characters but those that control a device."""
# Without its usual letters, a small model would go on in emoji and in other scripts.
LOWER_CASE: Final = Alphabet((
    (0x0A, 0x0A), (0x20, 0x40), (0x5B, 0x7E), (0xDF, 0xF6), (0xF8, 0xFF), (0x2010, 0x2027), (0x20AC, 0x20AC),
))  # fmt: skip
"""The small letters of Western Europe, digits and marks."""
LETTERS: Final = Alphabet((
    (0x41, 0x5A), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2AF), (0x388, 0x481), (0x48A, 0x556),
    (0x561, 0x587), (0x5D0, 0x5EA), (0x620, 0x64A), (0x671, 0x6D3), (0x904, 0x939), (0x985, 0xDC6),
    (0xE01, 0xE30), (0xE81, 0xEB0), (0x10A0, 0x10FF), (0x1E00, 0x1FFF), (0x3041, 0x3096), (0x30A1, 0x30FA),
    (0x4E00, 0x9FFF), (0xAC00, 0xD7A3),
))  # fmt: skip
"""Letters of the scripts that most replies are written in."""
WORD_START: Final = Alphabet(((0x30, 0x39), *LETTERS.ranges))
"""Letters and digits."""
