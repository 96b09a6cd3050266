"""The numbers that a text states, however it writes them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from decimal import Context, Decimal
from typing import Final

MAX_NUMBERS: Final = 100_000
"""Numbers of one text that are read."""
_MAX_LENGTH: Final = 330
"""Characters of one number; the greatest double has 309 digits."""
_SPACES: Final = " \u00a0\u2009\u202f"
_SYMBOLS: Final = "$£¢¤¥€₩₪₫₱₴₹₺₽₿"
_CODES: Final = "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|INR|JPY|KRW|MXN|NOK|NZD|PLN|RUB|SEK|SGD|TRY|USD|ZAR"
_NUMBER: Final = re.compile(
    rf"(?P<digits>\d+(?:[.,'’٫٬，．]\d+|[{_SPACES}]\d{{3}}(?!\d))*)"
    rf"(?P<exponent>[eE][+-]?\d{{1,3}}(?!\w))?(?P<percent>[{_SPACES}]?[%％٪])?"
)
_BEFORE: Final = re.compile(
    rf"(?:\b(?:{_CODES})|(?P<word>[A-Za-z_]|\d[.,'’])"
    rf"|(?P<minus>(?<![\w)\]])[-\u2212](?:[{_SYMBOLS}][{_SPACES}]?)?)?(?P<point>(?<!\w)[.,])?)\Z"
)
"""What stands before the digits; they belong to a word where a Latin letter does that is no currency."""
_REACH: Final = 5
_SEPARATOR: Final = re.compile(rf"([.,'’٫٬，．{_SPACES}])")
_POINTS: Final = frozenset(".,٫，．")
_GROUPED: Final = re.compile(r"[1-9]\d?(?:\s\d\d)*\s\d{3}|[1-9]\d{0,2}(?:\s\d{3})+")
"""Groups of three digits, or as in India of two before the last three; the separators are blanks here."""
_ROUNDING: Final = 1e-9
_EXACT: Final = Context(prec=3 * _MAX_LENGTH, traps=[])


def states_number(text: str, number: float, tolerance: float = 0.0) -> bool | None:
    """Say whether ``text`` holds a number that is ``number``, give or take ``tolerance`` (absolute).

    Every common reading of a number counts: 1,786 is 1786 and 1.786; 1.786,50, 1'786.50 and 1 786.5 are
    1786.5; 25 % is 25 and 0.25. A digit in a word (GPT4) is no number, nor is a hyphen behind one a minus.
    None where ``text`` holds more than ``MAX_NUMBERS`` and it is none of the first of them.
    """
    for read, match in enumerate(_NUMBER.finditer(text)):
        if read == MAX_NUMBERS:
            return None
        if any(_equals(reading, number, tolerance) for reading in _written(match)):
            return True
    return False


def _equals(reading: str, number: float, tolerance: float) -> bool:
    """Compare in decimal, where 1.01 is 1 give or take 0.01; what is clearly another number, in binary."""
    value = float(reading)
    if not math.isclose(value, number, rel_tol=_ROUNDING, abs_tol=tolerance * (1 + _ROUNDING)):
        return False
    difference = _EXACT.subtract(Decimal(reading), Decimal(repr(number)))
    return _EXACT.abs(difference) <= Decimal(repr(tolerance))


def numbers_in(text: str) -> Iterator[str]:
    """Yield every number in ``text`` of at most 330 characters, in order: each in all its common readings."""
    for match in _NUMBER.finditer(text):
        yield from _written(match)


def _written(match: re.Match[str]) -> Iterator[str]:
    start, end = match.span()
    before = _BEFORE.search(match.string[max(0, start - _REACH) : start])
    if before is None or before["word"] or end - start > _MAX_LENGTH:
        return
    digits, exponent, percent = match.groups(default="")
    sign, point = ("-" if before["minus"] else ""), ("." if before["point"] else "")
    for reading in _readings(digits):
        yield f"{sign}{point}{reading}{exponent}"
        if percent:
            yield f"{sign}{point}{reading}e{int(exponent[1:] or 0) - 2}"


def _readings(digits: str) -> list[str]:
    """Read a run of digits and separators: as grouped, as with a decimal point, else part by part."""
    parts = _SEPARATOR.split(digits if digits.isascii() else _in_ascii(digits))
    if len(parts) == 1:
        return parts
    whole = [reading for reading in (_grouped(parts), _pointed(parts)) if reading is not None]
    return [*whole, *_apart(digits, whole)]


def _in_ascii(digits: str) -> str:
    return "".join(str(unicodedata.decimal(char, char)) for char in digits)


def _grouped(parts: list[str]) -> str | None:
    """Read all separators as marks of groups; they have to be the same."""
    groups, marks = parts[::2], set(parts[1::2])
    fits = len(marks) == 1 and _GROUPED.fullmatch(" ".join(groups))
    return "".join(groups) if fits else None


def _pointed(parts: list[str]) -> str | None:
    """Read the last separator as the decimal point; those before it, if any, mark groups."""
    *before, point, fraction = parts
    whole = before[0] if len(before) == 1 else _grouped(before)
    if point not in _POINTS or point in before[1::2] or whole is None:
        return None
    return f"{whole or 0}.{fraction}"


def _apart(digits: str, whole: list[str]) -> list[str]:
    """Read numbers with blanks between them one by one, and what has no reading as a whole by its parts."""
    pieces = digits.split()
    if len(pieces) > 1:
        return [reading for piece in pieces for reading in _readings(piece)]
    return [] if whole else [part for part in _SEPARATOR.split(digits)[::2] if part]
