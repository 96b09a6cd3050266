"""Reads the facts in an English or German text: identifiers, dates, times, numbers, negations, paths.

Names of people and places are not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from itertools import chain
from typing import Final, Literal, NamedTuple, TypeAlias

from evaluation.texts.normal import cache_by_text, cut_out, has_digit, normalize_text, unify_signs
from evaluation.texts.numbers import (
    CURRENCIES,
    LEAST,
    MEASURES,
    SECOND,
    read_amounts,
    spell_in_digits,
    write_fractions,
)

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
# Most places of a text have no digit, and a test for one there spares all alternatives.
_NUMERIC_DATE: Final = re.compile(
    r"(?=\d)(?:(?<![\w.\-/])(?P<y1>\d{4})(?P<mark>[-/.])(?P<m1>\d{1,2})(?P=mark)(?P<d1>\d{1,2})(?!\d)"
    r"|(?<![\w.\-/])(?P<a>\d{1,2})(?P<sep>[-/.])(?P<b>\d{1,2})(?P=sep)(?P<y2>\d{4}|\d{2})(?![\d\-/])"
    r"|(?:(?<=\bam )|(?<=\bab )|(?<=\b(?:bis|vom|zum|den|dem) ))(?P<d6>\d{1,2})\.(?P<m6>\d{1,2})\.(?!\d)"
    r"|(?<![\w.,])(?P<d7>\d{1,2})\.(?P<m7>\d{1,2})\.(?=[,:]| (?:und|bis|oder|sowie)\b)|(?<=\d\. (?:und|bis) )"
    r"(?P<d8>\d{1,2})\.(?P<m8>\d{1,2})\.(?!\d)"
    r"|(?<![\w.\-/])(?P<y9>(?:19|20)\d\d)-(?P<m9>[01]\d)(?![\d\-/]))"
)
_DATE_MARK: Final = re.compile(r"\d(?:[-/.]\d\d?[-/.]|-[01]\d(?!\d))")
"""Matches in each date in digits."""
_NAMED_DATE: Final = re.compile(
    rf"\b(?=[\djfmasond])(?:(?P<d3>\d{{1,2}})(?:st|nd|rd|th|\.)?[ -](?:of )?(?P<m3>{MONTH})\b\.?"
    r"(?:[, -]{1,2}(?P<y3>\d{4})\b)?"
    rf"|(?P<m4>{_ENGLISH_MONTH})\b\.? (?:the )?(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:\d)"
    r"(?:,? (?P<y4>\d{4})\b)?"
    rf"|(?P<m5>{MONTH})\b\.?,? (?P<y5>(?:1[5-9]|20)\d\d)\b)",
    re.IGNORECASE,
)
_TIME: Final = re.compile(
    r"(?=\d)(?:(?<![\d:.])(?P<h1>\d{1,2}):(?P<m1>\d{2})(?::(?P<s1>\d{2}))?(?:\.\d+)?(?!:?\d)"
    r"(?: ?(?P<half1>[ap])\.?m\b\.?)?"
    r"|(?<![\w:.])(?P<h2>\d{1,2})(?:\.(?P<m2>\d{2}))? (?:uhr\b(?: (?P<m3>\d{2})\b)?|o'clock\b)"
    r"|(?<![\w:.,])(?P<h4>1[0-2]|0?\d)(?:\.(?P<m4>\d{2}))? ?(?P<half4>[ap])\.?m\b\.?"
    # "32 am Tag" and "8 am 20." are German.
    r"(?! (?:[a-zäöü]*tag|abend|morgen|ende|\d{1,2}\.)))",
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


def _read_numeric(match: re.Match[str]) -> Iterator[Day]:
    if match["y9"]:
        yield Day(int(match["y9"]), int(match["m9"]), None)
        return
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


Kind = Literal["identifier", "date", "time", "weekday", "code", "number"]
_ADDRESS: Final = re.compile(
    r"(?<![\w.+%-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+|\b(?:https?://|www\.)[^\s<>\"']+", re.IGNORECASE
)
_IN_DIGITS: Final[frozenset[Kind]] = frozenset({"date", "time"})
"""Kinds that no text without a digit states."""
_TOKEN: Final = re.compile(r"\w[\w.\-]*")
_NAME: Final = re.compile(r"[^\W\d_]_?\d|\w_+\w|\A\d+[^\W\d_]|\A[A-Z]{1,5}-\d|[^\W_]{2}\.[a-z]{2,5}\Z")
"""Matches in a token that is an identifier: letters with digits, names in code, names of files and hosts."""
_EXTENSION: Final = re.compile(r"\.[a-z]")
_QUANTITY: Final = re.compile(
    r"[\d.]+(?:am|pm|st|nd|rd|th|[kmgt]?b|[kmcdn]?m|[km]?g|[kmgt]|lbs?|oz|ft|in|m?l|[kmg]?hz|k?w|kwh|v|x|c|f|px"
    r"|ms|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|d|days?|weeks?|months?|years?|std|tage?|pcs?|usd|eur|gbp|chf)"
)
"""Matches a number with its unit, or an ordinal."""
_CODE: Final = re.compile(r"[A-Z](?<!\w[A-Z])[A-Z]+\b")
"""Begins with its letter: the search skips all others without a try."""
_NUMBER_SIGN: Final = re.compile(r"\b(?:no|nr)\. ?(?=\d)", re.IGNORECASE)
_POWER: Final = re.compile(r"\b([kcdm]?m)\^?([23])\b")
_RAISED: Final = {"2": "²", "3": "³"}
"""The digits of m2 and m3, which are no number and no name."""
_BOTH: Final = re.compile(r"\bthe two\b(?=\s*(?:[.,;:)]|\Z))", re.IGNORECASE)
"""Stands for two things that were named, and counts none."""
_NEGATION: Final = re.compile(
    r"\b(?=[acdhikmnosw])(?:not|no|never|none|nobody|nothing|nowhere|neither|nor|without|cannot"
    r"|(?:do|does|did|is|was|are|were|has|have|had|ca|could|wo|would|should|must|need|ai)n['’]?t"
    r"|nicht|nichts|nie|niemals|niemand\w{0,2}|kein\w{0,2}|keinesfalls|ohne|weder|nirgend\w*)\b"
)
"""Matches in lower case, in a third of the time; the first test spares the search at most words."""
_DOTS: Final = str.maketrans("İı", "ii")
"""The letters that are an i if case is ignored."""
_UNIT_AFTER: Final = re.compile(r"[ -]?(km/h|°[cf]|[^\W\d_]+|[%$€£¥₹])(?!-?[^\W\d_])", re.IGNORECASE)
_UNIT_BEFORE: Final = re.compile(r"(?<![^\W\d_])([^\W\d_]+|[%$€£¥₹]) ?[-\u2212]?\Z")
"""Match what may be the name of a unit; the names are ``CURRENCIES`` and ``MEASURES``."""
_NEARBY: Final = 30
_LONG_TEXT: Final = 10_000
_REACH: Final = 8
"""Characters of the longest currency before a number, with its blank and sign."""
_TAKEN: Final = " ; "
"""Stands in the text for a fact that was read."""


class Value(NamedTuple):
    """The value of a fact, without its notation."""

    readings: frozenset[Hashable]
    """Names, numbers, dates or times; an ambiguous notation has several."""
    unit: str | None = None

    @property
    def numbers(self) -> list[Decimal]:
        """Its readings as a number."""
        return [each for each in self.readings if isinstance(each, Decimal)]


class Fact(NamedTuple):
    """A fact as a text writes it."""

    kind: Kind
    shown: str
    value: Value
    is_vital: bool = True
    """Whether an answer that leaves it out may be wrong; a weekday or an abbreviation may be left out."""
    around: tuple[str, ...] = ()
    """The words before and after a number; none in a long text."""


class Facts(NamedTuple):
    """The facts of a text in order, and its negations."""

    facts: list[Fact]
    negations: list[str]


def read_facts(text: str) -> Facts:
    """Read all facts of a text; each character belongs to one fact at most."""
    plain = write_fractions(text)
    plain = _BOTH.sub("both", plain) if "the two" in plain.lower() else plain
    rest = unify_signs(normalize_text(plain, ignore_case=False))
    facts: list[Fact] = []
    has_digits = has_digit(rest)
    if has_digits:
        rest = _POWER.sub(lambda match: f"{match[1]}{_RAISED[match[2]]}", _NUMBER_SIGN.sub(" ", rest))
    for kind, is_vital, find in _FINDERS:
        if not (found := [*find(rest)] if has_digits or kind not in _IN_DIGITS else []):
            continue
        facts += [
            Fact(kind, rest[start:end], Value(frozenset(readings)), is_vital)
            for (start, end), readings in found
        ]
        rest = cut_out(rest, [span for span, _ in found], _TAKEN)
    amounts, rest = _take_amounts(rest)
    facts += amounts
    dotted = rest if rest.isascii() else rest.translate(_DOTS)
    return Facts(facts, _NEGATION.findall(dotted.lower()))


@cache_by_text
def read_vital_numbers(text: str) -> tuple[Fact, ...]:
    """Read the numbers of a text that an answer may not leave out."""
    # This test is far cheaper than the search.
    if text.isascii() and not (has_digit(text) or has_digit(spell_in_digits(text)[0])):
        return ()
    return tuple(fact for fact in read_facts(text).facts if fact.kind == "number" and fact.is_vital)


def _take_amounts(text: str) -> tuple[list[Fact], str]:
    plain, digits = spell_in_digits(text)
    found = list(read_amounts(plain))
    amounts = [
        _build_amount(plain, start, end, number, is_word=not any(digits[start:end]))
        for (start, end), numbers in found
        for number in numbers
    ]
    return amounts, cut_out(plain, [span for span, _ in found], " ")


def _build_amount(text: str, start: int, end: int, number: Sequence[Decimal], *, is_word: bool) -> Fact:
    # A per cent sign may be part of the number already.
    after = _UNIT_AFTER.match(text, end)
    sign = _UNIT_AFTER.match(text, end - 1) if text[end - 1] in "%％٪" else after
    before = _UNIT_BEFORE.search(text[max(0, start - _REACH) : start])
    currency = _look_up(sign, CURRENCIES) or _look_up(before, CURRENCIES)
    after = None if currency else after
    measure = _look_up(after, MEASURES)
    unit = currency or measure
    # 5 % are 0.05, too.
    shares = [value / 100 for value in number] if unit in ("%", "cent") else []
    # A word such as one or second may be no number.
    is_certain = not is_word or (max(number) >= LEAST and text[start : end + 2] != SECOND)
    shown = text[start : after.end() if after and measure else end].strip()
    near = text[max(0, start - _NEARBY) : start], text[end : end + _NEARBY]
    words = [*near[0].split()[-1:], *near[1].split()[:1]] if len(text) <= _LONG_TEXT else []
    around = tuple(word.lower() for each in words if (word := each.strip(":,.;")).isalpha())
    value = Value(frozenset([*number, *shares]), None if unit == "cent" else unit)
    return Fact("number", shown, value, is_certain, around)


def _look_up(match: re.Match[str] | None, units: Mapping[str, str]) -> str | None:
    return units.get(match[1].lower()) if match else None


def _find_addresses(text: str) -> Found:
    # This test is far cheaper than the search.
    for match in _ADDRESS.finditer(text) if "@" in text or "://" in text or "www" in text.lower() else ():
        shown = match[0].rstrip(".,;:!?)]}/")
        yield (match.start(), match.start() + len(shown)), [shown.casefold()]


def _find_names(text: str) -> Found:
    # Without any of these signs, no token is a name.
    if not ("_" in text or has_digit(text) or _EXTENSION.search(text)):
        return
    for match in _TOKEN.finditer(text):
        token = match[0].rstrip(".-_")
        # The first test is far cheaper than the search.
        if not token.isalpha() and _NAME.search(token) and not _QUANTITY.fullmatch(token.lower()):
            yield (match.start(), match.start() + len(token)), [token.casefold()]


def _find_codes(text: str) -> Found:
    # In a text without lower case, capitals mean nothing.
    for match in () if text.isupper() else _CODE.finditer(text):
        if match[0].lower() not in CURRENCIES | MEASURES:
            yield match.span(), [match[0]]


_FINDERS: Final[Sequence[tuple[Kind, bool, Callable[[str], Found]]]] = (
    ("identifier", True, _find_addresses),
    ("date", True, find_numeric_dates),
    ("date", True, find_named_dates),
    ("time", True, find_times),
    ("weekday", False, find_weekdays),
    ("identifier", True, _find_names),
    ("code", False, _find_codes),
)
"""The kind of the facts, whether they are vital, and the search, in this order: an address may have a date,
and a date letters with digits."""
_EMAIL: Final = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")
_PATH: Final = re.compile(r"(?<![\w:/.@])(?:[\w.-]*/)+[\w-]+(?:\.[\w-]+)*\.[a-zA-Z]\w{0,7}\b(?![/@])")
_NAMED_ID: Final = re.compile(
    r"(?<![\w/.@-])(#?[A-Za-z]+(?:_[A-Za-z]+)*[_-])(?=[A-Za-z0-9]*\d)([A-Za-z0-9]{3,})\b(?![-/@])"
)
_CODE_ID: Final = re.compile(r"(?=[#A-Z])(?<![\w/.@-])(#?[A-Z]{1,4})(\d{3,})\b(?![-/@])")


class TypedValue(NamedTuple):
    """A value of a family: the kind, and for identifiers their prefix."""

    family: str
    value: str


@cache_by_text
def read_typed(text: str) -> frozenset[TypedValue]:
    """Return the addresses, paths, dates and identifiers of a text."""
    return frozenset(_list_values(text))


def _list_values(text: str) -> Iterator[TypedValue]:
    # These tests are far cheaper than the searches.
    emails = _EMAIL.finditer(text) if "@" in text else ()
    yield from (TypedValue("address", match[0].lower().rstrip(".")) for match in emails)
    paths = _PATH.finditer(text) if "/" in text else ()
    yield from (TypedValue("path", match[0]) for match in paths if "://" not in match[0])
    if not has_digit(text):
        return
    named = chain(_NAMED_ID.finditer(text), _CODE_ID.finditer(text))
    yield from (TypedValue(f"identifier {match[1].lower()}", match[0]) for match in named)
    found = chain(find_numeric_dates(text), find_named_dates(text))
    days = [day for _, readings in found for day in readings if isinstance(day, Day) and day.day]
    yield from (TypedValue("date", f"{day.month:02}-{day.day:02}") for day in days)
    # A year is often left out, so a date with one is a further value.
    yield from (
        TypedValue("date with a year", f"{day.year}-{day.month:02}-{day.day:02}") for day in days if day.year
    )
