"""Reads the numbers in a text, in digits (1,786.50, 1.786,50, 1 786.5, 25 %) and in words (5 million)."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from decimal import Context, Decimal
from functools import lru_cache
from itertools import chain, dropwhile, product, takewhile, zip_longest
from pathlib import Path
from typing import Any, Final

from text_to_num import alpha2digit

from evaluation.texts.normal import has_digit, unify_signs

_UNITS: Final[Mapping[str, Any]] = json.loads(Path(__file__).with_name("units.json").read_bytes())
_LARGE: Final = {"k": "k", "t": "k", "m": "m", "bn": "bn"}
"""Thousands, millions and thousand millions before the code of a currency: kEUR, or TEUR in German."""
CURRENCIES: Final = {
    **{name: unit for unit, names in _UNITS["currencies"].items() for name in names},
    **{
        f"{large}{unit}".lower(): f"{size}{unit}"
        for (large, size), unit in product(_LARGE.items(), filter(str.isupper, _UNITS["currencies"]))
    },
}
"""The currency (ISO 4217), a large unit of it, or per cent, by each of its names in lower case."""
MEASURES: Final = {name: unit for unit, names in _UNITS["measures"].items() for name in names}
"""The measure by each of its names, in lower case."""
_CURRENCY_UNITS: Final = frozenset(CURRENCIES.values())
_AMBIGUOUS: Final = {"GBP", "lb"}
"""Both are called pounds."""
_SCALES: Final = {unit: (base, Decimal(size)) for unit, (base, size) in _UNITS["scales"].items()}
"""The measures that another measure may stand for, with the number of it."""
_ONE: Final = Decimal(1)
ANY_CURRENCY: Final = "money"
"""The unit of an amount whose currency is not known."""
_TIMES: Final = frozenset({"second", "minute", "hour", "day", "week", "month", "year"})
"""As the name of a field, a single one tells when, and not how long."""
_FIELD_UNITS: Final = {
    **{name: unit for name, unit in (CURRENCIES | MEASURES).items() if name not in _TIMES},
    **dict.fromkeys(_UNITS["money_fields"], ANY_CURRENCY),
    "pct": "%",
}


@lru_cache(1024)
def agree_units(first: str | None, second: str | None) -> bool:
    """Return whether two units may be the same; a number without a unit may have any."""
    units = {first, second}
    is_money = ANY_CURRENCY in units and not units.isdisjoint(_CURRENCY_UNITS) and "%" not in units
    return None in units or len(units) == 1 or units == _AMBIGUOUS or is_money


def is_money(unit: str | None) -> bool:
    """Return whether a unit is a currency, perhaps an unknown one."""
    return unit == ANY_CURRENCY or (unit != "%" and unit in _CURRENCY_UNITS)


def scale_unit(value: Decimal, unit: str | None, target: str | None) -> Decimal | None:
    """Return a value in another unit; None if the units measure different things."""
    if agree_units(unit, target):
        return value
    first, size = _SCALES.get(unit or "", (unit, _ONE))
    second, other = _SCALES.get(target or "", (target, _ONE))
    return value * size / other if first == second else None


def read_field_unit(words: Sequence[str]) -> str | None:
    """Return the unit that the words of a field's name state, such as EUR of total_eur; None if none."""
    plain = words[: words.index("per")] if "per" in words else words
    # "min" alone is a minimum, and a letter alone may be anything.
    sure = [word for at, word in enumerate(plain) if at or (len(word) > 1 and word != "min")]
    # mg_l are milligrams in a litre.
    units = [*takewhile(_FIELD_UNITS.get, dropwhile(lambda word: word not in _FIELD_UNITS, sure[::-1]))]
    return _FIELD_UNITS[units[-1]] if units else None


