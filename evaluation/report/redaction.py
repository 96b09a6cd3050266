"""Removes credentials and personal data from reports."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from typing import Final, Self, TypeAlias, TypeVar, cast, get_args

from rapidfuzz.distance import Prefix

from agents.credentials.detector import MAX_CANDIDATES
from agents.credentials.spans import MAX_VALUES, Recognizer
from evaluation.checks.contract_checks import CHECKS
from evaluation.contract.run import MATCH_MODES
from evaluation.errors import JudgeFailureKind
from evaluation.findings import ACTIONS, STRICTNESS, CheckKind, CheckSource, Covers, FindingKind
from evaluation.report.metric_groups import OUTCOME_STATUSES
from evaluation.report.report_model import Alert, CheckRecord, EvaluationReport, JudgeReport, Metrics
from evaluation.report.state import EvaluationState
from evaluation.sensitive.json_values import MAX_SCALARS, SensitiveValue, encode_json, find_at_places
from evaluation.sensitive.scanner import Search, build_search, find_sensitive, redact, shorten
from evaluation.values import JsonObject, Severity

_HEAD: Final = 4
"""Bytes by which a value is looked up. A shorter one is not searched for: "abc" occurs in every report."""
_ANYWHERE: Final = 6
"""Bytes from which a value is found inside a word too."""
_LONG_NUMBER: Final = 8
"""Bytes up to which a number with a digit next to it is another number."""
_SHORTEST_TRUNCATED: Final = 8
"""Bytes of a value that are recognised at the place where a quotation was truncated."""
_LONGEST: Final = 20_000
_ELLIPSES: Final = (b"\xe2\x80\xa6", b"...", b"")
_PARTS: Final = re.compile(r"[^\w\-]+")
_SHORTEST_PART: Final = 12
_PLAIN: Final = re.compile(r"[\w.@+\-:/=]*", re.ASCII)
"""Text that no quoting or escaping changes."""
_MARKS: Final = re.compile(r"[\s().+\-/]+")
_EDGE: Final = ".,;:!?)]}'\""


@dataclass(frozen=True, slots=True)
class Literals:
    """A set of values, each with its kind. Matching ignores the case of ASCII letters."""

    kinds: dict[bytes, str]
    by_head: dict[bytes, list[bytes]]
    """The values by their first bytes, the longest first."""

    @classmethod
    def from_values(cls, values: Iterable[SensitiveValue], words: str) -> Self:
        """Collect all spellings of ``values``, except parts of ``words``, the report's own vocabulary."""
        kinds = {
            spelling: value.kind
            for value in dict.fromkeys(values)
            for spelling in map(_fold, _spellings(value))
            if len(spelling) >= _HEAD and spelling.decode("utf-8", "replace") not in words
        }
        by_head: dict[bytes, list[bytes]] = {}
        for literal in sorted(kinds, key=len, reverse=True):
            by_head.setdefault(literal[:_HEAD], []).append(literal)
        return cls(kinds, by_head)

    def redact(self, text: str) -> str:
        """Replace every value by ``[kind]``."""
        data = text.encode("utf-8", "surrogatepass")
        pieces, end = [], 0
        for start, stop, kind in self._find_spans(data.lower()):
            pieces += [data[end:start], b"[" + kind.encode() + b"]"]
            end = stop
        return b"".join([*pieces, data[end:]]).decode("utf-8", "surrogatepass") if pieces else text

    def kind_of(self, text: str) -> str | None:
        """Return the kind of a text that is exactly one of the values."""
        return self.kinds.get(_fold(text))

    def _find_spans(self, data: bytes) -> Iterator[tuple[int, int, str]]:
        end = 0
        # Few texts have a value, and the search for its first bytes is faster than the look at each place.
        if len(self.by_head) < len(data) and not any(head in data for head in self.by_head):
            return
        for place in range(len(data)):
            is_head = place >= end and data[place : place + _HEAD] in self.by_head
            match = self._match_at(data, place) if is_head else None
            if match:
                end = match[0]
                yield place, *match

    def _match_at(self, data: bytes, start: int) -> tuple[int, str] | None:
        # Longest first: otherwise a value that begins with another one would be replaced in part.
        for literal in self.by_head[data[start : start + _HEAD]]:
            size = Prefix.similarity(literal, data[start : start + len(literal)])
            is_whole = size == len(literal) and _stands_alone(data, start, start + size)
            is_cut = size >= _SHORTEST_TRUNCATED and data[start + size : start + size + 3] in _ELLIPSES
            if is_whole or is_cut:
                return start + size, self.kinds[literal]
        return None


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


