"""Removes credentials and personal data from reports."""

from __future__ import annotations

import json
import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Final, Self, TypeAlias, TypeVar, cast, get_args

from agents.credentials.detector import Recognizer
from evaluation.checks.contract_checks import CHECKS
from evaluation.contract.contract import MATCH_MODES
from evaluation.findings import OUTCOME_STATUSES, STRICTNESS, CheckKind, CheckSource, Covers, FindingKind
from evaluation.report.report_model import (
    Alert,
    CheckRecord,
    EvaluationReport,
    EvaluationState,
    JudgeReport,
    Metrics,
)
from evaluation.sensitive.scanner import (
    Search,
    SensitiveValue,
    build_search,
    encode_json,
    find_at_places,
    find_sensitive,
    redact,
    shorten,
)
from evaluation.values import JsonObject, Severity

_SHORTEST: Final = 4
"""Characters of the values that are searched for: "abc" occurs in every report."""
_ANYWHERE: Final = 6
"""Characters from which a value is found inside a word too."""
_LONG_NUMBER: Final = 8
"""Characters up to which a number with a digit next to it is another number."""
_LONGEST: Final = 20_000
_PARTS: Final = re.compile(r"[^\w\-]+")
_SHORTEST_PART: Final = 12
_PLAIN: Final = re.compile(r"[\w.@+\-:/=]*", re.ASCII)
"""Text that no quoting or escaping changes."""
_MARKS: Final = re.compile(r"[\s().+\-/]+")
_EDGE: Final = ".,;:!?)]}'\""


_ASCII_SMALL: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def _write_pattern(literal: str) -> str:
    """Write the pattern of a value; a short one, a word or a number is not found in a longer one."""
    quoted = re.escape(literal)
    if len(literal) < _ANYWHERE or literal.isalpha():
        return rf"(?<!\w){quoted}(?!\w)"
    if len(literal) > _LONG_NUMBER:
        return quoted
    before, after = (r"(?<!\d)", r"(?!\d)")
    return f"{before if literal[0].isdigit() else ''}{quoted}{after if literal[-1].isdigit() else ''}"


def _spellings(value: SensitiveValue) -> Iterator[str]:
    """Yield the spellings that a report may quote: normalised, escaped, without separators, in long parts."""
    literal = value.literal[:_LONGEST]
    yield from (literal, literal.strip(_EDGE))
    if not _PLAIN.fullmatch(literal):
        yield from _escaped_spellings(literal)
    # A part of a key, for example one line of a private key, is as secret as the key.
    if value.category == "credential":
        parts = [*_PARTS.split(literal), *literal.splitlines()]
        yield from (part for part in parts if len(part) >= _SHORTEST_PART and not part.isalpha())
    elif any(character.isdigit() for character in literal):
        yield _MARKS.sub("", literal)


def _escaped_spellings(literal: str) -> Iterator[str]:
    yield from (" ".join(literal.split()), unicodedata.normalize("NFKC", literal), repr(literal)[1:-1])
    yield from (json.dumps(literal)[1:-1], json.dumps(literal, ensure_ascii=False)[1:-1])
    yield from (literal.replace("~", "~0").replace("/", "~1"), literal.encode("utf-8", "replace").decode())