_MAX_LENGTH: Final = 330
"""Most characters of one number; the largest double has 309 digits."""
_SPACES: Final = " \u00a0\u2009\u202f"
_SYMBOLS: Final = "$£¢¤¥€₩₪₫₱₴₹₺₽₿"
_CODES: Final = "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|INR|JPY|KRW|MXN|NOK|NZD|PLN|RUB|SEK|SGD|TRY|USD|ZAR"
_NUMBER: Final = re.compile(
    rf"(?P<digits>\d+(?:[.,'’٫٬，．]\d+|[{_SPACES}]\d{{3}}(?!\d))*)"
    rf"(?P<exponent>[eE][+-]?\d{{1,3}}(?!\w))?(?P<percent>[{_SPACES}]?[%％٪])?"
)
_BEFORE: Final = re.compile(
    rf"(?:\b(?:{_CODES})|(?P<word>[A-Za-z_]|\d[.,'’])"
    rf"|(?P<minus>(?<![\w)\]])[-\u2212](?:[{_SYMBOLS}][{_SPACES}]?)?)?(?P<point>(?<!\w)\.)?)\Z"
)
"""Matches the characters before the digits. After a Latin letter the digits belong to a word (GPT4), unless
the letters are a currency code."""
_REACH: Final = 5  # characters before the digits that _BEFORE may need
_FRACTION: Final = re.compile(r"(?:(?<![\d.,])(\d{1,15})[ \u2009\u202f\u00a0]?)?([¼-¾⅐-⅞])")
_POWERS: Final = {
    **dict.fromkeys(("thousand", "tausend", "tsd", "k"), 3),
    **dict.fromkeys(("million", "mio", "mn", "m"), 6),
    **dict.fromkeys(("billion", "bn", "b", "milliard", "mrd"), 9),
    "hundred": 2,
    "lakh": 5,
    "crore": 7,
    "trillion": 12,
}
_MAGNITUDE: Final = re.compile(
    r"(?<=\d)(?:[\s*_-]{0,4}(hundred|thousand|tausend|tsd|lakh|crore|mio|mn|million|milliard|mrd|billion|bn"
    r"|trillion)(?:en|e|s)?|(k|(?-i:M)))\b\.?",
    re.IGNORECASE,
)
_MONEY: Final = re.compile(rf"((?:[{_SYMBOLS}]|\b(?:{_CODES}))[{_SPACES}]?\d[\d.,]*)([mMbB])\b")
"""Matches an amount with the short scale word of the press; without a currency, 42m are metres."""
_TIME: Final = re.compile(r"(?<![\d:.,])\d{1,2}:[0-5]\d(?::[0-5]\d)?(?![\d:])")
_JOINED: Final = re.compile(r"(?<=\d)_(?=\d)")
_POWER_OF_TEN: Final = re.compile(
    rf"(?:(?<=\d)[{_SPACES}]*(?:[x×*·]|\\times|\\cdot)[{_SPACES}]*|(?<![\w.,^]))"
    r"10(?:(?:\^|\*\*)\{?([+-]?\d{1,3})(?!\d)\}?|([⁺⁻]?[⁰¹²³⁴-⁹]{1,3}))"
)
_MINUS: Final = re.compile(rf"(?<![\w)\]])(?<![\d)\]]\s)(?:minus|negative)[{_SPACES}]+(?=\d)", re.IGNORECASE)
_RATIO: Final = re.compile(rf"(?<![\d/.,-])(\d{{1,15}})[{_SPACES}]?[/⁄∕][{_SPACES}]?(\d{{1,15}})(?![\d/])")
_DATE: Final = re.compile(
    r"(?<![\d./-])(?:(\d{4})([./-])\d{1,2}\2\d{1,2}|\d{1,2}([./-])\d{1,2}\3(\d{4}))(?![\d/-])"
)
_SEPARATOR: Final = re.compile(rf"([.,'’٫٬，．{_SPACES}])")
_PERCENT: Final = "%％٪"
_POINTS: Final = frozenset(".,٫，．")
_FULL_STOPS: Final = frozenset(".．")
_GROUPED: Final = re.compile(r"[1-9]\d?(?:\s\d\d)*\s\d{3}|[1-9]\d{0,2}(?:\s\d{3})+")
"""Matches groups of three digits, or in India of two before the last three; the separators are blanks."""
# Enough digits for the exact difference of any two numbers of _MAX_LENGTH characters.
_EXACT: Final = Context(prec=3 * _MAX_LENGTH, traps=[])


def read_values(text: str) -> Iterator[Decimal]:
    """Yield the values of all numbers in digits, in each of their likely readings.

    1,786 is 1786, and 1.786 is 1786 and 1.786; 1.786,50, 1'786.50 and 1 786.5 are 1786.5; 25 % is 25 and
    0.25; 2½ is 2.5. 42 million, 42k, $42m, 42_000 and 42 x 10^6 are one number each, 1/4 is 0.25, minus 42 is
    -42, and of a date (2026-11-05, 05.11.2026) only the year counts, of a time (12:42) nothing. A digit in a
    word (GPT4) is no number, and a hyphen after a word is no minus.
    """
    plain = _JOINED.sub("", _TIME.sub("", _DATE.sub(r"\1\4", text)))
    plain = _POWER_OF_TEN.sub(_write_exponent, write_minus(plain))
    written = write_powers(_RATIO.sub(_write_quotient, write_fractions(plain)))
    for (_, end), numbers in read_amounts(written):
        for value in chain.from_iterable(numbers):
            yield value
            if written[end - 1] in _PERCENT:
                yield value.scaleb(-2)


