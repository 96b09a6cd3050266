"""Writes times, days, amounts and durations so that each number says what it is: 1 h 20 min are 80 min."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final

from evaluation.facts.dates import MONTH
from evaluation.texts.number_words import spell_in_digits

_COMPOUND: Final = re.compile(
    r"\b([^\W_]+)[ -]?(?:hours?|hrs?|h|std\.?|stunden?)(?: and| und)? ?([^\W_]+)[ -]?"
    r"(?:minutes?|minuten|mins?|m)\b",
    re.IGNORECASE,
)
_PARTS: Final = {"half": ".5", "quarter": ".25", "three quarters": ".75"}
_AND_PART: Final = re.compile(
    r"\b([^\W_]+)( hours?| days?| weeks?| years?|) and (?:an? |one )?(half|quarter|three quarters)\b",
    re.IGNORECASE,
)
_DAY: Final = r"(?:(?:the|de[rnm]) )?(?:[^\W\d_]+(?:day|tag),? )?\d{1,2}(?:st|nd|rd|th|\.)?"
_DAYS: Final = re.compile(
    rf"(?<![\w.,:])(\d{{1,2}})(?:st|nd|rd|th|\.)?"
    rf"(?=(?:, ?{_DAY})*,? (?:and|und|or|oder|sowie|to|bis|&) {_DAY} (?:of )?({MONTH})\b)",
    re.IGNORECASE,
)
"""Matches each day but the last in "17, 18 and 19 April"."""
_THOUSANDS: Final = re.compile(r"(?<=\d) ?k\b(?!/)")
_MIDNIGHT: Final = re.compile(r"\b(?:midnight|mitternacht)\b", re.IGNORECASE)
_LAP: Final = re.compile(r"(?<![\d:])(\d{1,2}):([0-5]\d\.\d{1,3})\b")
_VAGUE: Final = re.compile(
    r"\b(?:halbe?|half|quarter|viertel|(?:five|fünf|ten|zehn|twenty(?:-five)?|zwanzig) (?:to|vor)) [^\W\d_]+"
    r"|24/7|\b[^\W\d_]+[ -](?:halves|thirds|quarters?|quartal|fifths|drittel|viertel|fünftel)\b"
    r"|\b[^\W\d_]+einhalb\b",
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


def _write_lap(match: re.Match[str]) -> str:
    return f"{60 * int(match[1]) + Decimal(match[2])} s"


def _join_duration(match: re.Match[str]) -> str:
    hours, minutes = _read(match[1]), _read(match[2])
    return f"{60 * int(hours) + int(minutes)} min" if hours and minutes else match[0]


def _join_part(match: re.Match[str]) -> str:
    number = _read(match[1])
    return f"{number}{_PARTS[match[3].lower()]}{match[2]}" if number else match[0]


def _read(word: str) -> str:
    """Returns the digits of a number in a word; an empty text if it is none."""
    digits = "1" if word.lower() in {"a", "an", "one", "eine"} else spell_in_digits(word)[0].strip(";")
    return digits if digits.isdecimal() else ""


_RULES: Final[Sequence[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]]] = (
    (_DAYS, r"\1 \2"),
    (_RANGE, r"\1 \3 - "),
    (_MIDNIGHT, "00:00"),
    (_LAP, _write_lap),
    (_THOUSANDS, " thousand"),
    (_AND_PART, _join_part),
    (_COMPOUND, _join_duration),
    (_VAGUE, ""),
)