def _fold(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(_ASCII_SMALL)


_DIGITS_OF_HASH: Final = 16
_SMALLEST_NUMBER: Final = 10**8
"""Shorter whole numbers are never redacted: they are measured values, and identify nobody."""
_OWN_WORDS: Final = "\n".join((
    "agent_run agent_run.final_output",
    *(name for model in (EvaluationReport, Metrics, JudgeReport) for name in model.model_fields),
    *(name for shape in (EvaluationState, Alert, CheckRecord) for name in shape.__annotations__),
    "id category where",
    *(word for words in (FindingKind, Severity, CheckKind, CheckSource, Covers) for word in get_args(words)),
    *OUTCOME_STATUSES, *STRICTNESS, *MATCH_MODES, *CHECKS,
    "passed counts unscored scored final_output sha256 excerpt string object array number boolean null",
)).lower()  # fmt: skip
"""The report's own words, which stay: a run whose password is "failed" must not make it unreadable."""
_WORDS: Final = frozenset(_OWN_WORDS.split())
_JSON_TYPES: Final = {str: "string", bool: "boolean", int: "number", float: "number"}
T = TypeVar("T")
_CleanText: TypeAlias = Callable[[str], str]


def build_excerpt(value: object, limit: int = 80) -> JsonObject:
    """Quote a JSON value: enough to recognise it, without sensitive data.

    Returns:
        ``sha256``: the first 16 hexadecimal digits of the hash of the text, or of the JSON text of another
        value (a reader who guesses a value can confirm it by its hash); ``type``: string, object, array,
        number, boolean or null; ``length``: of that text, in bytes of UTF-8; ``excerpt``: the redacted
        beginning, at most ``limit`` characters.
    """
    text = value if isinstance(value, str) else encode_json(value).decode("utf-8", "replace")
    # The text may hold half a surrogate pair, and quoting it must not fail.
    data = text.encode("utf-8", "surrogatepass")
    return {
        "sha256": sha256(data).hexdigest()[:_DIGITS_OF_HASH],
        "type": _json_type(value),
        "length": len(data),
        "excerpt": redact(text) if len(text) <= limit else shorten(text, limit),
    }


def _json_type(value: object) -> str:
    if value is None:
        return "null"
    return _JSON_TYPES.get(type(value), "object" if isinstance(value, Mapping) else "array")


@dataclass(frozen=True, slots=True)
class Redactor:
    """Removes the credentials and personal data of one run from its report.

    A value that is recognised by its surroundings (``password=...``) is removed where it stands alone, too.
    Built once for a run, from all data that the report can quote, a judge's reply included.
    """

    kinds: dict[str, str]
    """The kind of each value, in every spelling, the longest first; ASCII letters are small."""
    needed: bool
    """Whether the run contains anything sensitive."""
    search: Search = find_sensitive

    @classmethod
    def of(
        cls,
        values: Iterable[object],
        recognizers: Sequence[Recognizer] = (),
        found: Iterable[SensitiveValue] = (),
    ) -> Self:
        """Collect the sensitive data in JSON values, and in others, where it was ``found`` before.

        A recogniser that fails is reported by the audit.
        """
        search = build_search(recognizers, {})
        places = find_at_places((("", value) for value in values), search)
        matches = [*found, *(match for _, match in places)]
        kinds = {
            spelling: match.kind
            for match in dict.fromkeys(matches)
            for spelling in map(_fold, _spellings(match))
            if len(spelling) >= _SHORTEST and spelling not in _OWN_WORDS
        }
        # Otherwise a value that begins with another one would be replaced in part.
        longest_first = {spelling: kinds[spelling] for spelling in sorted(kinds, key=len, reverse=True)}
        return cls(longest_first, bool(matches), search)

    def clean(self, report: T) -> T:
        """Return a JSON value without sensitive data in strings, names and whole numbers.

        It is returned unchanged if the run contains nothing sensitive. Names that become equal get a number.
        """
        if not self.needed:
            return report
        # Cached, because a report repeats its names and reasons.
        return cast("T", self._clean_value(report, cache(self.clean_text)))

    def clean_text(self, text: str) -> str:
        """Return a text without sensitive data, for a log or an exception."""
        # A recogniser may mark any text, and the report keeps its fields and statuses.
        if not self.needed or text in _WORDS:
            return text
        folded = _fold(text)
        if written := [_write_pattern(literal) for literal in self.kinds if literal in folded]:
            pattern = re.compile("|".join(written), re.IGNORECASE | re.ASCII)
            text = pattern.sub(lambda match: f"[{self.kinds[_fold(match[0])]}]", text)
        return redact(text, self.search)

    def _clean_value(self, value: object, clean: _CleanText) -> object:
        if isinstance(value, str):
            return clean(value)
        if isinstance(value, Mapping):
            return self._clean_fields(value, clean)
        if isinstance(value, list | tuple):
            return [self._clean_value(item, clean) for item in value]
        if isinstance(value, int) and _SMALLEST_NUMBER <= abs(value) < _SMALLEST_NUMBER**3:
            kind = self.kinds.get(str(abs(value)))
            return f"[{kind}]" if kind else value
        return value

    def _clean_fields(self, fields: Mapping[str, object], clean: _CleanText) -> dict[str, object]:
        cleaned: dict[str, object] = {}
        for name, value in fields.items():
            clean_name = clean(name)
            unique = clean_name if clean_name not in cleaned else f"{clean_name} {len(cleaned) + 1}"
            cleaned[unique] = self._clean_value(value, clean)
        return cleaned
