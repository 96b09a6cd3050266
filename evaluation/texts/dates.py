"""Reads the dates, times of day and weekdays in an English or German text."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from datetime import date
from typing import Final, NamedTuple, TypeAlias

_MONTHS: Final = {
    "jan": 1, "jän": 1, "feb": 2, "mar": 3, "mär": 3, "mrz": 3, "apr": 4, "may": 5, "mai": 5, "jun": 6,
    "jul": 7, "aug": 8, "sep": 9, "oct": 10, "okt": 10, "nov": 11, "dec": 12, "dez": 12,
}  # fmt: skip
"""The number of a month by the first three letters of its English or German name."""
MONTH: Final = (
    "jan(?:uary|uar)?|jän(?:ner)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|mrz|apr(?:il)?|may|mai|june?|juni|july?|juli"
    "|aug(?:ust)?|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?"
)
_ENGLISH_MONTH: Final = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
"""Only in English the day follows the month: "März 2" is a count in March."""
_WEEKDAYS: Final = {
    "monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5, "sunday": 6,
    "montag": 0, "dienstag": 1, "mittwoch": 2, "donnerstag": 3, "freitag": 4, "samstag": 5, "sonntag": 6,
    "sonnabend": 5,
}  # fmt: skip
_NUMERIC_DATE: Final = re.compile(
    r"(?<![\w.\-/])(?P<y1>\d{4})(?P<mark>[-/.])(?P<m1>\d{1,2})(?P=mark)(?P<d1>\d{1,2})(?!\d)"
    r"|(?<![\w.\-/])(?P<a>\d{1,2})(?P<sep>[-/.])(?P<b>\d{1,2})(?P=sep)(?P<y2>\d{4}|\d{2})(?![\d\-/])"
    r"|(?:(?<=\bam )|(?<=\bab )|(?<=\b(?:bis|vom|zum|den|dem) ))(?P<d6>\d{1,2})\.(?P<m6>\d{1,2})\.(?!\d)"
    r"|(?<![\w.,])(?P<d7>\d{1,2})\.(?P<m7>\d{1,2})\.(?=[,:]| (?:und|bis|oder|sowie)\b)|(?<=\d\. (?:und|bis) )"
    r"(?P<d8>\d{1,2})\.(?P<m8>\d{1,2})\.(?!\d)"
)
_DATE_MARK: Final = re.compile(r"\d[-/.]")
"""Matches in each date in digits."""
_NAMED_DATE: Final = re.compile(
    rf"\b(?P<d3>\d{{1,2}})(?:st|nd|rd|th|\.)?[ -](?:of )?(?P<m3>{MONTH})\b\.?"
    r"(?:[, -]{1,2}(?P<y3>\d{4})\b)?"
    rf"|\b(?P<m4>{_ENGLISH_MONTH})\b\.? (?:the )?(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:\d)"
    r"(?:,? (?P<y4>\d{4})\b)?"
    rf"|\b(?P<m5>{MONTH})\b\.?,? (?P<y5>(?:1[5-9]|20)\d\d)\b",
    re.IGNORECASE,
)
_ISO_MONTH: Final = re.compile(r"(?<![\w.\-/])((?:19|20)\d\d)-([01]\d)(?![\d\-/])")
_TIME: Final = re.compile(
    r"(?<![\d:.])(?P<h1>\d{1,2}):(?P<m1>\d{2})(?::(?P<s1>\d{2}))?(?:\.\d+)?(?!:?\d)"
    r"(?: ?(?P<half1>[ap])\.?m\b\.?)?"
    r"|(?<![\w:.])(?P<h2>\d{1,2})(?:\.(?P<m2>\d{2}))? (?:uhr\b(?: (?P<m3>\d{2})\b)?|o'clock\b)"
    r"|(?<![\w:.,])(?P<h4>1[0-2]|0?\d)(?:\.(?P<m4>\d{2}))? ?(?P<half4>[ap])\.?m\b\.?"
    # "32 am Tag" and "8 am 20." are German.
    r"(?! (?:[a-zäöü]*tag|abend|morgen|ende|\d{1,2}\.))",
    re.IGNORECASE,
)
_TIME_SIGNS: Final = (":", "uhr", "o'clock", "am", "pm", "a.m", "p.m")
"""Each time of day has one of these signs."""
_WEEKDAY: Final = re.compile(rf"\b(?:{'|'.join(_WEEKDAYS)})s?\b", re.IGNORECASE)
_CENTURY: Final = 2000
_YEAR_DIGITS: Final = 4


class Day(NamedTuple):
    """A date; year or day is None if the text leaves it out."""

    year: int | None
    month: int
    day: int | None


class Clock(NamedTuple):
    """A time of day; the second is None if the text leaves it out."""

    hour: int
    minute: int
    second: int | None


Found: TypeAlias = Iterator[tuple[tuple[int, int], Iterable[Hashable]]]
"""The span of each fact of one kind, and its readings: an ambiguous notation has several."""


def find_numeric_dates(text: str) -> Found:
    """Yield the span and the readings of each date in digits; 03/04/2026 has two: 3 April and 4 March."""
    # This test is far cheaper than the search.
    for match in _NUMERIC_DATE.finditer(text) if _DATE_MARK.search(text) else ():
        days = [day for day in _read_numeric(match) if _exists(day)]
        if days:
            yield match.span(), days


def find_months(text: str) -> Found:
    """Yield the span and the month of each date such as 2026-07."""
    for match in _ISO_MONTH.finditer(text):
        day = Day(int(match[1]), int(match[2]), None)
        if _exists(day):
            yield match.span(), [day]


def _read_numeric(match: re.Match[str]) -> Iterator[Day]:
    if match["y1"]:
        yield Day(int(match["y1"]), int(match["m1"]), int(match["d1"]))
        return
    if not match["a"]:
        day, month = [int(digits) for digits in match.group("d6", "m6", "d7", "m7", "d8", "m8") if digits]
        yield Day(None, month, day)
        return
    first, second, year = int(match["a"]), int(match["b"]), int(match["y2"])
    year += 0 if len(match["y2"]) == _YEAR_DIGITS else _CENTURY
    yield Day(year, second, first)
    # Only a German date has full stops, and its day comes first.
    if match["sep"] != ".":
        yield Day(year, first, second)


def find_named_dates(text: str) -> Found:
    """Yield the span and the date of each date with the name of its month."""
    lower = text.lower()
    # This test is far cheaper than the search.
    if not any(name in lower for name in _MONTHS):
        return
    for match in _NAMED_DATE.finditer(text):
        parts = match.groupdict()
        month = next(name for key in ("m3", "m4", "m5") if (name := parts[key]))
        year, day = _first_number(parts, "y3", "y4", "y5"), _first_number(parts, "d3", "d4")
        date_read = Day(year, _MONTHS[month[:3].lower()], day)
        if _exists(date_read):
            yield match.span(), [date_read]


def _first_number(parts: dict[str, str | None], *names: str) -> int | None:
    return next((int(digits) for name in names if (digits := parts[name])), None)


def _exists(day: Day) -> bool:
    try:
        # In a leap year, because a date without its year may be 29 February.
        date(day.year or _CENTURY, day.month, day.day or 1)
    except ValueError:
        return False
    return True


def find_times(text: str) -> Found:
    """Yield the span of each time of day, and the time on the 24-hour clock."""
    lower = text.lower()
    for match in _TIME.finditer(text) if any(sign in lower for sign in _TIME_SIGNS) else ():
        parts = match.groupdict()
        hour = _first_number(parts, "h1", "h2", "h4") or 0
        half = (parts["half1"] or parts["half4"] or "").lower()
        # 12 a.m. is midnight, and 12 p.m. is noon.
        hour = hour % 12 + (12 if half == "p" else 0) if half else hour
        minute = _first_number(parts, "m1", "m2", "m3", "m4") or 0
        yield match.span(), [Clock(hour, minute, _first_number(parts, "s1"))]


def find_weekdays(text: str) -> Found:
    """Yield the span and the number of each weekday; Monday is 0."""
    lower = text.lower()
    for match in _WEEKDAY.finditer(text) if any(name in lower for name in _WEEKDAYS) else ():
        yield match.span(), [_WEEKDAYS[match[0].lower().removesuffix("s")]]
