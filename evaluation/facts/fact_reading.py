"""Reads the facts in an English or German text: identifiers, dates, times, weekdays, numbers, negations.

Names of people and places are not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from evaluation.facts.dates import (
    find_months,
    find_named_dates,
    find_numeric_dates,
    find_times,
    find_weekdays,
)
from evaluation.facts.fact_amounts import UNITS, find_amounts
from evaluation.texts.normal import normalize_text, unify_signs
from evaluation.texts.words import split_words

Kind = Literal["identifier", "date", "time", "weekday", "code", "number"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_ADDRESS: Final = re.compile(
    r"(?<![\w.+%-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+|\b(?:https?://|www\.)[^\s<>\"']+", re.IGNORECASE
)
_TOKEN: Final = re.compile(r"\w[\w.\-]*")
_NAME: Final = re.compile(r"[^\W\d_]_?\d|\w_+\w|\A\d+[^\W\d_]|[^\W_]{2}\.[a-z]{2,5}\Z")
"""Matches in a token that is an identifier: letters with digits, names in code, names of files and hosts."""
_QUANTITY: Final = re.compile(
    r"[\d.]+(?:am|pm|st|nd|rd|th|[kmgt]?b|[kmcdn]?m|[km]?g|[kmgt]|lbs?|oz|ft|in|m?l|[kmg]?hz|k?w|kwh|v|x|c|f|px"
    r"|ms|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|d|days?|weeks?|months?|years?|std|tage?|pcs?|usd|eur|gbp|chf)"
)
"""Matches a number with its unit, or an ordinal."""
_CODE: Final = re.compile(r"\b[A-Z]{2,}\b")
_NUMBER_SIGN: Final = re.compile(r"\b(?:no|nr)\. ?(?=\d)", re.IGNORECASE)
_NEGATION: Final = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|nowhere|neither|nor|without|cannot"
    r"|(?:do|does|did|is|was|are|were|has|have|had|ca|could|wo|would|should|must|need|ai)n['’]?t"
    r"|nicht|nichts|nie|niemals|niemand\w{0,2}|kein\w{0,2}|keinesfalls|ohne|weder|nirgend\w*)\b",
    re.IGNORECASE,
)
_CLAUSE_END: Final = re.compile(r"[.,;:!?()\n]")
_LONGEST_CLAUSE: Final = 80
_SHORTEST: Final = 4
"""Letters of a word of some meaning."""
_AUXILIARY: Final = frozenset({
    "been", "being", "have", "that", "this", "with", "will", "your", "yours", "their", "them", "they", "from",
    "able", "need", "needs", "want", "wants", "only", "just", "wird", "wurde", "werden", "haben", "sein",
    "eine", "einen", "einem", "einer", "mehr", "sehr", "auch",
})  # fmt: skip
_TAKEN: Final = " ; "
"""Stands in the text for a fact that was read."""


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a fact, without its notation."""

    readings: frozenset[Hashable]
    """Names, numbers, dates or times; an ambiguous notation has several."""
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact as a text writes it."""

    kind: Kind
    shown: str
    value: Value
    is_vital: bool = True
    """Whether an answer that leaves it out may be wrong; a weekday or an abbreviation may be left out."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a text in order, its negations, and the words of the rest."""

    facts: list[Fact]
    negations: list[str]
    negated: list[str]
    """The first word of some meaning after each negation, in the same clause."""
    words: list[str]


_Found: TypeAlias = Iterator[tuple[tuple[int, int], Fact]]


def read_facts(text: str) -> Facts:
    """Read all facts of a text; each character belongs to one fact at most."""
    rest = _NUMBER_SIGN.sub(" ", unify_signs(normalize_text(text, ignore_case=False)))
    facts: list[Fact] = []
    for find in _FINDERS:
        taken, rest = _take_facts(rest, find)
        facts += taken
    amounts, rest = find_amounts(rest)
    facts += [Fact("number", each.shown, Value(each.values, each.unit), each.certain) for each in amounts]
    return Facts(facts, _NEGATION.findall(rest), list(_find_negated(rest)), split_words(rest))


def _find_negated(text: str) -> Iterator[str]:
    for match in _NEGATION.finditer(text):
        clause = _CLAUSE_END.split(text[match.end() : match.end() + _LONGEST_CLAUSE], maxsplit=1)[0]
        yield from [
            word for word in split_words(clause) if len(word) >= _SHORTEST and word not in _AUXILIARY
        ][:1]


def _take_facts(text: str, find: Callable[[str], _Found]) -> tuple[list[Fact], str]:
    facts, rest, done = [], [], 0
    for (start, end), fact in find(text):
        facts.append(fact)
        rest.append(text[done:start])
        done = end
    return facts, _TAKEN.join([*rest, text[done:]])


def _find_addresses(text: str) -> _Found:
    # This test is far cheaper than the search.
    for match in _ADDRESS.finditer(text) if "@" in text or "://" in text or "www" in text.lower() else ():
        shown = match[0].rstrip(".,;:!?)]}/")
        yield match.span(), Fact("identifier", shown, Value(frozenset({shown.casefold()})))


def _find_numeric_dates(text: str) -> _Found:
    for (start, end), days in find_numeric_dates(text):
        yield (start, end), Fact("date", text[start:end], Value(frozenset(days)))


def _find_months(text: str) -> _Found:
    for (start, end), day in find_months(text):
        yield (start, end), Fact("date", text[start:end], Value(frozenset({day})))


def _find_named_dates(text: str) -> _Found:
    for (start, end), days in find_named_dates(text):
        yield (start, end), Fact("date", text[start:end], Value(frozenset(days)))


def _find_times(text: str) -> _Found:
    for (start, end), clock in find_times(text):
        yield (start, end), Fact("time", text[start:end], Value(frozenset({clock})))


def _find_weekdays(text: str) -> _Found:
    for (start, end), weekday in find_weekdays(text):
        yield (start, end), Fact("weekday", text[start:end], Value(frozenset({weekday})), is_vital=False)


def _find_names(text: str) -> _Found:
    for match in _TOKEN.finditer(text):
        token = match[0].rstrip(".-_")
        if _NAME.search(token) and not _QUANTITY.fullmatch(token.lower()):
            yield match.span(), Fact("identifier", token, Value(frozenset({token.casefold()})))


def _find_codes(text: str) -> _Found:
    # In a text without lower case, capitals mean nothing.
    for match in () if text.isupper() else _CODE.finditer(text):
        if match[0].lower() not in UNITS:
            yield match.span(), Fact("code", match[0], Value(frozenset({match[0]})), is_vital=False)


_FINDERS: Final = (
    _find_addresses,
    _find_numeric_dates,
    _find_months,
    _find_named_dates,
    _find_times,
    _find_weekdays,
    _find_names,
    _find_codes,
)
"""In this order: an address may contain a date, and a date letters with digits."""
