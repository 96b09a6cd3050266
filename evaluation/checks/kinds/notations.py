"""Checks of the parts of a text: numbers, dates, addresses, regular expressions, code that parses."""

from __future__ import annotations

import ast
import warnings
from datetime import datetime
from typing import ClassVar, Final, Literal

import regex
from pydantic_core import from_json

from evaluation.checks.base import BaseCheck, CheckKind, Observation
from evaluation.checks.context import CheckContext
from evaluation.checks.kinds.counts import CountCheck
from evaluation.checks.search import any_true, has_number, has_pattern, shows_number, shows_pattern
from evaluation.checks.segmentation import CODE_BLOCK
from evaluation.sensitive.quoting import quote_text
from evaluation.validation.pattern_fields import PatternText
from evaluation.values import Quantity

# Chinese and Japanese write a number and its unit together: 2024年5月 has two.
_JOINED: Final = r"[[\p{L}_]--[\p{Han}\p{Hiragana}\p{Katakana}]]"
_NUMBER: Final = regex.compile(
    rf"(?<![\p{{N}}.,])(?<!{_JOINED})[-+−]?\p{{Nd}}+(?:[.,'’\u202f\u00a0]\p{{Nd}}+)*(?!{_JOINED})", regex.V1
)
_URL: Final = regex.compile(
    r"\b(?:https?|ftp)://[^\s<>\"'()\[\]]+[^\s<>\"'()\[\].,;:!?]|\bwww\.[^\s<>\"'()]+\.\p{L}{2,}"
)
_EMAIL: Final = regex.compile(r"(?<![\p{L}\p{N}.+_-])[\p{L}\p{N}.+_-]+@(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}")
_MONTHS: Final = "january|february|march|april|may|june|july|august|september|october|november|december"
_SHORT: Final = "jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec"
_WORDED: Final = (
    rf"(?:{_MONTHS}|{_SHORT})\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? (?:{_MONTHS}|{_SHORT})\.? \d{{4}}"
)
_YEAR: Final = regex.compile(r"\d{4}")
_DATES: Final = {
    "YYYY-MM-DD": (regex.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)"), "%Y-%m-%d"),
    "DD/MM/YYYY": (regex.compile(r"(?<!\d)\d{2}/\d{2}/\d{4}(?!\d)"), "%d/%m/%Y"),
    "MM/DD/YYYY": (regex.compile(r"(?<!\d)\d{2}/\d{2}/\d{4}(?!\d)"), "%m/%d/%Y"),
    "DD.MM.YYYY": (regex.compile(r"(?<!\d)\d{2}\.\d{2}\.\d{4}(?!\d)"), "%d.%m.%Y"),
}
_IN_WORDS: Final = regex.compile(rf"(?<!\w)(?:{_WORDED})(?!\w)", regex.I)


_WORDS: Final = (
    *(ast.Module, ast.Expr, ast.Name, ast.Load, ast.Constant, ast.Tuple),
    *(
        ast.BoolOp,
        ast.boolop,
        ast.UnaryOp,
        ast.Not,
        ast.Compare,
        ast.In,
        ast.NotIn,
        ast.Is,
        ast.IsNot,
        ast.IfExp,
    ),
)
"""What Python reads in a few words of English, which parse without being code."""


class NumberCount(CountCheck):
    """The number of numbers in digits; 1,000.50 and 25 % are one each, A4 and 3D are none."""

    check: Literal["number_count"] = "number_count"
    kind: ClassVar[CheckKind] = "content"
    things: ClassVar[tuple[str, str]] = ("number", "numbers")

    def _count(self, context: CheckContext) -> int:
        return len(_NUMBER.findall(context.text))


class UrlCount(CountCheck):
    """The number of web addresses."""

    check: Literal["url_count"] = "url_count"
    kind: ClassVar[CheckKind] = "content"
    things: ClassVar[tuple[str, str]] = ("web address", "web addresses")

    def _count(self, context: CheckContext) -> int:
        return len(_URL.findall(context.text))


class EmailCount(CountCheck):
    """The number of e-mail addresses."""

    check: Literal["email_count"] = "email_count"
    kind: ClassVar[CheckKind] = "content"
    things: ClassVar[tuple[str, str]] = ("e-mail address", "e-mail addresses")

    def _count(self, context: CheckContext) -> int:
        return len(_EMAIL.findall(context.text))