def is_near(value: Decimal, number: float, tolerance: float) -> bool:
    """Return whether a value is ``number``, within ``tolerance`` (absolute)."""
    # In decimal, because in binary 1.01 would not be 1 within 0.01.
    expected, accepted = Decimal(repr(number)), Decimal(repr(tolerance))
    return _EXACT.abs(_EXACT.subtract(value, expected)) <= accepted


def write_powers(text: str) -> str:
    """Write the scale words after digits as powers of ten: 5 million is 5e6."""
    if not has_digit(text):
        return text
    text = _MONEY.sub(lambda match: f"{match[1]}e{_POWERS[match[2].lower()]}", text)
    return _MAGNITUDE.sub(lambda match: f"e{_POWERS[(match[1] or match[2]).lower()]}", text)


def write_fractions(text: str) -> str:
    """Write fractions of one character as decimals: 6½ is 6.5."""
    return text if text.isascii() else _FRACTION.sub(_write_decimal, text)


def write_minus(text: str) -> str:
    """Write the word before a negative number as a sign: minus 5 is -5, but 7 minus 5 stays."""
    lower = text.lower()
    # This test is far cheaper than the search; it leaves out the letters that have several small forms.
    return _MINUS.sub("-", text) if "nu" in lower or "negat" in lower else text


def _write_exponent(match: re.Match[str]) -> str:
    exponent = match[1] or unify_signs(unicodedata.normalize("NFKC", match[2]))
    return f"{'e' if match.start() and match.string[match.start() - 1].isdigit() else '1e'}{exponent}"


def _write_quotient(match: re.Match[str]) -> str:
    divisor = int(match[2])
    return match[0] if not divisor else f"{int(match[1]) / divisor:.12g}"


def _write_decimal(match: re.Match[str]) -> str:
    return f"{int(match[1] or 0) + unicodedata.numeric(match[2]):.12g}"


def read_amounts(text: str) -> Iterator[tuple[tuple[int, int], list[list[Decimal]]]]:
    """Yield the span and the numbers at each place with digits; each number with its likely readings.

    1,786 is 1786, 12 345 is 12345, and 1.2.3 is three numbers. Only 1.786 has two readings.
    """
    for match in _NUMBER.finditer(text):
        before = _find_sign(match)
        if before is not None:
            sign = "-" if before["minus"] else ""
            numbers = _likely_readings(match["digits"], match["exponent"] or "", before["point"] or "")
            yield match.span(), [[Decimal(f"{sign}{value}") for value in number] for number in numbers]


def _likely_readings(digits: str, exponent: str, point: str) -> list[list[str]]:
    parts = _SEPARATOR.split(digits if digits.isascii() else _ascii_digits(digits))
    if len(parts) == 1:
        return [[f"{point}{parts[0]}{exponent}"]]
    grouped, decimal = _read_grouped(parts), _read_decimal(parts)
    # Few texts write three decimals after a comma, and German ones write thousands with a full stop.
    likely = [grouped, decimal] if parts[1] in _FULL_STOPS else [decimal if grouped is None else grouped]
    readings = [f"{reading}{exponent}" for reading in likely if reading is not None]
    return [readings] if readings else [[part] for part in parts[::2] if part]


def _find_sign(match: re.Match[str]) -> re.Match[str] | None:
    """Match the characters before a number; returns None if it is a part of a word, or too long."""
    start, end = match.span()
    before = _BEFORE.search(match.string[max(0, start - _REACH) : start])
    return None if before is None or before["word"] or end - start > _MAX_LENGTH else before


def _ascii_digits(digits: str) -> str:
    return "".join(str(unicodedata.decimal(char, char)) for char in digits)


def _read_grouped(parts: list[str]) -> str | None:
    """Read all separators as group separators, which must be the same; None if they cannot be."""
    groups, marks = parts[::2], set(parts[1::2])
    fits = len(marks) == 1 and _GROUPED.fullmatch(" ".join(groups))
    return "".join(groups) if fits else None


def _read_decimal(parts: list[str]) -> str | None:
    """Read the last separator as the decimal point, and any separators before it as group separators."""
    *before, point, fraction = parts
    integer = before[0] if len(before) == 1 else _read_grouped(before)
    if point not in _POINTS or point in before[1::2] or integer is None:
        return None
    return f"{integer or 0}.{fraction}"


