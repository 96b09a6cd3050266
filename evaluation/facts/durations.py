"""Writes durations and ranges so that each of their numbers has its unit: 1 h 20 min are 80 min."""

from __future__ import annotations

import re
from typing import Final

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
_VAGUE: Final = re.compile(
    r"\b(?:halbe?|half|(?:viertel|quarter)(?: past| to| vor| nach)?) [^\W_]+|24/7"
    r"|\b[^\W\d_]+[ -](?:halves|thirds|quarters?|quartal|fifths|drittel|viertel|fünftel)\b"
    r"|\b[^\W\d_]+einhalb\b",
    re.IGNORECASE,
)
"""Matches fractions and times in words, which are not read."""
_RANGE: Final = re.compile(
    r"(?<![\w.,:-])(\d[\d.,]*(?P<minute>:\d\d)?)(?:\s?[-–]\s?| (?:to|until|and|auf|bis|und) )"
    r"(?=\d[\d.,]*(?::\d\d)? ?([ap]\.?m\b|uhr\b|(?(minute)(?!)|(?:million|mio|jan|feb|mar|mär|apr|ma[iy]|jun"
    r"|jul|aug|sep|o[ck]t|nov|de[cz])[a-zä]*\b)))",
    re.IGNORECASE,
)
"""Matches the first number of a range, if only the second has the unit."""


def write_durations(text: str) -> str:
    """Writes 1 h 20 min as 80 min, an hour and a half as 1.5 hour, and 7 to 9 pm as 7 pm to 9 pm."""
    text = _AND_PART.sub(_join_part, _RANGE.sub(r"\1 \3 - ", text))
    return _VAGUE.sub("", _COMPOUND.sub(_join_duration, text))


def _join_duration(match: re.Match[str]) -> str:
    hours, minutes = _read(match[1]), _read(match[2])
    return f"{60 * int(hours) + int(minutes)} min" if hours and minutes else match[0]


def _join_part(match: re.Match[str]) -> str:
    number = _read(match[1])
    return f"{number}{_PARTS[match[3].lower()]}{match[2]}" if number else match[0]


def _read(word: str) -> str:
    """Returns the digits of a number in a word; an empty text if it is none."""
    digits = "1" if word.lower() in {"a", "an", "one", "eine"} else spell_in_digits(word)[0].strip(";")
    return digits if digits.isdigit() else ""