class DateCount(CountCheck):
    """The number of dates that exist in the calendar, in one notation or in any."""

    check: Literal["date_count"] = "date_count"
    kind: ClassVar[CheckKind] = "content"

    notation: Literal["any", "YYYY-MM-DD", "DD/MM/YYYY", "MM/DD/YYYY", "DD.MM.YYYY"] = "any"

    def _name_things(self) -> tuple[str, str]:
        notation = "" if self.notation == "any" else f" as {self.notation}"
        return f"date{notation}", f"dates{notation}"

    def _count(self, context: CheckContext) -> int:
        # A text without a year has no date; the search for months takes ten times as long.
        if not _YEAR.search(context.text):
            return 0
        if self.notation != "any":
            return len(_find_dates(context.text, self.notation))
        numeric = {place for notation in _DATES for place in _find_dates(context.text, notation)}
        return len(numeric) + len(_IN_WORDS.findall(context.text))


class Pattern(BaseCheck):
    """A regular expression (RE2) matches somewhere in the text, or nowhere, also behind no disguise."""

    check: Literal["regex"] = "regex"
    kind: ClassVar[CheckKind] = "content"

    pattern: PatternText
    matches: bool = True

    def _observe(self, context: CheckContext) -> Observation:
        search = has_pattern if self.matches else shows_pattern
        matched = any_true({search(text, self.pattern) for text in {context.raw, context.text}})
        if matched is None:
            return Observation(None, "the text is too long for the pattern")
        return Observation(
            matched == self.matches, f"the pattern matches {'a part' if matched else 'nothing'}"
        )

    def _describe(self) -> str:
        pattern = quote_text(self.pattern)
        return f"write a text that {'matches' if self.matches else 'does not match'} the pattern {pattern}"


class StatesNumber(BaseCheck):
    """The text states a number, in any common notation, or does not state it."""

    check: Literal["states_number"] = "states_number"
    kind: ClassVar[CheckKind] = "content"

    number: float
    tolerance: Quantity = 0.0
    """The greatest accepted difference."""
    present: bool = True

    def _observe(self, context: CheckContext) -> Observation:
        search = has_number if self.present else shows_number
        is_stated = search(context.raw, self.number, self.tolerance)
        return Observation(
            is_stated == self.present, f"the text {'states' if is_stated else 'does not state'} it"
        )

    def _describe(self) -> str:
        margin = f" +/- {self.tolerance:g}" if self.tolerance else ""
        return f"{'state' if self.present else 'do not state'} the number {self.number!r}{margin}"


class Code(BaseCheck):
    """The code in the fenced blocks parses, or the whole text if it has no block."""

    check: Literal["code"] = "code"
    kind: ClassVar[CheckKind] = "format"

    language: Literal["python", "json"] = "python"

    def _observe(self, context: CheckContext) -> Observation:
        blocks = self._find_blocks(context.source)
        problems = [problem for block in blocks if (problem := self._find_problem(block))]
        if not blocks:
            return Observation(False, f"the text has no code in {self.language}")
        return Observation(
            not problems, f"{problems[0]}{context.unseen_note}" if problems else "the code parses"
        )

    def _find_blocks(self, text: str) -> list[str]:
        blocks = [(name.strip().lower(), body) for name, body in CODE_BLOCK.findall(text)]
        names = {"", self.language, "py" if self.language == "python" else self.language}
        return [body for name, body in blocks if name in names] if blocks else [text]

    def _find_problem(self, code: str) -> str | None:
        if self.language == "json":
            return _find_json_problem(code)
        return _find_python_problem(code)

    def _describe(self) -> str:
        return f"write code in {self.language} that parses"


def _find_dates(text: str, notation: str) -> list[int]:
    pattern, form = _DATES[notation]
    return [match.start() for match in pattern.finditer(text) if _exists(match.group(), form)]


def _exists(date: str, form: str) -> bool:
    try:
        datetime.strptime(date, form)
    except ValueError:
        return False
    return True


def _find_json_problem(code: str) -> str | None:
    try:
        from_json(code, allow_inf_nan=False)
    except ValueError:
        return "the code does not parse"
    return None


def _find_python_problem(code: str) -> str | None:
    try:
        # The parser warns of an escape such as "\d", which is valid.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _find_missing_code(ast.parse(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        return f"the code does not parse{f' (line {line})' if line else ''}"


def _find_missing_code(tree: ast.Module) -> str | None:
    """Return a problem if nothing in a tree is code: comments, or words such as "yes" and "not yet"."""
    is_code = any(not isinstance(node, _WORDS) for node in ast.walk(tree))
    return None if is_code else "the text has no statement"