_WITH_DIGIT: Final = re.compile(r"(?<!\S)[^\s\d]*\d\S*")
_FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(words)
    for language, words in json.loads(Path(__file__).with_name("function_words.json").read_bytes()).items()
}
_GAPS: Final = "".join(char if char.isalpha() else " " for char in map(chr, range(128)))
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_NUMBER_STARTS: Final = frozenset({
    "zero", "noug", "os", "oss", "one", "ones", "two", "thre", "four", "five", "six", "sixt", "seve", "eigh",
    "nine", "nint", "ten", "tens", "tent", "elev", "twel", "twen", "thir", "fort", "fift", "firs", "seco",
    "hund", "thou", "mill", "bill", "tril", "null", "ein", "eins", "eine", "eini", "einu", "einh", "eint",
    "einm", "erst", "zwei", "zwo", "zwot", "zwöl", "zwan", "drei", "drit", "vier", "fünf", "sech", "sieb",
    "acht", "neun", "zehn", "elf", "elft", "taus",
})  # fmt: skip
"""The first four letters of all that text2num reads as a number; it takes far longer to find none."""
_CUT: Final = "\x1f"
_LONGEST_PART: Final = 2_000
_PART: Final = re.compile(r".{1,1999}(?:[.!?;\n]\s|\Z)|.{1,1999}(?:\s|\Z)|.{1,2000}", re.DOTALL)
"""At most 2,000 characters, to the end of a sentence if there is one."""
LEAST: Final = 2
"""Smallest number in words that has to recur: "one" and "ein" are pronouns and articles too."""
SECOND: Final = "2nd"
"""A second is a time as well as an ordinal."""


def spell_in_digits(text: str) -> tuple[str, bytearray]:
    """Write the numbers in words as digits; returns the text, and by character whether it was a digit before.

    A scale word after digits becomes an exponent: "5 million" is "5e6".
    """
    text = write_powers(text)
    # Most texts have no digit, and this test is far cheaper than the search.
    tokens = _WITH_DIGIT.findall(text) if has_digit(text) else []
    # Word by word between the digits, because text2num would join both.
    pieces = _convert_words(_WITH_DIGIT.sub(_CUT, text) if tokens else text).split(_CUT)
    plain, was_digit = "", bytearray()
    for piece, token in zip_longest(pieces, tokens, fillvalue=""):
        gap = ";" if plain[-1:].isdigit() and piece[:1].isdigit() else ""
        plain += f"{gap}{piece};{token}" if piece.rstrip()[-1:].isdigit() else f"{gap}{piece}{token}"
        was_digit += bytes(len(plain) - len(was_digit) - len(token)) + b"\1" * len(token)
    return plain, was_digit


def read_worded_numbers(text: str) -> Iterator[Decimal]:
    """Yield the numbers that a text writes in words or with a scale word: five, 5 million, 2,5 Mio.

    Not zero, one and second, which are pronouns, articles and times, too.
    """
    plain, digits = spell_in_digits(text)
    for (start, end), numbers in read_amounts(plain):
        is_word = not any(digits[start:end])
        if (is_word and plain[start : end + 2] != SECOND) or "e" in plain[start:end]:
            yield from (value for number in numbers for value in number if not is_word or abs(value) >= LEAST)


def has_number_word(text: str) -> bool:
    """Return whether a text has a word that may be a number, such as one or fourth."""
    return not _NUMBER_STARTS.isdisjoint(word[:4] for word in _list_words(text))


def _convert_words(text: str) -> str:
    if not has_number_word(text):
        return write_minus(text)
    german, english = count_function_words(text)
    converted = _convert_in_parts(text, "de" if german > english else "en")
    if converted == text and german == english:
        converted = _convert_in_parts(text, "de")
    return write_minus(converted)


def _convert_in_parts(text: str, language: str) -> str:
    # text2num takes the square of the length for a row of number words.
    parts = _PART.findall(text) if len(text) >= _LONGEST_PART else [text] if text else []
    return "".join(alpha2digit(part, language, threshold=0) for part in parts)


def count_function_words(text: str) -> tuple[int, int]:
    """Count the different German and English function words of a text, which tell its language."""
    words = _list_words(text)
    return len(words & _FUNCTION_WORDS["german"]), len(words & _FUNCTION_WORDS["english"])


def _list_words(text: str) -> set[str]:
    lower = text.lower()
    return {*(lower.translate(_GAPS).split() if lower.isascii() else _LETTERS.findall(lower))}
