"""Writes times, days, amounts and durations so that each number says what it is: 1 h 20 min are 80 min."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from evaluation.texts.number_words import spell_in_digits

_SECONDS: Final = {"d": 86_400, "t": 86_400, "h": 3600, "st": 3600, "m": 60, "s": 1, "se": 1}
"""The seconds of a unit by its first letter, or by the two first ones."""
_SPAN: Final = (
    r"(\d+|[^\W\d_]+(?=[ -]))[ -]?(days?|d|tage?n?|hours?|hrs?|h|std\.?|stunden?"
    r"|minutes?|minuten|mins?|m|seconds?|sekunden|secs?|s)(?![^\W_])"
)
_COMPOUND: Final = re.compile(rf"\b{_SPAN}(?:(?:,? (?:and|und) |, | |){_SPAN})+", re.IGNORECASE)
_PART: Final = re.compile(_SPAN, re.IGNORECASE)
_PARTS: Final = {"half": ".5", "quarter": ".25", "three quarters": ".75"}
_AND_PART: Final = re.compile(
    r"\b([^\W_]+)( hours?| days?| weeks?| years?|) and (?:an? |one )?(half|quarter|three quarters)\b",
    re.IGNORECASE,
)
_AND_HALF: Final = re.compile(r"\b([^\W\d_]+)einhalb\b", re.IGNORECASE)
_THOUSANDS: Final = re.compile(r"(?<=\d) ?k\b(?!/)")
_MIDNIGHT: Final = re.compile(r"\b(?:midnight|mitternacht)\b", re.IGNORECASE)
_VAGUE: Final = re.compile(
    r"\b(?:halbe?|half|quarter|viertel|(?:five|fünf|ten|zehn|twenty(?:-five)?|zwanzig) (?:to|vor)) [^\W\d_]+"
    r"|24/7|\b[^\W\d_]+[ -](?:halves|thirds?|quarters?|quartal|fifths|drittel|viertel|fünftel)\b",
    re.IGNORECASE,
)
"""Matches fractions and times in words, which are not read."""
_RANGE: Final = re.compile(
    r"(?<![\w.,:-])(\d[\d.,]*(?P<minute>:\d\d)?)(?:\s?[-–]\s?| (?:to|until|and|auf|bis|und) )"
    r"(?=\d[\d.,]*(?::\d\d)? ?([ap]\.?m\b(?! [^\W\d_]*tag\b)|uhr\b"
    r"|(?(minute)(?!)|(?:million|mio|jan|feb|mar|mär|apr|ma[iy]|jun"
    r"|jul|aug|sep|o[ck]t|nov|de[cz])[a-zä]*\b)))",
    re.IGNORECASE,
)
"""Matches the first number of a range, if only the second has the unit."""


def write_durations(text: str) -> str:
    """Writes 1 h 20 min as 80 min, and 7 to 9 pm as 7 pm to 9 pm."""
    for pattern, substitute in _RULES:
        text = pattern.sub(substitute, text)
    return text


def _join_duration(match: re.Match[str]) -> str:
    parts = [(_read(number), unit.lower()) for number, unit in _PART.findall(match[0])]
    sizes = [_SECONDS.get(unit[:2]) or _SECONDS[unit[0]] for _, unit in parts]
    if not all(number for number, _ in parts) or sizes != sorted(set(sizes), reverse=True):
        return match[0]
    if any(int(parts[at + 1][0]) * sizes[at + 1] >= sizes[at] for at in range(len(parts) - 1)):
        return match[0]
    total = sum(size * int(number) for (number, _), size in zip(parts, sizes, strict=True))
    return f"{total} s" if sizes[-1] == 1 else f"{total // 60} min"


def _join_part(match: re.Match[str]) -> str:
    number = _read(match[1])
    return f"{number}{_PARTS[match[3].lower()]}{match[2]}" if number else match[0]


def _join_half(match: re.Match[str]) -> str:
    number = _read(match[1])
    return f"{number}.5" if number else ""


def _read(word: str) -> str:
    """Returns the digits of a number in a word; an empty text if it is none."""
    digits = "1" if word.lower() in {"a", "an", "one", "eine"} else spell_in_digits(word)[0].strip(";")
    return digits if digits.isdecimal() else ""


_RULES: Final[Sequence[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]]] = (
    (_RANGE, r"\1 \3 - "),
    (_MIDNIGHT, "00:00"),
    (_THOUSANDS, " thousand"),
    (_AND_PART, _join_part),
    (_AND_HALF, _join_half),
    (_COMPOUND, _join_duration),
    (_VAGUE, ""),
)