def _fold(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass").lower()


def _stands_alone(data: bytes, start: int, end: int) -> bool:
    """Return whether a short value, a word or a number is not a part of a longer one."""
    value, before, after = data[start:end], data[start - 1 : start] if start else b"", data[end : end + 1]
    if len(value) < _ANYWHERE or value.isalpha():
        return not (_is_in_word(before) or _is_in_word(after))
    is_joined = (before.isdigit() and value[:1].isdigit()) or (after.isdigit() and value[-1:].isdigit())
    return len(value) > _LONG_NUMBER or not is_joined


def _is_in_word(neighbour: bytes) -> bool:
    return neighbour.isalnum() or neighbour == b"_"


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
_SHORT: Final = 200
_JSON_TYPES: Final = {str: "string", bool: "boolean", int: "number", float: "number"}
_NONE: Final = Literals.from_values((), "")
UNSEARCHED: Final = (
    "the run was not searched to its end for sensitive data, and the report withholds what it could quote: "
    f"there are more than {MAX_VALUES} such values, {MAX_CANDIDATES} places that look like one, or "
    f"{MAX_SCALARS} scalars."
)
WITHHELD_ACTION: Final = "Evaluate the run in smaller parts, or have a person look through it."
_WITHHELD: Final = "[withheld]"
_NAMES: Final = (
    "actual actual_count argument_mismatches audit baseline change"
    " checks compared concerns confidence contract criteria decisive details different direction"
    " estimated expected expected_count extra_actions f1"
    " failed_calls failure forbidden_actions higher length lower match_mode matched_count max measured min"
    " missing missing_actions missing_keywords of optional_count"
    " order_violations pass_score path precision privacy problem rationale recall recorded_writes"
    " safety scale score sensitive.unsearched signals sources sustained trajectory type unexpected"
    " unexpected_writes unreadable_arguments worse"
)
_PLAIN_WORDS: Final = frozenset({
    "", *_OWN_WORDS.split(), *_NAMES.split(), *get_args(JudgeFailureKind), *ACTIONS.values(),
    UNSEARCHED, WITHHELD_ACTION,
})  # fmt: skip
"""The texts that stay in a report if the search of its run was stopped, besides known metric names."""
T = TypeVar("T")
_CleanText: TypeAlias = Callable[[str], str]


@lru_cache(256)
def _redact_short(text: str) -> str:
    """Redact a text with the built-in search; most short texts are sentences that many reports have."""
    return redact(text)


def build_excerpt(value: object, limit: int = 80, search: Search = find_sensitive) -> JsonObject:
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
        "excerpt": redact(text, search) if len(text) <= limit else shorten(text, limit, search),
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

    literals: Literals
    needed: bool
    """Whether the run contains anything sensitive."""
    search: Search = find_sensitive
    permitted: frozenset[str] | None = None
    """If the search was stopped at a limit: the only texts that the report may contain."""

    @classmethod
    def of(
        cls, values: Iterable[object], recognizers: Sequence[Recognizer] = (), known: Iterable[str] = ()
    ) -> Self:
        """Collect the sensitive data in JSON values.

        A recogniser that fails is left out here; the audit reports it. If the search stops at a limit (see
        ``find_at_places``), the report keeps only the package's own words and the ``known`` ones.
        """
        search = build_search(recognizers, {})
        matches = [match for _, match in find_at_places((("", value) for value in values), search)]
        if any(match.category == "unsearched" for match in matches):
            return cls(_NONE, True, search, _PLAIN_WORDS | {*known})
        return cls(Literals.from_values(matches, _OWN_WORDS) if matches else _NONE, bool(matches), search)

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
        if self.permitted is not None:
            return text if text in self.permitted else _WITHHELD
        # A recogniser may mark any text, and the report keeps its fields and statuses.
        if not self.needed or text in _PLAIN_WORDS:
            return text
        shown = self.literals.redact(text)
        is_short = self.search is find_sensitive and len(shown) <= _SHORT
        return _redact_short(shown) if is_short else redact(shown, self.search)

    def _clean_value(self, value: object, clean: _CleanText) -> object:
        if isinstance(value, str):
            return clean(value)
        if isinstance(value, Mapping):
            return self._clean_fields(value, clean)
        if isinstance(value, list | tuple):
            return [self._clean_value(item, clean) for item in value]
        if isinstance(value, int) and _SMALLEST_NUMBER <= abs(value) < _SMALLEST_NUMBER**3:
            kind = self.literals.kind_of(str(abs(value)))
            return _WITHHELD if self.permitted is not None else f"[{kind}]" if kind else value
        return value

    def _clean_fields(self, fields: Mapping[str, object], clean: _CleanText) -> dict[str, object]:
        cleaned: dict[str, object] = {}
        for name, value in fields.items():
            clean_name = clean(name)
            unique = clean_name if clean_name not in cleaned else f"{clean_name} {len(cleaned) + 1}"
            cleaned[unique] = self._clean_value(value, clean)
        return cleaned
